"""Hostile values against committed Python checkers: `checker(parsed, fixture)` is called in a process of its own."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import pytest
from attacks.rooms import JUDGED, Rooms
from support import outer_box

EQUAL = "def checker(parsed, fixture):\n    return parsed == 3, f'{parsed!r} is not 3'"
SET = "def checker(parsed, fixture):\n    return len(set(parsed)) == len(parsed), 'twice the same'"
PATTERN = "import re\ndef checker(parsed, fixture):\n    return re.fullmatch('(a*)*b', parsed) is not None, 'no match'"
KEY = "def checker(parsed, fixture):\n    return parsed['answer'] == 3, 'not 3'"


class Case(NamedTuple):
    parsed: str
    checker: str
    reason: str
    limits: dict[str, Any]
    undefended: str
    """What happens to a runner that calls the checker itself, in an outer box with little time and memory."""


CASES = {
    "memory while it is read": Case(
        "[" + "{}," * 1_000_000 + "0]", EQUAL, "candidate:memory: over 64 MB", {"memory_mb": 64}, "MemoryError|killed"
    ),
    "numbers of one hash": Case(
        json.dumps([number * (2**61 - 1) for number in range(1, 40_000)]),
        SET,
        "candidate:cpu: over 500 ms",
        {"cpu_ms": 500},
        "killed",
    ),
    "nesting": Case("[" * 190 + "]" * 190, EQUAL, r"rejected: \[\[\[", {}, "fail"),
    "nesting beyond the reader": Case("[" * 90_000 + "]" * 90_000, EQUAL, "checker:crash: RecursionError", {}, "RecursionError"),
    "control characters in the reason": Case(
        json.dumps("\u202e\x1b[2J\x00" * 9_000), EQUAL, r"rejected: '\\u202e\\x1b\[2J", {}, "fail"
    ),
    "words of a verdict": Case(json.dumps(["pass", True, "PASSED"]), EQUAL, r"rejected: \['pass', True, 'PASSED'\]", {}, "fail"),
    "a program": Case(json.dumps("__import__('os')._exit(0)"), EQUAL, "rejected: ", {}, "fail"),
    # What remains the checker's: it must be total and its expressions must end. Nobody else can know whose loop it is.
    "an expression without end": Case(json.dumps("a" * 40), PATTERN, "checker:timeout: over 500 ms", {"cpu_ms": 500}, "killed"),
    "a value of another shape": Case("[]", KEY, "checker:crash: TypeError", {}, "TypeError"),
}
NAIVE = """
import json
parsed = json.loads(open("parsed.json").read())
exec(open("checker.py").read())
print("pass" if checker(parsed, None)[0] else "fail")
"""


@pytest.mark.parametrize("name", CASES)
def test_what_it_does_to_a_runner_that_calls_the_checker_itself(name: str) -> None:
    case = CASES[name]
    files = {"parsed.json": case.parsed, "checker.py": case.checker, "naive.py": NAIVE}
    ran = outer_box.run([outer_box.PYTHON, "naive.py"], files=files, cpu_s=2, memory_mb=64, timeout_s=30)
    said = "killed" if ran.code > 128 else ran.stdout.strip() or ran.stderr.strip().splitlines()[-1]
    assert re.search(case.undefended, said), ran


@pytest.mark.parametrize("room", JUDGED)
@pytest.mark.parametrize("name", CASES)
def test_it_costs_its_own_verdict_and_nothing_else(rooms: Rooms, name: str, room: str) -> None:
    case = CASES[name]
    told = rooms.ask(
        room,
        {"do": "judge", "how": "python", "candidate": case.parsed, "check": case.checker, "beside": {}, "limits": case.limits},
    )
    assert "trouble" not in told, told
    assert told["passed"] is (None if case.reason.startswith("checker:") else False)
    assert re.match(case.reason, told["reason"]), told
    assert told["healthy"] and told["survivors"] == 0
