"""`check.py` and its candidate in two boxes: what passes, what fails, and whose fault it was. Real processes."""

from __future__ import annotations

import asyncio

import pytest
from support.boxes import SAFE, rung
from support.judging import item, reached
from support.programs import BRIEF, PATIENT, best_rung, code, each

from evalaction.checks.judgement import Judgement
from evalaction.checks.pool import Judge
from evalaction.errors import EvalactionError
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check
from evalaction.sandbox.records import How

CLAMP = """
import _candidate

def expect(got, want):
    if got != want:
        raise SystemExit(f"{got!r} != {want!r}")

expect(_candidate.clamp(3, 0, 2), 2)
expect(_candidate.clamp(-1, 0, 2), 0)
expect(_candidate.clamp(1, 0, 2), 1)
"""
GOOD = "def clamp(x, lo, hi):\n    return max(lo, min(x, hi))\n"
REFUSED, CARRIES = "checker:protocol: the check", "which split checking does not carry"
SLEEPY = CheckLimits(timeout_ms=3_000, cpu_ms=60_000)


@pytest.mark.parametrize("how", SAFE)
def test_the_first_protocols_check_says_the_same_on_every_rung(how: How) -> None:
    wrong = "def clamp(x, lo, hi):\n    return x\n"
    assert code(CLAMP, [GOOD, wrong, GOOD, "import sys\nsys.exit(0)"], rung=rung(how)) == [
        "pass", "exit: 3 != 2", "pass", "candidate:exit: 0",
    ]  # fmt: skip


CANDIDATES = {
    "raise ValueError('no')": "candidate:raise: ValueError: no",
    "def clamp(*a): raise KeyError('k')": "candidate:raise: KeyError: 'k'",
    "def clamp(*a): assert a[0] == 9, 'mine'": "candidate:raise: AssertionError: mine",
    "def clamp(x, lo): return x": "candidate:raise: TypeError: clamp() takes 2 positional arguments but 3 were given",
    "x = 1": "candidate:raise: AttributeError: the candidate has no clamp",
    "import sys\nsys.exit(0)": "candidate:exit: 0",
    "raise SystemExit": "candidate:exit: None",
    "import os\nos._exit(0)": "candidate:exit: exit code 0",
    "import os\nos._exit(137)": "candidate:exit: exit code 137",
    "def clamp(*a):\n    import os\n    os._exit(0)": "candidate:exit: exit code 0",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)": "candidate:died: SIGKILL",
    "import ctypes\nctypes.string_at(0)": "candidate:died: SIGSEGV",
    "def clamp(*a): return 'x' * 10**11": "candidate:memory: MemoryError",
    "def clamp(*a):\n    while True: pass": "candidate:cpu: over 1,000 ms of CPU time",
    "while True: pass": "candidate:cpu: over 1,000 ms of CPU time",
    "while True: print('Traceback (most recent call last):')": "candidate:output: over 65,536 bytes of output",
    "class A: pass\ndef clamp(*a): return A()": "candidate:not_plain: A",
    "def clamp(*a): return 1 << 2**22": "candidate:oversize: an integer of 4,194,305 bits",
    "def clamp(*a): return None": "exit: None != 2",
    "print('Traceback')\ndef clamp(*a): return 3": "exit: 3 != 2",
    "def clamp(x, lo, hi):\n    return lo if x < lo else hi if x > hi else x": "pass",
}


def test_whatever_a_candidate_causes_is_its_failure_with_its_name() -> None:
    found = code(CLAMP, list(CANDIDATES), BRIEF)
    assert dict(zip(CANDIDATES, found, strict=True)) == CANDIDATES


def test_a_candidate_that_sleeps_is_named_as_such() -> None:
    sleepers = ["import time\ntime.sleep(1e6)", "def clamp(*a):\n    import time\n    time.sleep(1e6)"]
    assert code(CLAMP, sleepers, SLEEPY) == ["candidate:timeout: over 3,000 ms"] * 2


