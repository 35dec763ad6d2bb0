"""One question, one answer, through the whole action: what each way to ask again comes to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.action import Demo, demo_at
from support.command import right
from support.endpoint_server import answering, fault

from evalaction.registration.lock import lock


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    """A pull request whose model was wrong: the verdict that somebody wants to be rid of. The model is right from now on."""
    with demo_at(tmp_path) as one:
        one.model.behaviour = answering(lambda _: "no")
        one.change({"prompt.md": b"Be very brief.\n"})
        assert one.step().code == 1
        one.model.behaviour = answering(lambda received: str(received.json["messages"][-1]["content"]).strip("Say ."))
        yield one


def rerun(demo: Demo) -> None:
    demo.merge()


def empty_commit(demo: Demo) -> None:
    demo.change()


def amended(demo: Demo) -> None:
    demo.amend("another message")


def reordered(demo: Demo) -> None:
    value = json.loads((demo.root / "card.yaml").read_bytes())
    shuffled = json.dumps(dict(reversed(value.items())), indent=1)
    demo.change({"card.yaml": shuffled.encode()})


@pytest.mark.parametrize("reroll", [rerun, empty_commit, amended, reordered])
def test_asking_again_changes_nothing(demo: Demo, reroll: Callable[[Demo], None]) -> None:
    asked = demo.model.count
    reroll(demo)
    step = demo.step(env={"GITHUB_RUN_ATTEMPT": "2"})
    assert step.code == 1 and step.outputs["outcome"] == "fail" and step.outputs["reused"] == "true", step.log
    assert demo.model.count == asked
    assert "answered before" in demo.comment() and "/actions/runs/1001" in demo.comment()
    assert step.outputs["check"] == "0/8"


def test_deleting_the_comment_draws_again_and_says_so(demo: Demo) -> None:
    asked = demo.model.count
    demo.github.hub.repositories["octo/demo"].comments.clear()
    step = demo.step()
    assert step.code == 0 and demo.model.count == 2 * asked
    assert "No earlier comment of ours is on this pull request" in demo.comment()


def test_another_authors_copy_of_our_comment_answers_nothing(demo: Demo) -> None:
    body = demo.comment().replace("❌", "✅")
    demo.github.hub.repositories["octo/demo"].comments.clear()
    demo.github.hub.add_comment("octo/demo", 7, "somebody", body)
    asked = demo.model.count
    assert demo.step().outputs["reused"] == "false" and demo.model.count == 2 * asked


def test_there_and_back_is_remembered(demo: Demo) -> None:
    demo.change({"prompt.md": b"Another.\n"})
    assert demo.step().outputs["reused"] == "false"
    asked = demo.model.count
    demo.change({"prompt.md": b"Be very brief.\n"})
    step = demo.step()
    assert step.code == 1 and step.outputs["reused"] == "true" and demo.model.count == asked


def test_a_redraw_is_by_dispatch_and_counted(demo: Demo) -> None:
    refused = demo.step(env={"EVALACTION_REDRAW": "true"})
    assert refused.code == 2 and "workflow_dispatch" in refused.log
    demo.repo.git("checkout", "--quiet", "topic")  # a dispatch runs on a branch, not on the merge
    forced = demo.step(
        "workflow_dispatch",
        {"inputs": {"pr-number": "7"}, "repository": {"full_name": "octo/demo", "default_branch": "main"}},
        env={"EVALACTION_REDRAW": "true", "GITHUB_REF": "refs/heads/topic"},
    )
    assert forced.code == 0 and forced.outputs["reused"] == "false", forced.log
    assert "forced by a dispatch" in demo.comment()
    demo.merge()
    assert demo.step().outputs["reused"] == "true"


def test_two_cards_have_their_own_answers(demo: Demo) -> None:
    value = json.loads((demo.root / "card.yaml").read_bytes()) | {"name": "second"}
    value["draws"]["count"] = 1
    demo.repo.git("checkout", "--quiet", "topic")
    demo.repo.write({"second.yaml": json.dumps(value).encode()})
    lock(demo.root / "second.yaml")
    demo.head = demo.repo.commit()
    demo.merge()
    asked = demo.model.count
    step = demo.step(env={"EVALACTION_CARD": "*.yaml"})
    assert [(card["card"], card["reused"]) for card in step.cards()] == [("card.yaml", True), ("second.yaml", False)], step.log
    assert demo.model.count == asked + 4 and step.outputs["outcome"] == "fail"
    assert demo.step(env={"EVALACTION_CARD": "*.yaml"}).outputs["reused"] == "true" and demo.model.count == asked + 4


def test_inconclusive_is_drawn_again_counted_and_ends_with_the_first_verdict(tmp_path: Path) -> None:
    with demo_at(tmp_path) as demo:
        lost = answering(right)
        demo.model.behaviour = lambda received: fault("reset") if received.number % 2 else lost(received)
        demo.change({"prompt.md": b"Be very brief.\n"})
        for attempt in (1, 2):
            step = demo.step()
            assert step.code == 5 and step.outputs["outcome"] == "inconclusive" and step.outputs["reused"] == "false", step.log
            assert f"Attempt {attempt} at" in demo.comment() or attempt == 1
        demo.model.behaviour = answering(lambda _: "no")
        assert demo.step().code == 1 and "Attempt 3 at this question" in demo.comment()
        asked = demo.model.count
        demo.model.behaviour = lost
        for _ in range(2):  # the answer is still known after it was shown again
            assert demo.step().code == 1 and demo.model.count == asked
        assert "attempt 3" in demo.comment()
