"""Whose fault an ending is. Pure: from how the processes ended and what the check's side said to a verdict with its reason."""

from __future__ import annotations

import json
import signal
from typing import NamedTuple

from evalaction.checks.inside.board import HEAVY, Note
from evalaction.checks.words import UNCUT_LENGTH, one_line
from evalaction.method.card import CheckLimits
from evalaction.sandbox.records import Ending, LimitName

_PREFIX = 4
GONE = "candidate:gone"
_NO_MEMORY = "checker:crash: MemoryError"
_ECHO = 4
"""A check that prints its replies may write so many times their bytes."""


class Checked(NamedTuple):
    """`passed` is None where nobody can say; then the reason begins with `checker:`."""

    passed: bool | None
    reason: str | None = None


class Said(NamedTuple):
    """The verdict message: `pass`, `fail` or `error`, and why."""

    word: str
    reason: str


def read_said(data: bytes, nonce: str) -> Said | None:
    """The one message with the right nonce. None where nothing was said. Raises ValueError for everything else."""
    if not data:
        return None
    if int.from_bytes(data[:_PREFIX], "big") != len(data) - _PREFIX:
        raise ValueError("not one message")
    try:
        nonce_said, word, reason = json.loads(data[_PREFIX:])
    except (TypeError, RecursionError) as error:
        raise ValueError("not a message") from error
    if nonce_said != nonce or word not in ("pass", "fail", "error") or not isinstance(reason, str):
        raise ValueError("not a verdict of this check")
    return Said(word, reason)


def split(candidate: Ending, checker: Ending, said: Said | None, note: Note, limits: CheckLimits) -> Checked:
    """The verdict of two processes. A pass needs the word of the check's side and its exit 0, no limit on that side, and no more
    output of the candidate than it may write; what becomes of the candidate after its last answer is its own affair."""
    told = said is not None and said.word == "fail" and checker.limit != "output"  # it came to its end, whatever that took
    if (checker.limit is not None and not told) or (said is None and not checker.killed):
        return _check_broke_off(candidate, checker, note, limits)
    if said is None:  # ended by us, because the time was up while the check was busy with itself
        return _time_was_up(candidate, checker, note, limits)
    if said.reason == GONE:
        return candidate_gone(candidate, limits)
    if candidate.limit == "output":
        return Checked(False, f"candidate:output: {over('output', limits)}")
    return _as_said(said, checker)


def _time_was_up(candidate: Ending, checker: Ending, note: Note, limits: CheckLimits) -> Checked:
    """While the check was busy with itself: its own affair, unless it was left little time, or given much to do."""
    if starved(candidate, limits):
        return Checked(None, _timed_out(candidate, limits))
    if starved(checker, limits):
        return _check_starved(candidate, checker, limits)
    if _late(note, limits):
        return Checked(False, f"candidate:timeout: {over('wall', limits)}")
    if note.heavy:
        return Checked(False, f"candidate:timeout: {over('wall', limits)} with its reply")
    return Checked(None, _timed_out(candidate, limits))


def _check_starved(candidate: Ending, checker: Ending, limits: CheckLimits) -> Checked:
    """The check's side got no CPU: the machine's doing, unless the candidate ran beside it all the while."""
    if candidate.cpu_ms * 2 >= limits.timeout_ms:
        return Checked(False, f"candidate:timeout: {over('wall', limits)}")
    return Checked(None, _timed_out(checker, limits))


def _late(note: Note, limits: CheckLimits) -> bool:
    """Whether most of the time went by while the candidate was waited for."""
    return note.waited_ms * 2 >= limits.timeout_ms


def alone(ending: Ending, said: Said | None, limits: CheckLimits, weight: int = 0) -> Checked:
    """The verdict of a checker that is a process of its own, which was given `weight` characters of output."""
    spent = said is not None and said.word == "error" and said.reason.startswith(_NO_MEMORY)
    if weight > HEAVY and not starved(ending, limits) and (spent or ending.limit in ("cpu", "wall", "memory")):
        limit: LimitName = "memory" if spent or ending.limit is None else ending.limit
        return Checked(False, f"candidate:{_WORDS[limit]}: {over(limit, limits)} with its output")
    if ending.limit is not None or said is None:
        return _own_end(ending, limits)
    if ending.stdout:
        return Checked(None, "checker:output: the checker prints; it returns its answer")
    if said.word == "fail":  # the reason is the checker's own text, and may quote the output
        return Checked(False, one_line(_rejected(said.reason), UNCUT_LENGTH))
    return _as_said(said, ending)


