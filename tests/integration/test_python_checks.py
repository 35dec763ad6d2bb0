"""`checker(parsed, fixture)`: what it is given, what it may return, and everything else it does. Real processes."""

from __future__ import annotations

from typing import Any

import pytest
from support.boxes import SAFE, rung
from support.judging import reached
from support.programs import BRIEF, python

from evalaction.method.card import CheckLimits
from evalaction.method.reading.strict_json import loads
from evalaction.method.records import Completion
from evalaction.sandbox.records import How

STATUS = """
def checker(parsed, fixture):
    ok = parsed.get("status") == fixture["expect"]
    return ok, "match" if ok else "mismatch"
"""


@pytest.mark.parametrize("how", SAFE)
def test_the_checker_of_the_second_protocol_on_every_rung(how: How) -> None:
    outputs = ['{"status": "green"}', '{"status": "red"}', "green", '{"status": "green"']
    found = python(STATUS, outputs, fixture={"expect": "green"}, extract="json", rung=rung(how))
    assert found[:2] == ["pass", "rejected: mismatch"]
    assert [reason.partition(":")[0] for reason in found[2:]] == ["not_json"] * 2


SHOW = "def checker(parsed, fixture):\n    return False, repr((parsed, fixture))\n"


def test_what_a_checker_is_given() -> None:
    exact = loads('{"limit": 0.1, "big": 12345678901234567890, "none": null}')
    assert python(SHOW, [" a text\n"], fixture=exact) == [
        "rejected: ('a text', {'big': 12345678901234567890, 'limit': 0.1, 'none': None})"
    ]
    assert python(SHOW, ['{"b": 1.50, "a": [1e3, "\\u00fc", true]}'], extract="json") == [
        "rejected: ({'b': 1.5, 'a': [1000.0, 'ü', True]}, None)"
    ]
    assert python(SHOW, ["so:\n```json\n[1]\n```"], extract="fenced", schema={"type": "array"}) == ["rejected: ([1], None)"]
    assert python(SHOW, ["so:\n```text\n[1] \n```"], extract="fenced") == ["rejected: ('[1]', None)"]
    assert python(SHOW, ["it is 4,000"], extract="last_number") == ["rejected: ('4000', None)"]
    assert python(SHOW, ["x\ud800"]) == ["rejected: ('x\\ud800', None)"]


def test_a_checker_may_judge_the_trace() -> None:
    traced = Completion(reason=None, output="done", trace={"hops": [1, 2], "cost": loads("0.50")})
    assert python(SHOW, [traced, reached("done")], source="trace") == [
        "rejected: ({'cost': 0.5, 'hops': [1, 2]}, None)",
        "rejected: (None, None)",
    ]


BROKEN = {
    "return True": "checker:protocol: it returned bool, not (bool, text)",
    "return None": "checker:protocol: it returned NoneType, not (bool, text)",
    "return True, None": "checker:protocol: it returned (bool, NoneType), not (bool, text)",
    "return 1, 'yes'": "checker:protocol: it returned (int, str), not (bool, text)",
    "return True, 'a', 'b'": "checker:protocol: it returned (bool, str, str), not (bool, text)",
    "return [True, 'a']": "checker:protocol: it returned list, not (bool, text)",
    "return parsed['status'], 'x'": "checker:crash: TypeError: string indices must be integers, not 'str'",
    "raise SystemExit(0)": "checker:crash: SystemExit: 0",
    "assert False, 'no'": "checker:crash: AssertionError: no",
    "import os; os._exit(0)": "checker:crash: it ended with exit code 0 and without a verdict",
    "import ctypes; ctypes.string_at(0)": "checker:crash: it ended with SIGSEGV and without a verdict",
    "print('hello'); return True, 'ok'": "checker:output: the checker prints; it returns its answer",
    "import sys; sys.stderr.write('note'); return True, 'ok'": "pass",
    "import os; os.write(1, b'x' * 99_999); return True, 'ok'": "checker:output: over 65,536 bytes of output",
    "while True: pass": "checker:timeout: over 1,000 ms of CPU time",
    "return 'x' * 10**11 == parsed, 'x'": "checker:crash: MemoryError",
    "import socket; socket.create_connection(('127.0.0.1', 1)); return True, ''": "checker:crash: ",
    "open('/etc/passwd'); return True, ''": "checker:crash: FileNotFoundError: ",
    "return False, 'a\\nb' + 'x' * 999": "rejected: a\\nbxxx",
    "return False, ''": "rejected",
    "return True, 'x'": "pass",
}


def test_everything_but_an_answer_is_a_checker_error_with_its_reason() -> None:
    # One checker that does as the output says, so that one box serves all.
    cases = "".join(f"def case_{number}(parsed):\n    {line}\n" for number, line in enumerate(BROKEN))
    source = cases + "def checker(parsed, fixture):\n    return globals()[f'case_{parsed}'](parsed)\n"
    found = python(source, [str(number) for number in range(len(BROKEN))], BRIEF)
    for line, got, want in zip(BROKEN, found, BROKEN.values(), strict=True):
        assert got.startswith(want) and (len(got) == len(want) or want.endswith((" ", "x"))), (line, got)
        assert len(got) <= 240 and "\n" not in got


def test_a_checker_that_sleeps_is_a_checker_error() -> None:
    asleep = "import time\ndef checker(parsed, fixture):\n    time.sleep(1e6)\n"
    assert python(asleep, ["x"], CheckLimits(timeout_ms=3_000)) == ["checker:timeout: over 3,000 ms"]


@pytest.mark.parametrize("source", ["1 / 0", "import nopenope", "checker = 3"])
def test_a_file_that_does_not_give_a_checker_is_a_checker_error(source: str) -> None:
    assert python(source, ["x"])[0].startswith("checker:crash: ")


def test_one_draw_leaves_nothing_for_the_next() -> None:
    counting = """
import os
seen = []
def checker(parsed, fixture):
    seen.append(parsed)
    fixture.append(parsed)
    with open("left", "a") as file: file.write("x")
    return len(seen) == len(fixture) == os.path.getsize("left") == 1, repr((seen, fixture))
"""
    fixture: list[Any] = []
    assert python(counting, ["a", "b", "c"], fixture=fixture) == ["pass"] * 3
