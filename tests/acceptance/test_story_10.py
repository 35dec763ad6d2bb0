"""Story 10: a prompt that writes code. Through the real command, against an endpoint on loopback, in the real box."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from support.command import Make, Project, Serve, gated
from support.endpoint_server import answering
from support.programs import best_rung

CLAMP = b"""
import _candidate

def expect(got, want):
    if got != want:
        raise SystemExit(f"{got!r} != {want!r}")

expect(_candidate.clamp(3, 0, 2), 2)
expect(_candidate.clamp(-1, 0, 2), 0)
expect(_candidate.clamp(1, 0, 2), 1)
"""
SLUG = b"from _candidate import slug\nfrom cases import CASES\nfor text, want in CASES:\n    assert slug(text) == want, text\n"
CASES = b"CASES = [('A b', 'a-b'), ('x', 'x')]\n"
STACK = b"import _candidate\nstack = _candidate.Stack()\nstack.push(1)\nassert stack.pop() == 1\n"
LIVING = """class Stack:
    def __init__(self): self.held = []
    def push(self, x): self.held.append(x)
    def pop(self): return self.held.pop()
"""
ANSWERS = {
    "clamp": "Here it is:\n\n```python\ndef clamp(x, lo, hi):\n    return max(lo, min(x, hi))\n```\n",
    "wrong": "```python\ndef clamp(x, lo, hi):\n    return x\n```\n",
    "slug": "```\ndef slug(text):\n    return '-'.join(text.lower().split())\n```",
    "prose": "Sure! I would clamp the number between the two bounds.",
    "broken": "```python\ndef clamp(x, lo, hi):\n    return max(lo, min(x, hi)\n```",
    "loop": "```python\ndef clamp(x, lo, hi):\n    while True: pass\n```",
    "exit": "```python\nimport sys\nsys.exit(0)\n```",
    "leave": "```python\nimport os\ndef clamp(x, lo, hi):\n    os._exit(0)\n```",
    "print": "```python\nprint('Traceback')\ndef clamp(x, lo, hi):\n    return None\n```",
    "stack": f"```python\n{LIVING}```",
}
EXPECTED = {
    "clamp": "",
    "wrong": "check exit: 3 != 2",
    "slug": "",
    "prose": "contract no_block: there is no fenced block",
    "broken": "contract not_python: '(' was never closed at line 2",
    "loop": "check candidate:cpu: over 1,000 ms of CPU time",
    "exit": "check candidate:exit: 0",
    "leave": "check candidate:exit: exit code 0",
    "print": "check exit: None != 2",
    "stack": "check candidate:not_plain: Stack",
}


def task(name: str, check: bytes, **fields: Any) -> dict[str, bytes]:
    made = {"id": name, "prompt": f"Write {name}.", "extract": "fenced"} | fields
    return {f"tasks/{name}/task.json": json.dumps(made).encode(), f"tasks/{name}/check.py": check}


def files(**references: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {"prompt.md": b"Answer with one fenced block of Python.\n", "tasks/slug/cases.py": CASES}
    for name in ANSWERS:
        found |= task(name, {"slug": SLUG, "stack": STACK}.get(name, CLAMP))
    return found | {f"tasks/{name}/reference.py": code.encode() for name, code in references.items()}


def card(**changes: Any) -> dict[str, Any]:
    checks = {"cpu_ms": 1_000, "timeout_ms": 120_000} | changes.pop("checks", {})
    return gated(2, {"exam.tasks": "tasks", "checks": checks, "limits": ..., "draws.timeout_ms": 60_000, **changes})


def answer(received: Any) -> str:
    return ANSWERS[received.json["messages"][-1]["content"].removeprefix("Write ").removesuffix(".")]


@pytest.fixture
def project(make: Make, serve: Serve) -> Project:
    best_rung()
    return make(card(), files(), url=serve(answering(answer)).url)


def told(rows: list[dict[str, Any]]) -> Mapping[str, str]:
    """Column and reason of each item, equal in both draws."""
    found: dict[str, set[str]] = {}
    for row in rows:
        contract, check = row.get("contract_reason"), row.get("check_reason")
        found.setdefault(row["item"], set()).add(f"contract {contract}" if contract else f"check {check}" if check else "")
    return {item: reasons.pop() if len(reasons) == 1 else str(reasons) for item, reasons in found.items()}


def test_what_a_model_wrote_is_judged_and_nothing_passes_by_exiting_early(project: Project) -> None:
    done = project.run()
    assert told(project.rows()) == EXPECTED, done.said
    comment, manifest = project.comment(), json.loads((project.root / "run" / "manifest.json").read_bytes())
    assert manifest["isolation"]["name"] in ("namespaces", "landlock") and manifest["isolation"]["checks"] == "split"
    assert "candidate:cpu" in comment.replace("&#58;", ":") and "isolation" in comment
    assert "returned something else than plain data" in comment and "stack" in comment
    assert done.code == 0 and project("score", "run").code == 0 and "isolation" in project("report", "run").out


def test_a_check_that_needs_live_objects_may_share_a_process_and_every_report_says_so(make: Make, serve: Serve) -> None:
    best_rung()
    project = make(card(checks={"isolation": "in_process"}), files(), url=serve(answering(answer)).url)
    project.run()
    reasons = told(project.rows())
    assert (reasons["stack"], reasons["clamp"], reasons["wrong"]) == ("", "", "check exit: 3 != 2")
    assert reasons["loop"] == "check checker:timeout: over 1,000 ms of CPU time"
    assert "forge its pass" in project.comment() and "in_process, forgeable" in project("report", "run").out


def test_files_of_the_exam_that_change_during_a_run_leave_it_unsealed(make: Make, serve: Serve) -> None:
    best_rung()
    made: list[Project] = []

    def meddling(received: Any) -> str:
        (made[0].root / "tasks" / "clamp" / "check.py").write_bytes(b"import _candidate\n")
        return answer(received)

    made.append(make(card(), files(), url=serve(answering(meddling)).url))
    done = made[0].run()
    assert done.code == 4 and "tasks/clamp/check.py" in done.err and "changed while the run was under way" in done.err
    last = (made[0].root / "run" / "rows.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert "item" in json.loads(last)


CLAMPED = "def clamp(x, lo, hi):\n    return max(lo, min(x, hi))\n"


def test_verify_tries_references_and_names_what_split_checking_cannot_carry(make: Make) -> None:
    best_rung()
    project = make(card(), files(clamp=CLAMPED, loop=CLAMPED))
    done = project("verify")
    assert done.code == 0 and "2 references passed, in a box" in done.out, done.said
    assert "makes an instance of _candidate.Stack (line 2)" in done.out and "which split checking does not carry" in done.out
    wrong = make(card(), files(clamp="def clamp(x, lo, hi):\n    return x\n", stack=LIVING))
    done = wrong("verify")
    assert done.code == 2 and "reference_fails" in done.out, done.said
    assert "exit: 3 != 2" in done.out and "candidate:not_plain: Stack" in done.out


def test_verify_runs_each_check_twice_when_asked(make: Make) -> None:
    best_rung()
    moody = b"import os, _candidate\nassert _candidate.clamp(1, 0, 2) == 1\nassert os.urandom(1)[0] < 128\n"
    lenient = b"import _candidate\n"
    exam = {"prompt.md": b"Code.\n"} | task("steady", CLAMP) | task("lenient", lenient)
    exam |= {f"tasks/{name}/reference.py": CLAMPED.encode() for name in ("steady", "lenient")}
    project = make(card(), exam)
    done = project("verify", "--check-twice")
    assert done.code == 0 and "4 outputs judged twice, with the same verdict each time" in done.out, done.said
    assert "its check accepts a candidate that does nothing" in done.out and "lenient" in done.out
    for number in range(20):  # a fair coin says the same twice, twenty times over, once in a million runs
        exam |= task(f"moody{number}", moody) | {f"tasks/moody{number}/reference.py": CLAMPED.encode()}
    done = make(card(), exam)("verify", "--check-twice")
    assert done.code == 2 and "check_unsteady" in done.out and "of one and the same reference" in done.out, done.said