def together(ending: Ending, said: Said | None, limits: CheckLimits) -> Checked:
    """The verdict of candidate and check in one process: nobody can say who used up a limit, but a check does not just end."""
    if ending.limit is not None:
        return _own_end(ending, limits)
    if said is None:
        return Checked(False, f"candidate:{_died(ending)}")
    return _as_said(said, ending)


def candidate_gone(ending: Ending, limits: CheckLimits) -> Checked:
    """Why the candidate's process could not answer any more."""
    if ending.limit == "wall" and starved(ending, limits):
        return Checked(None, _timed_out(ending, limits))
    if ending.limit is not None:
        word = _WORDS.get(ending.limit, "died")
        return Checked(False, f"candidate:{word}: {over(ending.limit, limits)}")
    return Checked(False, f"candidate:{_died(ending)}")


def starved(ending: Ending, limits: CheckLimits) -> bool:
    """Whether most of its time a process was ready to run and got no CPU, and not because it ran against its own threads."""
    delayed = ending.run_delay_ms is not None and ending.run_delay_ms * 2 >= limits.timeout_ms
    return delayed and ending.cpu_ms * 2 < limits.timeout_ms


def over(limit: LimitName, limits: CheckLimits) -> str:
    """A reached limit in words."""
    return {
        "cpu": f"over {limits.cpu_ms:,} ms of CPU time",
        "wall": f"over {limits.timeout_ms:,} ms",
        "memory": f"over {limits.memory_mb:,} MB of memory",
        "output": f"over {limits.output_bytes:,} bytes of output",
        "disk": "over its share of the disk",
        "processes": "over its number of processes",
        "files": "over its number of open files",
    }[limit]


_WORDS: dict[LimitName, str] = {"cpu": "cpu", "wall": "timeout", "memory": "memory", "output": "output"}


def _rejected(reason: str) -> str:
    return f"rejected: {reason}" if reason else "rejected"


def _as_said(said: Said, ending: Ending) -> Checked:
    reason = one_line(said.reason, UNCUT_LENGTH)
    if said.word == "error":
        return Checked(None, reason if reason.startswith("checker:") else f"checker:protocol: {reason}")
    if said.word == "fail":
        return Checked(False, reason if reason and not reason.startswith("checker:") else _rejected(reason))
    if ending.exit != 0:
        return Checked(None, f"checker:crash: it said pass and ended with {_end(ending)}")
    return Checked(True)


def _check_broke_off(candidate: Ending, checker: Ending, note: Note, limits: CheckLimits) -> Checked:
    """The check's side reached a limit or died: the candidate's doing while its reply was waited for, read, or is a big one."""
    if checker.limit == "wall" and starved(checker, limits):
        return _check_starved(candidate, checker, limits)
    if checker.limit == "wall" and note.phase == "own" and _late(note, limits):
        return Checked(False, f"candidate:timeout: {over('wall', limits)}")
    flooded = note.heavy or note.total * _ECHO > limits.output_bytes
    if not (flooded if checker.limit == "output" else note.candidate_holds):
        return _own_end(checker, limits)
    if checker.limit is None:
        return Checked(False, f"candidate:protocol: the check's side died of its reply ({_end(checker)})")
    word = _WORDS.get(checker.limit, "oversize")
    return Checked(False, f"candidate:{word}: {over(checker.limit, limits)} with its reply")


def _own_end(ending: Ending, limits: CheckLimits) -> Checked:
    if ending.limit in ("cpu", "wall"):
        return Checked(None, _timed_out(ending, limits))
    if ending.limit == "output":
        return Checked(None, f"checker:output: {over('output', limits)}")
    if ending.limit is not None:
        return Checked(None, f"checker:crash: {over(ending.limit, limits)}")
    return Checked(None, f"checker:crash: it ended with {_end(ending)} and without a verdict")


def _timed_out(ending: Ending, limits: CheckLimits) -> str:
    if ending.limit == "cpu":
        return f"checker:timeout: {over('cpu', limits)}"
    waiting = ", most of them spent waiting for the machine" if starved(ending, limits) else ""
    return f"checker:timeout: {over('wall', limits)}{waiting}"


def _died(ending: Ending) -> str:
    return f"exit: {_end(ending)}" if ending.signal is None else f"died: {_end(ending)}"


def _end(ending: Ending) -> str:
    if ending.signal is None:
        return f"exit code {ending.exit}"
    try:
        return signal.Signals(ending.signal).name
    except ValueError:
        return f"signal {ending.signal}"
