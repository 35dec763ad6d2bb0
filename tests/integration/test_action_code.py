"""The action with an exam whose checks run code: references in `verify` mode, and a whole job with a key beside the box."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.action import Demo, demo_at
from support.command import KEY
from support.endpoint_server import answering
from support.programs import best_rung

CHECK = b"import _candidate\nassert _candidate.double(4) == 8\n"
RIGHT, WRONG = "def double(x):\n    return 2 * x\n", "def double(x):\n    return x * x\n"
BARE = {"EVALACTION_MODE": "verify", "EVAL_KEY": None, "EVAL_URL": None}


def exam(reference: str, *, isolation: str = "split") -> dict[str, bytes]:
    card = {
        "protocol": "evalaction/1",
        "name": "doubling",
        "exam": {"tasks": "code", "data": "synthetic"},
        "endpoints": {"main": {"api": "openai", "url_env": "EVAL_URL", "key_env": "EVAL_KEY", "model": "some-model"}},
        "arms": {"treatment": {"endpoint": "main"}},
        "draws": {"count": 2, "timeout_ms": 20_000},
        "checks": {"isolation": isolation, "timeout_ms": 120_000},
        "limits": {"min_first_pass": 1},
    }
    return {
        "card.yaml": json.dumps(card).encode(),
        "code/double/task.json": b'{"prompt": "Write double(x)."}',
        "code/double/check.py": CHECK,
        "code/double/reference.py": reference.encode(),
    }


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    best_rung()
    with demo_at(tmp_path) as one:
        one.own_process = True
        yield one


def test_verify_mode_tries_the_references(demo: Demo) -> None:
    demo.change(exam(RIGHT), locked=True)
    step = demo.step(env=BARE)
    assert step.code == 0 and step.outputs["outcome"] == "registered", step.log
    assert "1 reference passed, in a box" in step.summary
    demo.change(exam(WRONG), locked=True)
    wrong = demo.step(env=BARE)
    assert wrong.code == 2 and wrong.outputs["breaks"] == "reference_fails", wrong.log
    assert "its reference does not pass" in wrong.summary and demo.model.count == 0


def test_a_candidate_that_prints_the_key_it_was_echoed_is_judged_without_it(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: f"K = {KEY!r}\nprint(K)\n\ndef double(x):\n    raise ValueError(K)\n")
    demo.change(exam(RIGHT), locked=True)
    step = demo.step()
    assert step.code == 1 and step.outputs["check"] == "0/2", step.log
    assert KEY not in demo.comment() + step.summary + step.log.replace(f"::add-mask::{KEY}", "")
    assert "isolation" in demo.comment()
    for path in step.run_dir.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
