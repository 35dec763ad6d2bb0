from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import COLUMNS, row

from evalaction.method.counting.row_json import row_from_json, row_to_json
from evalaction.method.records import Usage

TEXT = st.text(max_size=8)
ROWS = st.builds(
    row,
    item=TEXT,
    arm=st.sampled_from(["treatment", "control"]),
    draw=st.integers(0, 99),
    letter=st.sampled_from("pkcue"),
    index=st.integers(0, 2**31),
    ms=st.integers(0, 10**6),
    status=st.none() | st.integers(100, 599),
    text_sha256=st.none() | TEXT,
    raw_head=st.none() | TEXT,
    usage=st.builds(Usage, input=st.none() | st.integers(0, 9), output=st.none() | st.integers(0, 9)),
    response_id=st.none() | TEXT,
    trace=st.none() | st.booleans() | TEXT | st.lists(st.integers()) | st.dictionaries(TEXT, st.integers()),
    trace_length=st.none() | st.integers(0, 10**6),
    counters=st.none() | st.dictionaries(TEXT, st.integers(0, 10**15 - 1)),
    polls=st.none() | st.integers(1, 99),
    retries=st.none() | st.integers(1, 99),
)


@given(ROWS)
def test_there_and_back(made: Any) -> None:
    line = json.dumps(row_to_json(made))
    assert row_from_json(json.loads(line)) == made
    assert "null" not in {json.dumps(value) for value in json.loads(line).values()}


def test_fields_are_in_the_documented_order_without_nulls() -> None:
    made = row(letter="c", status=200, raw_head="Sure!", usage=Usage(output=3), finish_reason="stop")
    assert list(row_to_json(made)) == [
        "index", "item", "arm", "draw", "half", "request_sha256", "endpoint", "started_at", "ms", "status", "reach", "contract",
        "contract_reason", "verdict", "raw_head", "finish_reason", "usage",
    ]  # fmt: skip
    assert row_to_json(made)["usage"] == {"output": 3} and row_to_json(made)["verdict"] == "fail"


@pytest.mark.parametrize("letter", COLUMNS)
def test_the_verdict_is_written_and_must_agree(letter: str) -> None:
    obj = row_to_json(row(letter=letter))
    assert obj["verdict"] == COLUMNS[letter].verdict
    obj["verdict"] = "fail" if letter == "p" else "pass"
    with pytest.raises(ValueError, match="the columns say"):
        row_from_json(obj)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "unknown field 'extra'"),
        ({"ms": None}, "field 'ms'"),
        ({"ms": -1}, "field 'ms'"),
        ({"ms": 1 << 32}, "field 'ms'"),
        ({"ms": 1.0}, "field 'ms'"),
        ({"draw": True}, "field 'draw'"),
        ({"reach": 1}, "field 'reach'"),
        ({"item": 7}, "field 'item'"),
        ({"arm": "third"}, "no such arm or half"),
        ({"half": 2}, "no such arm or half"),
        ({"usage": {"input": -1}}, "'usage' has a wrong part 'input'"),
        ({"usage": {"total": 1}}, "'usage' has a wrong part 'total'"),
        ({"usage": {"input": True}}, "'usage' has a wrong part 'input'"),
        ({"counters": {"tool_hops": -1}}, "'counters' has a wrong part 'tool_hops'"),
        ({"counters": {"tool_hops": 10**15}}, "'counters' has a wrong part 'tool_hops'"),
        ({"counters": {"tool_hops": True}}, "'counters' has a wrong part 'tool_hops'"),
        ({"counters": {"tool_hops": None}}, "'counters' has a wrong part 'tool_hops'"),
        ({"counters": [1]}, "field 'counters'"),
        ({"polls": "3"}, "field 'polls'"),
        ({"check": False}, "contradict"),
        ({"reach": False}, "contradict"),
        ({"check_reason": "checker:crash"}, "contradict"),
    ],
)
def test_a_line_that_is_no_row_says_what(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        row_from_json(row_to_json(row()) | change)


@pytest.mark.parametrize("name", ["index", "item", "arm", "draw", "half", "request_sha256", "endpoint", "ms", "reach", "verdict"])
def test_a_missing_field_is_named(name: str) -> None:
    obj = row_to_json(row())
    del obj[name]
    with pytest.raises(ValueError, match=f"missing field '{name}'"):
        row_from_json(obj)


@pytest.mark.parametrize("value", [None, [], "row", 1])
def test_a_row_is_an_object(value: object) -> None:
    with pytest.raises(ValueError, match="a row is a JSON object"):
        row_from_json(value)
