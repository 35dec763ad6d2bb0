"""A draw before anything judged it: the JSON object of its line in `draws.jsonl`, and the row that a judgement makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evalaction.method.counting.row_json import row_from_json, row_to_json
from evalaction.method.records import Columns, Row

JUDGED = ("contract", "contract_reason", "check", "check_reason", "verdict", "text_sha256", "parsed_sha256", "raw_head")
"""The fields of a row that judging adds; all others stand in the draw already."""
PENDING = Columns(True, contract=True, check_reason="checker:unjudged")
"""What the row of a reply says until it is judged; never written."""
_OWN = ("head", "kept_sha256")
_PENDING: dict[str, Any] = {"contract": True, "check_reason": PENDING.check_reason, "verdict": PENDING.verdict}
_LOST: dict[str, Any] = {"verdict": "runner_error"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """One planned draw as the drawing knows it."""

    row: Row
    """Whole where the draw did not reach; else its columns are PENDING, and it has neither digests nor `raw_head`."""
    head: str | None = None
    """The beginning of the reply, which its row keeps where the contract is broken."""
    kept_sha256: str | None = None
    """Of its line in `texts.jsonl`, without the newline; None where it has none."""

    def __post_init__(self) -> None:
        if self.row.columns.reach and (self.head is None or self.kept_sha256 is None):
            raise ValueError("a draw that reached keeps its text")


def draw_to_json(draw: Draw) -> dict[str, Any]:
    """The object of one line: the fields of its row that judging does not add, then its own."""
    values = {name: value for name, value in row_to_json(draw.row).items() if name not in JUDGED}
    return values | {name: value for name in _OWN if (value := getattr(draw, name)) is not None}


def draw_from_json(obj: object) -> Draw:
    """The draw of one line. Raises ValueError naming a field that is missing, unknown, of a wrong type or added by judging."""
    if type(obj) is not dict:
        raise ValueError("a draw is a JSON object")
    fields = obj.copy()
    for name in JUDGED:
        if name in fields:
            raise ValueError(f"field {name!r} is added by judging")
    own = {name: fields.pop(name, None) for name in _OWN}
    for name, value in own.items():
        if type(value) not in (str, type(None)):
            raise ValueError(f"field {name!r} has a wrong value")
    return Draw(row=row_from_json(fields | (_PENDING if fields.get("reach") is True else _LOST)), **own)


def judged_row(draw: Draw, columns: Columns, text_sha256: str | None, parsed_sha256: str | None) -> Row:
    """The row of a draw and its judgement. Raises ValueError for a judgement that says something else of its reach."""
    if columns.reach != draw.row.columns.reach or columns.reach_reason != draw.row.columns.reach_reason:
        raise ValueError("judging does not change whether a draw reached")
    if not columns.reach:
        return draw.row
    return replace(
        draw.row,
        columns=columns,
        text_sha256=text_sha256,
        parsed_sha256=parsed_sha256,
        raw_head=draw.head if columns.contract is False else None,
    )


def difference(draw: Draw, row: Row) -> str | None:
    """The first field in which a row is not what judging can make of its draw; None: there is none."""
    if row.columns.reach != draw.row.columns.reach:
        return "reach"
    if row.columns.reach_reason != draw.row.columns.reach_reason:
        return "reach_reason"
    made = row_to_json(judged_row(draw, row.columns, row.text_sha256, row.parsed_sha256))
    said = row_to_json(row)
    return next((name for name in (*made, *said) if repr(made.get(name)) != repr(said.get(name))), None)
