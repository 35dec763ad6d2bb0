"""Whose fault an ending is: every row of the table of split checking, of a checker alone and of both in one process."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from evalaction.checks.boxed import blame
from evalaction.checks.boxed.blame import GONE, Checked, Said, read_said
from evalaction.checks.inside.board import HEAVY, SIZE, Note, Phase, read_note
from evalaction.method.card import CheckLimits
from evalaction.sandbox.records import Ending

LIMITS = CheckLimits(timeout_ms=3_000, cpu_ms=1_000, memory_mb=256, output_bytes=1_000)
PASS, GONE_SAID = Said("pass", ""), Said("fail", GONE)


def ending(exit: int | None = 0, *, signal: int | None = None, **fields: Any) -> Ending:  # noqa: A002 - the record's own name
    known = {"limit": None, "cpu_ms": 10, "wall_ms": 20, "max_rss_kb": 9_000, "run_delay_ms": 0}
    return Ending(exit=None if signal else exit, signal=signal, **{**known, **fields})


def note(phase: Phase = "own", weight: int = 10) -> Note:
    return Note(phase, 1, weight)


def split(candidate: Ending, checker: Ending, said: Said | None, at: Note | None = None) -> Checked:
    return blame.split(candidate, checker, said, at or note(), LIMITS)


def test_a_pass_needs_the_word_and_exit_0_of_the_checks_side_and_no_limit_on_either_side() -> None:
    assert split(ending(), ending(), PASS) == Checked(True)
    assert split(ending(), ending(1), PASS) == Checked(None, "checker:crash: it said pass and ended with exit code 1")
    assert split(ending(), ending(signal=9), PASS) == Checked(None, "checker:crash: it said pass and ended with SIGKILL")
    assert split(ending(), ending(), None) == Checked(None, "checker:crash: it ended with exit code 0 and without a verdict")
    assert split(ending(limit="output"), ending(), PASS) == Checked(False, "candidate:output: over 1,000 bytes of output")
    flooded = split(ending(), ending(limit="output"), PASS)
    assert flooded == Checked(None, "checker:output: over 1,000 bytes of output")
    assert split(ending(3), ending(), PASS) == Checked(True)  # how a candidate ends when it is done is its own affair


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (ending(0), "candidate:exit: exit code 0"),
        (ending(137), "candidate:exit: exit code 137"),
        (ending(signal=signal.SIGSEGV), "candidate:died: SIGSEGV"),
        (ending(signal=64), "candidate:died: SIGRTMAX"),
        (ending(signal=77), "candidate:died: signal 77"),
        (ending(limit="cpu", signal=9), "candidate:cpu: over 1,000 ms of CPU time"),
        (ending(limit="wall", signal=9), "candidate:timeout: over 3,000 ms"),
        (ending(limit="memory", signal=9), "candidate:memory: over 256 MB of memory"),
        (ending(limit="output", signal=9), "candidate:output: over 1,000 bytes of output"),
        (ending(limit="disk", signal=9), "candidate:died: over its share of the disk"),
        (ending(limit="processes", signal=9), "candidate:died: over its number of processes"),
        (ending(limit="files", signal=9), "candidate:died: over its number of open files"),
    ],
)
def test_a_candidate_that_is_gone_is_named_by_the_way_it_went(candidate: Ending, reason: str) -> None:
    assert split(candidate, ending(1), GONE_SAID, note("waiting")) == Checked(False, reason)


def test_time_that_the_machine_did_not_give_is_nobodys_fault() -> None:
    starved = ending(limit="wall", signal=9, run_delay_ms=1_500)
    error = Checked(None, "checker:timeout: over 3,000 ms, most of them spent waiting for the machine")
    assert split(starved, ending(1), GONE_SAID, note("waiting")) == error
    assert split(ending(), starved, None, note("waiting")) == error
    busy = ending(limit="wall", signal=9, run_delay_ms=2_900, cpu_ms=1_500)
    assert split(busy, ending(1), GONE_SAID, note("waiting")) == Checked(False, "candidate:timeout: over 3,000 ms")
    unknown = ending(limit="wall", signal=9, run_delay_ms=None)
    assert split(unknown, ending(1), GONE_SAID, note("waiting")).passed is False


@pytest.mark.parametrize("at", [note("waiting"), note("reading"), note("own", HEAVY + 1), Note("own", 1, 9, larger=True)])
@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("cpu", "candidate:cpu: over 1,000 ms of CPU time with its reply"),
        ("wall", "candidate:timeout: over 3,000 ms with its reply"),
        ("memory", "candidate:memory: over 256 MB of memory with its reply"),
        ("files", "candidate:oversize: over its number of open files with its reply"),
    ],
)
def test_a_limit_of_the_check_is_the_candidates_while_its_reply_is_waited_for_read_or_held(
    at: Note, limit: Any, reason: str
) -> None:
    assert split(ending(), ending(limit=limit, signal=9), None, at) == Checked(False, reason)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("cpu", "checker:timeout: over 1,000 ms of CPU time"),
        ("wall", "checker:timeout: over 3,000 ms"),
        ("memory", "checker:crash: over 256 MB of memory"),
        ("output", "checker:output: over 1,000 bytes of output"),
    ],
)
def test_a_limit_that_the_check_reaches_by_itself_is_a_checker_error(limit: Any, reason: str) -> None:
    assert split(ending(), ending(limit=limit, signal=9), None) == Checked(None, reason)


def test_a_check_that_prints_a_big_reply_floods_for_the_candidate() -> None:
    flooded = ending(limit="output", signal=9)
    assert split(ending(), flooded, None, note("waiting")).reason == "checker:output: over 1,000 bytes of output"
    big = split(ending(), flooded, PASS, note("own", HEAVY + 1))
    assert big == Checked(False, "candidate:output: over 1,000 bytes of output with its reply")


def test_a_check_that_dies_of_a_reply_dies_of_the_candidate_and_else_of_itself() -> None:
    broken = ending(signal=signal.SIGSEGV)
    reason = "candidate:protocol: the check's side died of its reply (SIGSEGV)"
    assert split(ending(), broken, None, note("reading")) == Checked(False, reason)
    assert split(ending(), broken, None) == Checked(None, "checker:crash: it ended with SIGSEGV and without a verdict")


def test_a_check_that_was_busy_with_itself_when_the_time_was_up_is_a_checker_error() -> None:
    ended = ending(None, signal=9, killed=True)
    late = ending(limit="wall", signal=9)
    assert split(late, ended, None) == Checked(None, "checker:timeout: over 3,000 ms")
    held = split(late, ended, None, note("own", HEAVY + 1))  # busy with what the candidate gave it
    assert held == Checked(False, "candidate:timeout: over 3,000 ms with its reply")
    waited = Note("own", 1, 10, waited_ms=1_500)  # left with half of the time
    assert split(late, ended, None, waited) == Checked(False, "candidate:timeout: over 3,000 ms")
    assert split(late, ended, None, waited._replace(waited_ms=1_499)).passed is None
    slow = ending(limit="wall", signal=9)
    assert split(ending(), slow, None, waited) == Checked(False, "candidate:timeout: over 3,000 ms")
    assert split(ending(), slow, None, waited._replace(waited_ms=1_499)).passed is None
    starved = ending(None, signal=9, killed=True, run_delay_ms=2_000)
    assert split(late, starved, None, waited).passed is None
    assert split(late, starved, None, note("own", HEAVY + 1)).passed is None
    for hungry in (starved, ending(limit="wall", signal=9, run_delay_ms=2_000)):  # by the candidate's threads, or by others
        beside = ending(limit="wall", signal=9, cpu_ms=1_500)
        assert split(beside, hungry, None) == Checked(False, "candidate:timeout: over 3,000 ms")
        assert split(ending(limit="wall", signal=9, cpu_ms=1_499), hungry, None).passed is None


def test_what_the_check_says_is_bounded_and_cannot_pass_for_another_word() -> None:
    long = split(ending(), ending(1), Said("fail", "assert: " + "x\n" * 5_000))
    assert long.reason is not None and len(long.reason) == 4_000 and "\n" not in long.reason
    assert split(ending(), ending(1), Said("fail", "checker:crash: no")).reason == "rejected: checker:crash: no"
    assert split(ending(), ending(1), Said("fail", "")).reason == "rejected"
    assert split(ending(), ending(2), Said("error", "odd")).reason == "checker:protocol: odd"


def test_a_checker_alone() -> None:
    def alone(end: Ending, said: Said | None) -> Checked:
        return blame.alone(end, said, LIMITS)

    assert alone(ending(), PASS) == Checked(True)
    assert alone(ending(1), Said("fail", "mismatch")) == Checked(False, "rejected: mismatch")
    assert alone(ending(1), Said("fail", "want: 3")) == Checked(False, "rejected: want: 3")
    assert alone(ending(2), Said("error", "checker:crash: KeyError: 'x'")) == Checked(None, "checker:crash: KeyError: 'x'")
    assert alone(ending(stdout=b"hello\n"), PASS).reason == "checker:output: the checker prints; it returns its answer"
    assert alone(ending(), None).reason == "checker:crash: it ended with exit code 0 and without a verdict"
    assert alone(ending(limit="cpu", signal=9), None).reason == "checker:timeout: over 1,000 ms of CPU time"


def test_both_in_one_process() -> None:
    def together(end: Ending, said: Said | None) -> Checked:
        return blame.together(end, said, LIMITS)

    assert together(ending(), PASS) == Checked(True)
    assert together(ending(0), None) == Checked(False, "candidate:exit: exit code 0")
    assert together(ending(signal=signal.SIGSEGV), None) == Checked(False, "candidate:died: SIGSEGV")
    assert together(ending(limit="wall", signal=9), None) == Checked(None, "checker:timeout: over 3,000 ms")
    assert together(ending(limit="cpu", signal=9), None) == Checked(None, "checker:timeout: over 1,000 ms of CPU time")
    assert together(ending(1), Said("fail", "assert: 1")) == Checked(False, "assert: 1")


def message(*parts: Any) -> bytes:
    body = json.dumps(parts).encode()
    return len(body).to_bytes(4, "big") + body


def test_a_verdict_is_one_message_with_the_nonce_of_this_check() -> None:
    assert read_said(b"", "n") is None
    assert read_said(message("n", "pass", ""), "n") == PASS


@pytest.mark.parametrize(
    "data",
    [
        message("other", "pass", ""), message("n", "maybe", ""), message("n", "pass", 1), message("n", "pass"),
        message("n", "pass", "") * 2, message("n", "pass", "")[:-1], b"pass\n", b"\0\0", message(), b"\0\0\0\1x",
        b"\0\0\0\0017", (60_000).to_bytes(4, "big") + b"[" * 60_000,
    ],
)  # fmt: skip
def test_everything_else_is_no_verdict(data: bytes) -> None:
    with pytest.raises(ValueError):
        read_said(data, "n")


def test_a_board_that_nobody_wrote_on() -> None:
    assert read_note(bytes(SIZE)) == Note("starting", 0, 0, larger=False)
