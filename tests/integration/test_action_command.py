"""`evalaction action` on a pull request: one verdict, in place, and a job that ends rightly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import cards
from support.action import NAME, NUMBER, Demo
from support.command import gated, right
from support.endpoint_server import EndpointServer, answering, fault, serving
from support.github_api import StandIn, serve


@pytest.fixture
def github() -> Iterator[StandIn]:
    with serve() as stand_in:
        yield stand_in


@pytest.fixture
def model() -> Iterator[EndpointServer]:
    with serving(answering(right)) as server:
        yield server


@pytest.fixture
def make(tmp_path: Path, github: StandIn, model: EndpointServer) -> Callable[..., Demo]:
    return lambda **how: Demo(tmp_path / "demo", github, url=model.url, **how)


def test_first_verdict(make: Callable[..., Demo], model: EndpointServer) -> None:
    demo = make()
    head = demo.change({"prompt.md": b"Be very brief.\n"})
    step = demo.step()
    assert step.code == 0, step.log
    assert model.count == 8
    body = demo.comment()
    assert body.startswith("<!-- evalaction:comment ")
    assert "✅ support-triage" in body and demo.base[:12] in body
    assert step.outputs["outcome"] == "pass" and step.outputs["check"] == "8/8" and step.outputs["reused"] == "false"
    assert step.outputs["comment-url"].endswith(str(demo.comments()[0].id))
    assert json.loads(Path(step.outputs["results-path"]).read_bytes())
    assert "✅ support-triage" in step.summary and "✅ support-triage" in Path(step.outputs["report-path"]).read_text("utf-8")
    assert step.annotations() == [] and head


def test_failed_limit(make: Callable[..., Demo], model: EndpointServer) -> None:
    model.behaviour = answering(lambda _: "no")
    demo = make()
    demo.change({"prompt.md": b"Be very brief.\n"})
    step = demo.step()
    assert step.code == 1, step.log
    assert step.outputs["outcome"] == "fail" and "limit:treatment:min_stable_pass" in step.outputs["breaks"]
    line = next(
        number for number, text in enumerate((demo.root / "card.yaml").read_text().splitlines(), 1) if "min_stable_pass" in text
    )
    assert f"::error title=fail%3A support-triage,file=card.yaml,line={line}::" in step.log
    assert "❌" in demo.comment()
    assert demo.step(env={"EVALACTION_FAIL_ON": "inconclusive"}).code == 0
    assert "fail-on" in demo.comment() or "answered before" in demo.comment()


def test_same_question_twice(make: Callable[..., Demo], model: EndpointServer) -> None:
    demo = make()
    demo.change({"prompt.md": b"Be very brief.\n"})
    first = demo.step()
    before, body = model.count, demo.comment()
    demo.change({"README.md": b"Other.\n"})
    second = demo.step()
    assert second.code == first.code == 0 and model.count == before, second.log
    assert second.outputs["reused"] == "true" and second.outputs["check"] == first.outputs["check"]
    assert "answered before" in demo.comment() and demo.comment() != body
    assert "actions/runs/1001" in demo.comment() and len(demo.comments()) == 1


def test_tampered_tasks(make: Callable[..., Demo], model: EndpointServer) -> None:
    demo = make()
    demo.change({"tasks.jsonl": cards.exam_text(3)})
    step = demo.step()
    assert step.code == 4 and model.count == 0
    assert step.outputs["outcome"] == "unregistered" and "hash_mismatch" in step.outputs["breaks"]
    assert "⛔" in demo.comment()


def test_two_cards(make: Callable[..., Demo], model: EndpointServer) -> None:
    demo = make()
    other = gated(changes={"name": "other", "limits": {"min_stable_pass": 1.0}, "arms.treatment.system": "../prompt.md"})
    demo.repo.write({"cards/other.yaml": b"protocol: evalaction/9\n"})
    demo.change({"prompt.md": b"x\n"})
    step = demo.step(env={"EVALACTION_CARD": "card.yaml\ncards/*.yaml"})
    assert step.code == 2 and model.count == 8, step.log
    body = demo.comment()
    assert body.index("cards/other.yaml") < body.index("support-triage") and other
    assert [card["outcome"] for card in step.cards()] == ["usage", "pass"]
    assert step.outputs["outcome"] == "usage" and step.outputs["results-path"].endswith("cards.json")


def test_unreachable(make: Callable[..., Demo], model: EndpointServer) -> None:
    model.behaviour = lambda _: fault("reset")
    demo = make()
    demo.change({"prompt.md": b"x\n"})
    step = demo.step()
    assert step.code == 7 and step.outputs["outcome"] == "unreachable" and step.outputs["check"] == ""
    again = demo.step()
    assert again.code == 7 and "Attempt 2 at this question" in demo.comment()


def test_fork_without_secrets(make: Callable[..., Demo], model: EndpointServer, github: StandIn) -> None:
    demo = make()
    demo.change({"prompt.md": b"x\n"})
    step = demo.step(payload=demo.pull(fork=True), env={"EVAL_KEY": None, "EVAL_URL": None})
    assert step.code == 6 and model.count == 0
    assert "NOT RUN" in step.summary and "maintainer" in step.summary and step.outputs["outcome"] == "not_run"
    skipped = demo.step(
        payload=demo.pull(fork=True), env={"EVAL_KEY": None, "EVAL_URL": None, "EVALACTION_ON_MISSING_SECRETS": "skip"}
    )
    assert skipped.code == 0 and skipped.outputs["outcome"] == "not_run"
    assert github.hub.repository(NAME).pulls[NUMBER]