def test_what_is_no_program_never_meets_the_check() -> None:
    outputs = [
        "Sure! Here is the function you asked for.",
        "```python\nx = 1\n```",
        "def clamp(x, lo, hi):\n    return max(lo, min(x",
        "x = 1\0",
        "(" * 5_000,
        "x = " + "-" * 200_000 + "1",
        "x = " + "+".join("a" * 200_000),
        "x" + ".a" * 200_000,
    ]
    found = code(CLAMP, outputs, BRIEF)
    assert found[:4] == [
        "not_python: invalid syntax at line 1",
        "not_python: invalid syntax at line 1; the output is in a code fence, which `extract: fenced` takes",
        "not_python: '(' was never closed at line 2",
        "not_python: source code string cannot contain null bytes",
    ]
    assert {reason.partition(":")[0] for reason in found[4:]} <= {"not_python", "limit"}


def test_the_one_fenced_block_reaches_the_check() -> None:
    outputs = [
        f"Here you are:\n\n```python\n{GOOD}```\nHappy to help!",
        f"```\n{GOOD}```\n```\n{GOOD}```",
        GOOD,
        f"```py\n{GOOD}",
    ]
    assert code(CLAMP, outputs, extract="fenced") == [
        "pass",
        "many_blocks: there are 2 fenced blocks, not one",
        "no_block: there is no fenced block",
        "no_block: the code fence is not closed",
    ]


CHECKS = {
    "nope": "checker:crash: NameError: name 'nope' is not defined (check.py, line 1)",
    "import nopenope": "checker:crash: ModuleNotFoundError: No module named 'nopenope' (check.py, line 1)",
    "import _candidate as c\nc.clamp(1, 0, 2)\nnope": "checker:crash: NameError: name 'nope' is not defined (check.py, line 3)",
    "import os\nos._exit(0)": "checker:crash: it ended with exit code 0 and without a verdict",
    "import ctypes\nctypes.string_at(0)": "checker:crash: it ended with SIGSEGV and without a verdict",
    "while True: pass": "checker:timeout: over 1,000 ms of CPU time",
    "import _candidate\n_candidate.clamp(1, 0, 2)\nwhile True: pass": "checker:timeout: over 1,000 ms of CPU time",
    "while True: print('x' * 999)": "checker:output: over 65,536 bytes of output",
    "x = 'x' * 10**11": "checker:crash: MemoryError (check.py, line 1)",
    "import _candidate as c\nc.clamp(len, 0, 2)": f"{REFUSED} passes an argument of type builtin_function_or_method, {CARRIES}",
    "import _candidate\n_candidate.LIMIT = 3": f"{REFUSED} sets _candidate.LIMIT, {CARRIES}",
    "import _candidate\nassert _candidate.clamp(1, 0, 2) == 2, 'off'": "assert: off",
    "import _candidate as c\nc.clamp(1, 0, 2)['a']": "raised: TypeError: 'int' object is not subscriptable (check.py, line 2)",
    "try:\n    import _candidate\n    assert _candidate.clamp(1, 0, 2) == 1\nfinally:\n    raise SystemExit(0)": "pass",
}


def test_what_the_check_does_by_itself_is_no_failure_of_the_model() -> None:
    found = each(list(CHECKS), GOOD, BRIEF)
    assert dict(zip(CHECKS, found, strict=True)) == CHECKS


def test_a_check_that_sleeps_is_a_checker_error() -> None:
    asleep = "import _candidate, time\n_candidate.clamp(1, 0, 2)\ntime.sleep(1e6)"
    assert code(asleep, [GOOD], SLEEPY) == ["checker:timeout: over 3,000 ms"]


HEAVY = """
import _candidate
value = _candidate.f()
value = value if isinstance(value, (dict, list)) else list(value)
assert value == {"a": 1}, len(value)
"""
# Written past our side of the wire, so that the candidate pays less for its reply than the check.
RAW = """
import os, struct
def f():
    body = BODY
    data = struct.pack(">I", len(body)) + body
    while data: data = data[os.write(5, data):]
    os.read(4, 1)
"""


