"""What a row keeps of a trace: redacted, then cut, as `draws.keep_text` allows; its counters whatever is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hosted_runner import inserted

from evalaction.engine.grid import Planned
from evalaction.engine.journal import line_of
from evalaction.engine.rows import HEAD, TRACE, Asked, RowMaker
from evalaction.method.card import KeepText
from evalaction.method.counting.row_json import row_from_json, row_to_json
from evalaction.method.reading import strict_json
from evalaction.method.records import Completion, Row
from evalaction.redaction import Redactor

SECRET = 'sk-"x"/0123456789'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


def row(trace: Any, keep: KeepText = "full", **fields: Any) -> Row:
    maker = RowMaker(
        ["t1"],
        {"treatment": Asked(endpoint="main", request_sha256=["0" * 64])},
        seed="s",
        redact=Redactor({"KEY": SECRET}).redact,
        keep_text=keep,
    )
    completion = Completion(reason="poll:failed", trace=trace, **fields)
    return maker.row(Planned(index=0, item=0, arm="treatment", draw=0), completion, None)


@given(JSON)
def test_a_short_trace_is_kept_whole(trace: Any) -> None:
    made = row(trace)
    if len(json.dumps(trace, ensure_ascii=False)) <= TRACE // 2:
        assert (made.trace, made.trace_length) == (trace, None)
    assert row_from_json(json.loads(json.dumps(row_to_json(made)))) == made


def test_numbers_with_a_point_can_be_written() -> None:
    trace = strict_json.loads('{"cost":0.125,"tiny":1e-7,"steps":[2.0,3]}')
    line = line_of(row_to_json(row(trace)))
    assert line_of(json.loads(line)) == line, "and are written the same when they have been read"
    assert json.loads(line)["trace"] == {"cost": 0.125, "tiny": 1e-7, "steps": [2.0, 3]}
    with pytest.raises(TypeError, match="not JSON: set"):
        line_of({"trace": {1}})


@pytest.mark.parametrize(("keep", "most"), [("full", TRACE), ("head", HEAD)])
def test_a_long_trace_is_kept_as_the_beginning_of_its_text(keep: KeepText, most: int) -> None:
    made = row({"hops": ["search"] * 5_000}, keep)
    assert made.trace == ('{"hops":[' + '"search",' * 5_000)[:most]
    assert made.trace_length == len('{"hops":[' + '"search",' * 5_000) + 1


def test_a_private_exam_keeps_the_counters_only() -> None:
    made = row(inserted(2, "a b"), "none", counters={"tool_hops": 2}, polls=3)
    assert (made.trace, made.trace_length, made.counters, made.polls, made.retries) == (None, None, {"tool_hops": 2}, 3, None)


@pytest.mark.parametrize(
    "trace",
    [
        SECRET,
        {"said": f"Bearer {SECRET}"},
        {SECRET: 1},
        [{"nested": [json.dumps({"key": SECRET})]}],
        {"long": "x" * 200 + SECRET + "y" * 9_000},
        {"long": "x" * (HEAD - 20) + SECRET},
    ],
)
@pytest.mark.parametrize("keep", ["full", "head"])
def test_a_secret_is_redacted_before_anything_is_cut(trace: Any, keep: KeepText) -> None:
    line = json.dumps(row_to_json(row(trace, keep)))
    assert Redactor({"KEY": SECRET}).leaks(line.encode()) == []
    assert "0123456" not in line and "sk-" not in line


def test_nothing_is_kept_of_nothing() -> None:
    made = row(None)
    assert {"trace", "trace_length", "counters", "polls", "retries"}.isdisjoint(row_to_json(made))
