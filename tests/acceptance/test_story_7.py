"""Story 7: an expensive endpoint. What is not asked costs nothing: a budget, an answer of an earlier push, a wrong model name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import cards
from support.action import Demo, demo_at
from support.command import gated
from support.endpoint_server import response


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    price = {"endpoints.main.price": {"input": 1000, "output": 1000}}
    with demo_at(tmp_path, gated(draws=5, changes=price)) as one:
        yield one


def test_a_second_push_shows_the_earlier_verdict_and_makes_no_call(demo: Demo) -> None:
    demo.change({"prompt.md": b"Be very brief.\n"})
    first = demo.step()
    assert first.code == 0 and demo.model.count == 20, first.log
    demo.change({"README.md": b"Nothing of the question.\n"})
    second = demo.step()
    assert second.code == 0 and demo.model.count == 20
    assert second.outputs["reused"] == "true" and second.outputs["stable-pass"] == first.outputs["stable-pass"] == "4/4"
    assert "Nothing was drawn: this question was answered before" in demo.comment() and "See that run" in demo.comment()
    demo.change({"prompt.md": b"Be brief, please.\n"})
    third = demo.step()
    assert third.outputs["reused"] == "false" and demo.model.count == 40 and len(demo.comments()) == 1


def test_a_budget_refuses_before_the_first_call(demo: Demo) -> None:
    card = gated(draws=5, changes={"endpoints.main.price": {"input": 1000, "output": 1000}, "budget": {"usd": 0.5}})
    demo.change({"card.yaml": cards.text(card)}, locked=True)
    step = demo.step()
    assert step.code == 2 and demo.model.count == 0 and "usd" in step.log.lower(), step.log


def test_a_wrong_model_name_ends_after_the_first_draws(demo: Demo) -> None:
    demo.model.behaviour = lambda _: response({"error": {"message": "no such model"}}, status=404)
    demo.change({"prompt.md": b"Be very brief.\n"})
    step = demo.step()
    assert step.code == 7 and step.outputs["outcome"] == "unreachable" and demo.model.count == 4
    assert "status:404" in demo.comment().replace("&#58;", ":")