def raw(body: str) -> str:
    """A candidate whose reply are these bytes, an expression."""
    return RAW.replace("BODY", body)


def test_a_reply_that_uses_up_the_check_is_the_candidates_doing() -> None:
    collisions = "b','.join(b'%d,0' % (i * ((1 << 61) - 1)) for i in range(1, 40_000))"
    chain = "b','.join(b'[\"l\",-1,[[\"@\",%d]]]' % min(i + 1, 19_999) for i in range(20_000))"
    itself = 'b\'["returned",[["l",-1,[\' + b\'["@",0],\' * 2_000_000 + b\'0]]],["@",0]]\''
    candidates = {
        raw(f"b'[\"returned\",[[\"d\",-1,[' + {collisions} + b']]],[\"@\",0]]'"): ("candidate:cpu: over 1,000 ms of CPU time w",),
        raw(f"b'[\"returned\",[' + {chain} + b'],[\"@\",0]]'"): ("assert: 1",),
        raw("b'[' + b' ' * 2**24 + b']'"): ("candidate:oversize: a message of",),
        raw(itself): ("candidate:memory: ", "candidate:cpu: "),
        "def f(): return ['a' * 100] * 100_000": ("assert: 100000",),
        "def f(): return range(10**15)": ("candidate:memory: ", "candidate:cpu: "),
        "import itertools\ndef f(): return itertools.count()": ("candidate:cpu: ", "candidate:memory: "),
    }  # fmt: skip
    found = code(HEAVY, list(candidates), BRIEF)
    assert [f.startswith(want) for f, want in zip(found, candidates.values(), strict=True)] == [True] * len(found), found


@pytest.mark.parametrize(
    "limits", [PATIENT, CheckLimits(timeout_ms=120_000, isolation="in_process")], ids=["split", "in_process"]
)
@pytest.mark.parametrize("how", ["from _candidate import *\nf", "from _candidate import f\nf", "import _candidate\n_candidate.f"])
def test_a_name_that_the_candidate_lacks_is_its_failure_however_it_is_asked_for(how: str, limits: CheckLimits) -> None:
    missing, there = code(f"{how}(1)\n", ["g = 1\n", "def f(x): return x\n"], limits)
    assert missing.startswith(
        ("candidate:raise: NameError: ", "candidate:raise: ImportError: ", "candidate:raise: AttributeError: ")
    )
    assert there == "pass"


def test_a_check_cannot_swallow_the_end_of_its_candidate() -> None:
    check = """
import _candidate
try:
    _candidate.clamp(1, 0, 2)
except BaseException:
    pass
"""
    candidates = ["def clamp(*a):\n    import os\n    os._exit(0)", "class A: pass\ndef clamp(*a): return A()", GOOD]
    assert code(check, candidates) == ["candidate:exit: exit code 0", "candidate:not_plain: A", "pass"]


