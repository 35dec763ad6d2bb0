"""A row as the JSON object of its line in `rows.jsonl`, and back. Null fields are left out."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from operator import attrgetter
from typing import Any

from evalaction.method.records import ARMS, Columns, Row, Usage

_TEXT, _COUNT, _FLAG = (str,), (int,), (bool,)
_LIMIT = 1 << 32
_COUNTER_LIMIT = 10**15
_FIELDS: Mapping[str, tuple[type, ...]] = {
    "index": _COUNT,
    "item": _TEXT,
    "arm": _TEXT,
    "draw": _COUNT,
    "half": _COUNT,
    "request_sha256": _TEXT,
    "endpoint": _TEXT,
    "started_at": _TEXT,
    "ms": _COUNT,
    "status": _COUNT,
    "reach": _FLAG,
    "reach_reason": _TEXT,
    "contract": _FLAG,
    "contract_reason": _TEXT,
    "check": _FLAG,
    "check_reason": _TEXT,
    "verdict": _TEXT,
    "text_sha256": _TEXT,
    "parsed_sha256": _TEXT,
    "raw_head": _TEXT,
    "error_head": _TEXT,
    "finish_reason": _TEXT,
    "usage": (dict,),
    "served_model": _TEXT,
    "fingerprint": _TEXT,
    "response_id": _TEXT,
    "body_sha256": _TEXT,
    "cache_hit": _TEXT,
    "retry_after": _TEXT,
    "trace": (dict, list, str, int, float, Decimal, bool),
    "trace_length": _COUNT,
    "counters": (dict,),
    "polls": _COUNT,
    "retries": _COUNT,
    "redacted": _FLAG,
}
_COLUMNS = ("reach", "reach_reason", "contract", "contract_reason", "check", "check_reason")
_REQUIRED = frozenset(
    {"index", "item", "arm", "draw", "half", "request_sha256", "endpoint", "started_at", "ms", "reach", "verdict"}
)
_COUNTS = frozenset(name for name, types in _FIELDS.items() if types is _COUNT)
_USAGE = ("input", "output")
_values = attrgetter(*(f"columns.{name}" if name in _COLUMNS else name for name in _FIELDS))


def row_to_json(row: Row) -> dict[str, Any]:
    """The object of one line, its fields in their documented order."""
    values = {name: value for name, value in zip(_FIELDS, _values(row), strict=True) if value is not None}
    usage = {name: tokens for name in _USAGE if (tokens := getattr(row.usage, name)) is not None}
    if usage:
        values["usage"] = usage
    else:
        del values["usage"]
    return values


def row_from_json(obj: object) -> Row:
    """The row of one line. Raises ValueError naming a field that is missing, unknown, of a wrong type or contradicted."""
    if type(obj) is not dict:
        raise ValueError("a row is a JSON object")
    fields = obj.copy()  # what is no column and no usage is a field of the row under the same name
    for name, value in obj.items():
        if type(value) not in _FIELDS.get(name, ()):
            raise ValueError(f"field {name!r} has a wrong value" if name in _FIELDS else f"unknown field {name!r}")
    for name in _COUNTS & obj.keys():
        if not 0 <= obj[name] < _LIMIT:
            raise ValueError(f"field {name!r} has a wrong value")
    if not obj.keys() >= _REQUIRED:
        raise ValueError(f"missing field {min(_REQUIRED - obj.keys())!r}")
    if obj["arm"] not in ARMS or obj["half"] > 1:
        raise ValueError(f"no such arm or half: {obj['arm']!r}, {obj['half']}")
    if "counters" in obj:
        _refuse_counters(obj["counters"])
    take = fields.pop
    columns = Columns(
        take("reach"),
        take("reach_reason", None),
        take("contract", None),
        take("contract_reason", None),
        take("check", None),
        take("check_reason", None),
    )
    if columns.verdict != take("verdict"):
        raise ValueError(f"the columns say {columns.verdict}, the field 'verdict' says {obj['verdict']!r}")
    usage = take("usage", None)
    return Row(columns=columns, usage=_usage(usage) if usage is not None else Usage(), **fields)


def _refuse_counters(counters: dict[str, Any]) -> None:
    for name, value in counters.items():
        if type(value) is not int or not 0 <= value < _COUNTER_LIMIT:
            raise ValueError(f"field 'counters' has a wrong part {name!r}")


def _usage(obj: dict[str, Any]) -> Usage:
    for name, tokens in obj.items():
        if name not in _USAGE or type(tokens) is not int or tokens < 0:
            raise ValueError(f"field 'usage' has a wrong part {name!r}")
    return Usage(**obj)
