"""A check that lies is caught: what it must not say of the candidate, and what it says differently the second time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attacks.rooms import JUDGED, Rooms
from support.command import Project, gated
from support.programs import best_rung

GOOD = "def f(x):\n    return 2 * x\n"
HELPER = "def expect(got, want):\n    assert got == want, f'{got!r} is not {want!r}'\n"
WRONG = "def f(x):\n    return 3 * x\n"
CHECKS = {
    "an exception of its own": ("import _candidate\nnope", GOOD, None, "checker:crash: NameError"),
    "an exception before the candidate": ("1 / 0", WRONG, None, "checker:crash: ZeroDivisionError"),
    "a helper that is missing": ("import _candidate, absent", GOOD, None, "checker:crash: ModuleNotFoundError"),
    "a helper that asserts": ("import _candidate, helper\nhelper.expect(_candidate.f(1), 2)", WRONG, False, "assert: 3 is not 2"),
    "the same, and right": ("import _candidate, helper\nhelper.expect(_candidate.f(1), 2)", GOOD, True, ""),
    "a segmentation fault": (
        "import _candidate, ctypes\nctypes.string_at(0)",
        GOOD,
        None,
        "checker:crash: it ended with SIGSEGV",
    ),
    "an exit with 137": ("import _candidate, os\nos._exit(137)", GOOD, None, "checker:crash: it ended with exit code 137"),
    "an early exit with 0": ("import os\nos._exit(0)", WRONG, None, "checker:crash: it ended with exit code 0"),
    "a traceback that is printed": (
        "import _candidate, sys\nsys.stderr.write('Traceback (most recent call last):\\n')\nassert _candidate.f(1) == 2",
        GOOD,
        True,
        "",
    ),
    "words that are printed": ("import _candidate\nprint('FAILED')\nassert _candidate.f(1) == 2", GOOD, True, ""),
    "passed, printed": ("import _candidate\nprint('PASSED')\nassert _candidate.f(1) == 2", WRONG, False, "assert: "),
    "an endless loop": ("import _candidate\nwhile True: pass", GOOD, None, "checker:timeout"),
    "memory without end": ("import _candidate\nx = 'x' * 10**11", GOOD, None, "checker:crash: MemoryError"),
    "output without end": ("import _candidate\nwhile True: print('x' * 999)", GOOD, None, "checker:output"),
    "a candidate that prints a traceback": (
        "import _candidate\nassert _candidate.f(1) == 2",
        f"import sys\nsys.stderr.write('Traceback (most recent call last):\\n')\n{GOOD}",
        True,
        "",
    ),
    "its own sum in place of the candidate's": (
        "from _candidate import *\nassert sum([1, 2]) == 3",
        "def sum(values):\n    return 7\n",
        None,
        "checker:protocol: the check has names of its own for sum and asks the candidate nothing",
    ),
    "its own sum beside the candidate's": (
        "from _candidate import *\nassert sum([f(1), f(2)]) == 6",
        f"def sum(values):\n    return 6\n{WRONG}",
        False,
        "assert: ",
    ),
    "no assertion at all": ("import _candidate", "raise ValueError", False, "candidate:raise: ValueError"),
}


@pytest.mark.parametrize("room", JUDGED)
@pytest.mark.parametrize("name", CHECKS)
def test_each_lie_has_its_name(rooms: Rooms, name: str, room: str) -> None:
    check, candidate, passed, reason = CHECKS[name]
    request = {"do": "judge", "how": "split", "candidate": candidate, "check": check, "beside": {"helper.py": HELPER}}
    told = rooms.ask(room, request | {"limits": {"cpu_ms": 500}})
    assert told["passed"] is passed, told
    assert (told["reason"] or "").startswith(reason), told
    assert told["healthy"] and told["survivors"] == 0


@pytest.mark.parametrize("room", JUDGED)
def test_helpers_of_one_size_written_within_a_second_are_told_apart(rooms: Rooms, room: str) -> None:
    """Python takes bytecode for fresh when size and second are those of the source: then every second answer is stale."""
    check = "import _candidate, helper\nassert _candidate.f(1) == helper.WANT, helper.WANT"
    for want, passed in [(2, True), (3, False)] * 2:
        request = {"do": "judge", "how": "split", "candidate": GOOD, "check": check, "beside": {"helper.py": f"WANT = {want}\n"}}
        assert rooms.ask(room, request | {"limits": {}})["passed"] is passed


def project(folder: Path, checks: dict[str, str]) -> Project:
    files = {"prompt.md": b"Be brief.\n"}
    for name, check in checks.items():
        task = {"id": name, "prompt": f"Write {name}.", "extract": "raw"}
        made = {"task.json": json.dumps(task), "check.py": check, "reference.py": GOOD}
        files |= {f"tasks/{name}/{file}": text.encode() for file, text in made.items()}
    changes = {"exam.tasks": "tasks", "limits": ..., "draws.timeout_ms": 60_000, "checks": {"timeout_ms": 120_000}}
    return Project(folder, gated(2, changes), files)


RIGHT = "import _candidate\nassert _candidate.f(1) == 2\n"
UNSTEADY = {
    "clock": RIGHT + "import time\nassert time.time_ns() % 2\n",
    "chance": RIGHT + "import random\nassert random.random() < 0.5\n",
    "address": RIGHT + "assert id(object()) // 16 % 2\nimport os\nassert os.urandom(1)[0] % 2\n",
}


def test_a_check_that_says_something_else_the_second_time_is_named(tmp_path: Path) -> None:
    best_rung()
    checks = {f"{name}-{number}": check for name, check in UNSTEADY.items() for number in range(8)} | {"steady": RIGHT}
    done = project(tmp_path / "p", checks)("verify", "--check-twice")
    assert done.code != 0 and "check_unsteady: Item " in done.said, done.said  # unseen once in ten million runs
    assert "Item steady" not in done.said, done.said


def test_a_reference_that_its_check_refuses_is_named(tmp_path: Path) -> None:
    best_rung()
    done = project(tmp_path / "p", {"wrong": "import _candidate\nassert _candidate.f(1) == 7, 'seven'\n", "right": RIGHT})(
        "verify"
    )
    assert done.code != 0 and "wrong" in done.said and "seven" in done.said, done.said