FORGERS = {
    "a verdict on every descriptor": """
import os, struct, json
body = json.dumps(["0" * 32, "pass", ""]).encode()
for descriptor in range(1, 256):
    try: os.write(descriptor, struct.pack(">I", len(body)) + body)
    except OSError: pass
def clamp(*a): return None
""",
    "an object that equals everything": """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
def clamp(*a): return Equal()
""",
    "a number that equals everything": """
class Equal(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = int.__hash__
def clamp(*a): return Equal(7)
""",
    "the frames of its callers": """
import sys
def clamp(*a):
    frame = sys._getframe()
    while frame:
        for names in (frame.f_globals, frame.f_locals):
            if "expect" in names: names["expect"] = lambda *a: None
        frame = frame.f_back
    return None
""",
    "our own modules": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("evalaction"):
        for key, value in list(vars(module).items()):
            if callable(value) and key[0].isupper():
                for method in ("end", "add", "write"):
                    if hasattr(value, method): setattr(value, method, lambda *a, **k: None)
def clamp(*a): return None
""",
    "replies ahead of the calls": """
import os, struct, json
def say(message):
    body = json.dumps(message).encode()
    os.write(5, struct.pack(">I", len(body)) + body)
say(["names", [["clamp", "function", None], ["expect", "function", None], ["__eq__", "function", None]], ["clamp"]])
for value in (2, 0, "SystemExit"):
    say(["raised", [value], [], None] if isinstance(value, str) else ["returned", [], value])
os._exit(0)
""",
    "an exit on the way out": "import atexit, os\natexit.register(os._exit, 0)\ndef clamp(*a): return None",
    "a thread that ends the process": """
import threading, os, time
threading.Thread(target=lambda: (time.sleep(0.01), os._exit(0)), daemon=True).start()
def clamp(*a):
    time.sleep(1)
    return 2
""",
}


def test_forgers_fail() -> None:
    found = dict(zip(FORGERS, code(CLAMP, list(FORGERS.values())), strict=True))
    assert "pass" not in found.values(), found
    assert not [reason for reason in found.values() if reason.startswith("checker:")], found


def test_what_lies_beside_the_check_is_found_by_it_and_by_nobody_else() -> None:
    check = """
import json
from pathlib import Path
import _candidate
import nearby_help
for case in json.loads(Path(__file__).parent.joinpath("cases.json").read_text()):
    nearby_help.expect(_candidate.f(case), 2 * case)
"""
    beside = {"nearby_help.py": b"def expect(got, want):\n    assert got == want, (got, want)\n", "cases.json": b"[1, 2]"}
    candidates = [
        "def f(x): return 2 * x",
        "def f(x): return x + 1",
        "import nearby_help\ndef f(x): return 2 * x",
        "import os\ndef f(x): return [n for *_, f in os.walk('/') for n in f if n in ('cases.json', 'nearby_help.py')] or 2 * x",
    ]  # fmt: skip
    assert code(check, candidates, beside=beside) == [
        "pass", "assert: (3, 4)", "candidate:raise: ModuleNotFoundError: No module named 'nearby_help'", "pass",
    ]  # fmt: skip


def test_two_candidates_of_one_size_within_a_second_are_told_apart() -> None:
    right, wrong = "def clamp(x, lo, hi): return max(lo, min(x, hi))", "def clamp(x, lo, hi): return min(lo, max(x, hi))"
    assert len(right) == len(wrong)
    assert code(CLAMP, [right, wrong] * 3, PATIENT) == ["pass", "exit: 0 != 2"] * 3


def test_text_of_any_kind_reaches_candidate_and_check() -> None:
    check = r"""
import _candidate
assert _candidate.f("ü\ud800\0") == "ü\ud800\0é", ascii(_candidate.f("x"))
assert "# é" in _candidate.__source__
"""
    assert code(check, ["# é\ndef f(x): return x + 'é'"]) == ["pass"]


LIVE = """
import asyncio
from decimal import Decimal
import _candidate

stack = _candidate.Stack()
stack.push(Decimal("1.5"))
assert stack.pop() == Decimal("1.5")
assert _candidate.twice(lambda x: x + 1, 1) == 3
assert asyncio.run(_candidate.later()) == 1
"""
LIVING = """
class Stack:
    def __init__(self): self.held = []
    def push(self, x): self.held.append(x)
    def pop(self): return self.held.pop()
def twice(f, x): return f(f(x))
async def later(): return 1
"""
IN_PROCESS = CheckLimits(timeout_ms=120_000, cpu_ms=1_000, isolation="in_process")


def test_in_one_process_live_objects_are_carried_and_a_pass_can_be_forged() -> None:
    forger = """
import sys
def twice(*a): return None
frame = sys._getframe()
while frame:
    verdict = frame.f_locals.get("verdict")
    if verdict is not None:
        verdict.end("pass", "")
    frame = frame.f_back
"""
    candidates = {
        LIVING: "pass",
        LIVING.replace("f(f(x))", "f(x)"): "assert: assert _candidate.twice(lambda x: x + 1, 1) == 3 (check.py, line 9)",
        "import sys\nsys.exit(0)": "candidate:exit: 0",
        "import os\nos._exit(0)": "candidate:exit: exit code 0",
        "import ctypes\nctypes.string_at(0)": "candidate:died: SIGSEGV",
        "1 / 0": "candidate:raise: ZeroDivisionError: division by zero",
        "while True: pass": "checker:timeout: over 1,000 ms of CPU time",
        forger: "pass",
    }
    found = code(LIVE, list(candidates), IN_PROCESS)
    assert dict(zip(candidates, found, strict=True)) == candidates
    assert code(LIVE, [forger]) == ["candidate:raise: AttributeError: the candidate has no Stack"]


def test_a_candidate_cannot_make_itself_look_starved() -> None:
    candidates = [
        "import os\nos.nice(19)\nwhile True: pass",
        "import os\nos.setpriority(os.PRIO_PROCESS, 0, 19)",
        "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
    ]
    assert code(CLAMP, candidates, BRIEF) == ["candidate:raise: PermissionError: [Errno 1] Operation not permitted"] * 3


CLAMPS = item(Check(kind="code", file="t/check.py"))
FILES = {"t/check.py": CLAMP.encode()}


def test_leaving_the_judge_ends_what_is_under_way() -> None:
    async def run() -> list[Judgement | BaseException]:
        async with Judge([CLAMPS], PATIENT, 2, files=FILES, rung=best_rung()) as judge:
            asleep = [judge(CLAMPS, reached("import time\ntime.sleep(1e6)")) for _ in range(3)]
            assert (await judge(CLAMPS, reached("x ="))).columns.verdict == "fail"
            await asyncio.sleep(0.2)
        return list(await asyncio.gather(*asleep, return_exceptions=True))

    found = asyncio.run(asyncio.wait_for(run(), 60))
    assert [type(one) for one in found] == [asyncio.CancelledError] * 3


def test_without_a_box_nothing_is_run() -> None:
    async def run() -> None:
        async with Judge([CLAMPS], PATIENT, 2, files=FILES) as judge:
            await judge(CLAMPS, reached(GOOD))

    with pytest.raises(EvalactionError, match="no box was opened") as caught:
        asyncio.run(asyncio.wait_for(run(), 60))
    assert caught.value.code == "no_box"


def test_an_output_that_may_not_be_quoted_leaves_only_words() -> None:
    async def run() -> list[Judgement]:
        outputs = ["def clamp(*a): return 'sk-0123456789'", "raise ValueError('sk-0123456789')", "sk-0123456789 = "]
        async with Judge([CLAMPS], PATIENT, 2, files=FILES, rung=best_rung(), quotable=lambda text: "sk-" not in text) as judge:
            return await asyncio.gather(*(judge(CLAMPS, reached(output)) for output in outputs))

    columns = [one.columns for one in asyncio.run(asyncio.wait_for(run(), 60))]
    assert [one.contract_reason or one.check_reason for one in columns] == ["exit", "candidate:raise", "not_python"]


def test_a_secret_that_a_candidate_puts_together_is_searched_for_before_the_reason_is_cut() -> None:
    """Half of it, at the end of a cut reason, would be found by no search."""
    output = "def clamp(*a): return 'x' * 205 + 'sk-' + '0123456789' * 3"

    async def run() -> Judgement:
        quotable = lambda text: "sk-" + "0123456789" * 3 not in text  # noqa: E731
        async with Judge([CLAMPS], PATIENT, 2, files=FILES, rung=best_rung(), quotable=quotable) as judge:
            return await judge(CLAMPS, reached(output))

    assert asyncio.run(asyncio.wait_for(run(), 60)).columns.check_reason == "exit"
