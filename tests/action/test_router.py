"""The router of the examples through act: its program at base and at head, in the box, from a commit to the comment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.act import ROOT
from support.endpoint_server import Received, answering
from support.site import Site

from evalaction.errors import UsageError
from evalaction.sandbox.rungs import find_rung

pytestmark = pytest.mark.action

EXAMPLE = ROOT / "examples" / "router"
RULES = "examples/router/router/rules.json"
ONE_BROKEN = b'[\n  {"word": "animal:", "route": "animal"},\n  {"word": "which", "route": "city"}\n]\n'
SAME_IN_FEWER = b'[{"word": "animal", "route": "animal"}]\n'
TASKS = [json.loads(line) for line in (EXAMPLE / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
RIGHT = {task["prompt"].partition(": ")[2]: task["check"]["pattern"].removeprefix("(?i)^").removesuffix("$") for task in TASKS}
CITY = {task["prompt"].partition(": ")[2] for task in TASKS if task["tags"] == ["city"]}


def model(received: Received) -> str:
    """Knows the answer, if the examples that it is shown are of the same kind."""
    messages = received.json["messages"]
    sentence, shown = messages[-1]["content"], messages[1]["content"]
    return RIGHT[sentence] if (sentence in CITY) == (shown == "Oslo") else "Vienna"


@pytest.fixture
def router(site: Site) -> Site:
    """`main` holds the example with one draw an item; the model's address is the only variable."""
    try:
        find_rung(allow_unsafe=False, image=None)
    except UsageError as error:
        pytest.skip(f"no box on this machine: {error}")
    files: dict[str, bytes] = {}
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    card = files["examples/router/card.yaml"].replace(b"count: 2", b"count: 1")
    site.repo.write(files | {"examples/router/card.yaml": card})
    command = [sys.executable, "-m", "evalaction", "lock", "examples/router/card.yaml"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=site.repo.root, env=environ, check=True, capture_output=True)
    site.base = site.repo.commit()
    site.server.behaviour = answering(model)
    return site


def judged(router: Site) -> Any:
    return router.run(Path(EXAMPLE / "evaluation.yml"), secrets={}, variables={"MODEL_URL": router.server.url})


def test_a_pull_request_that_breaks_one_route(router: Site) -> None:
    router.push({RULES: ONE_BROKEN})
    ran = judged(router)
    assert ran.jobs == {"evaluation": "failure"}, ran.log
    assert (ran.outputs["outcome"], ran.outputs["breaks"]) == ("fail", "behind"), ran.log
    assert (ran.outputs["first-pass"], ran.outputs["reach"]) == ("42/84", "84/84")
    assert len(router.server.requests) == 168
    comment = router.comment
    assert "## ❌ our-router: treatment is behind" in comment
    assert "One lever moved: program" in comment and '+  {"word": "which", "route": "city"}' in comment
    by_tag = [line for line in comment.splitlines() if line.startswith("| <code>animal</code> | treatment")]
    assert len(by_tag) == 1 and "0/42" in by_tag[0]


def test_a_pull_request_that_only_tidies_up(router: Site) -> None:
    router.push({RULES: SAME_IN_FEWER})
    ran = judged(router)
    assert ran.jobs == {"evaluation": "success"}, ran.log
    assert (ran.outputs["outcome"], ran.outputs["first-pass"]) == ("pass", "84/84")
    assert "within 10 points" in router.comment


def test_a_pull_request_that_does_not_touch_the_router(router: Site) -> None:
    router.push({"README.md": b"Hello.\n"})
    ran = judged(router)
    assert (ran.jobs, ran.outputs["outcome"]) == ({"evaluation": "success"}, "unchanged"), ran.log
    assert router.server.requests == []
