"""A draw is its row without what judging adds; a row is compared with its draw in everything else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import COLUMNS, row

from evalaction.method.counting.draw_json import (
    JUDGED,
    PENDING,
    Draw,
    difference,
    draw_from_json,
    draw_to_json,
    judged_row,
)
from evalaction.method.counting.row_json import row_to_json
from evalaction.method.records import Columns, Row, Usage

TEXT = st.text(max_size=8)
REACHED = st.builds(
    row,
    item=TEXT,
    arm=st.sampled_from(["treatment", "control"]),
    draw=st.integers(0, 99),
    letter=st.sampled_from("pkce"),
    index=st.integers(0, 2**31),
    ms=st.integers(0, 10**6),
    status=st.none() | st.integers(100, 599),
    text_sha256=st.none() | TEXT,
    parsed_sha256=st.none() | TEXT,
    usage=st.builds(Usage, input=st.none() | st.integers(0, 9)),
    trace=st.none() | st.booleans() | TEXT | st.lists(st.integers() | st.booleans()) | st.dictionaries(TEXT, st.integers()),
    counters=st.none() | st.dictionaries(TEXT, st.integers(0, 9)),
    redacted=st.none() | st.just(True),
)
HEAD, KEPT = "Sure!", "ab" * 32


def drawn(of: Row) -> Draw:
    """What the drawing knew of a row."""
    pending = replace(of, columns=PENDING, text_sha256=None, parsed_sha256=None, raw_head=None)
    return Draw(row=pending, head=HEAD, kept_sha256=KEPT)


def judged(of: Row) -> Row:
    return replace(of, raw_head=HEAD if of.columns.contract is False else None)


@given(REACHED)
def test_a_draw_and_its_judgement_are_the_row(of: Row) -> None:
    line = json.dumps(draw_to_json(drawn(of)))
    assert not set(JUDGED) & json.loads(line).keys()
    draw = draw_from_json(json.loads(line))
    assert draw == drawn(of)
    made = judged_row(draw, of.columns, of.text_sha256, of.parsed_sha256)
    assert made == judged(of) and difference(draw, made) is None


def test_a_lost_draw_is_its_row() -> None:
    lost = Draw(row=row(letter="u", error_head="busy"))
    assert draw_from_json(json.loads(json.dumps(draw_to_json(lost)))) == lost
    assert judged_row(lost, lost.row.columns, None, None) == lost.row and difference(lost, lost.row) is None
    assert difference(lost, replace(lost.row, text_sha256=KEPT)) == "text_sha256"
    assert difference(lost, replace(lost.row, columns=Columns(False, "timeout"))) == "reach_reason"


CHANGES: dict[str, Any] = {
    "index": 9, "item": "t0009", "arm": "control", "draw": 3, "half": 0, "request_sha256": "1" * 64, "endpoint": "other",
    "started_at": "2026-03-01T09:30:00.001Z", "ms": 41, "status": 201, "finish_reason": "stop", "usage": Usage(input=1),
    "served_model": "m", "fingerprint": "f", "response_id": "r", "body_sha256": "2" * 64, "cache_hit": "x", "retry_after": "1",
    "trace": {"steps": True}, "trace_length": 7, "counters": {"hops": 1}, "polls": 1, "retries": 1, "error_head": "e",
    "raw_head": "Surely", "redacted": True,
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("letter", "pkceu")
def test_whatever_the_drawing_knew_must_stand(name: str, letter: str) -> None:
    base = row(letter=letter, trace={"steps": 1}, half=1)
    draw = Draw(row=base) if letter == "u" else drawn(base)
    assert difference(draw, judged(base)) is None
    assert difference(draw, replace(judged(base), **{name: CHANGES[name]})) == name


def test_every_field_of_a_row_is_added_by_judging_or_compared() -> None:
    every = {
        name for letter in "pkceu" for name in row_to_json(row(letter=letter, **CHANGES, text_sha256="a", parsed_sha256="b"))
    }
    assert every == set(CHANGES) | set(JUDGED) | {"reach", "reach_reason"}


@pytest.mark.parametrize(("letter", "other"), [("p", "u"), ("u", "p"), ("u", "c")])
def test_reach_is_no_column_of_the_judge(letter: str, other: str) -> None:
    draw = Draw(row=row(letter=letter)) if letter == "u" else drawn(row(letter=letter))
    assert difference(draw, row(letter=other)) == "reach"
    with pytest.raises(ValueError, match="whether a draw reached"):
        judged_row(draw, COLUMNS[other], None, None)


@pytest.mark.parametrize("letter", "pkce")
def test_the_columns_of_the_judge_are_free(letter: str) -> None:
    """What a job that judges can lie about, and nothing else."""
    assert difference(drawn(row()), judged(row(letter=letter, text_sha256="a", parsed_sha256="b"))) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contract": True}, "'contract' is added by judging"),
        ({"verdict": "pass"}, "'verdict' is added by judging"),
        ({"head": 7}, "'head' has a wrong value"),
        ({"kept_sha256": None}, "keeps its text"),
        ({"head": None}, "keeps its text"),
        ({"ms": -1}, "'ms' has a wrong value"),
        ({"reach": 1}, "'reach' has a wrong value"),
        ({"extra": 1}, "unknown field 'extra'"),
    ],
)
def test_what_is_no_draw(change: dict[str, Any], message: str) -> None:
    values = draw_to_json(drawn(row())) | change
    with pytest.raises(ValueError, match=message):
        draw_from_json({name: value for name, value in values.items() if value is not None})


def test_a_draw_is_an_object() -> None:
    with pytest.raises(ValueError, match="a JSON object"):
        draw_from_json([])
