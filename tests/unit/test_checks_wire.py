"""Messages between parent and worker: whole or refused, and contracts that survive the way."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.judging import item

from evalaction.checks.bench import Bench
from evalaction.checks.judgement import of_answer
from evalaction.checks.spot import NOBODY, Spot
from evalaction.checks.wire import Answer, Garbled, Inbox, Job, Oversized, contract_text, frame, read_contract
from evalaction.method.numbers import Threshold
from evalaction.method.records import Check


@given(
    st.lists(st.recursive(st.none() | st.integers() | st.text(st.characters()), st.lists, max_leaves=4), max_size=4), st.data()
)
@settings(max_examples=100, deadline=None)
def test_messages_arrive_whole_however_the_bytes_are_cut(messages: list[Any], data: st.DataObject) -> None:
    stream = b"".join(map(frame, messages))
    inbox = Inbox(10_000)
    arrived: list[Any] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        arrived += inbox.add(stream[:size])
        stream = stream[size:]
    assert arrived == messages


@pytest.mark.parametrize("body", [b"not json", b"\xff", b"{", b"[" * 100_000])
def test_garbage_is_refused(body: bytes) -> None:
    with pytest.raises(Garbled):
        list(Inbox(1_000_000).add(len(body).to_bytes(4, "big") + body))


def test_a_message_over_the_limit_is_refused_before_it_has_arrived() -> None:
    with pytest.raises(Oversized):
        list(Inbox(100).add((101).to_bytes(4, "big")))


def test_a_contract_survives_the_way_with_its_decimals() -> None:
    check = Check(kind="number", expected=Decimal("0.10"), tolerance=Threshold.of("0.020"), pointer="/a")
    assert read_contract(contract_text(item(check, extract="last_number"), 3)) == ("last_number", 3, check)
    assert read_contract(contract_text(item(Check(kind="json", expected={"é": [None, True]})), None))[2].expected == {
        "é": [None, True]
    }


def test_a_spot_tells_what_was_noted_even_after_it_is_closed() -> None:
    ours = Spot.fresh()
    theirs = Spot(os.dup(ours.descriptor))
    ours.close()
    assert ours.read().job == NOBODY
    theirs.begin(3, 12.5, 0.25)
    assert ours.read() == (3, 12.5, 0.25, "reading", None, None)
    theirs.at("check", "a" * 64, None)
    assert ours.read() == (3, 12.5, 0.25, "check", "a" * 64, None)
    theirs.begin(4, 13.0, 0.5)
    assert ours.read().text_sha256 is None
    theirs.close()


class Broken(Exception):
    """Raised by what must not raise."""


def explode(*_: object) -> Any:
    raise Broken


def exhaust(*_: object) -> Any:
    raise MemoryError


def descend(*_: object) -> Any:
    raise RecursionError


def bench(monkeypatch: pytest.MonkeyPatch, function: str, replacement: Any) -> Bench:
    ours = Bench()
    ours.learn({"contracts": [(0, contract_text(item(Check(kind="exact", expected="x")), None))]})
    if function == "accept":
        ours._contracts[0] = (ours._contracts[0][0], replacement)
    else:
        monkeypatch.setattr(f"evalaction.checks.bench.{function}", replacement)
    return ours


@pytest.mark.parametrize(
    ("function", "replacement", "contract", "check", "spent"),
    [
        ("misfit", exhaust, "limit: memory", None, True),
        ("misfit", descend, "limit: depth", None, False),
        ("misfit", explode, None, "checker:crash: Broken in the contract", False),
        ("accept", explode, None, "checker:crash: Broken", False),
        ("accept", exhaust, None, "checker:crash: memory", True),
    ],
)
def test_whatever_breaks_becomes_an_answer(
    monkeypatch: pytest.MonkeyPatch, function: str, replacement: Any, contract: str | None, check: str | None, spent: bool
) -> None:
    ours = bench(monkeypatch, function, replacement)
    phases: list[str] = []
    answer = ours.judge(Job(0, "x", None), lambda phase, *_: phases.append(phase))
    assert (answer.contract_reason, answer.passed, answer.check_reason) == (contract, None, check)
    assert ours.spent is spent
    assert phases == (["contract", "check"] if function == "accept" else ["contract"])
    assert of_answer(answer).columns.verdict == ("fail" if contract else "runner_error")


@pytest.mark.parametrize(
    "answer",
    [
        Answer("schema: x", True, None, None, None),
        Answer(None, None, None, None, None),
        Answer(None, False, None, None, None),
        Answer(None, True, "checker:crash", None, None),
    ],
)
def test_an_answer_that_contradicts_itself_is_no_judgement(answer: Answer) -> None:
    with pytest.raises(ValueError, match=r"contract|check"):
        of_answer(answer)


def test_a_frame_is_ascii() -> None:
    assert json.loads(frame(["\ud800é"])[4:]) == ["\ud800é"]
    assert frame(["\ud800é"]).isascii()
