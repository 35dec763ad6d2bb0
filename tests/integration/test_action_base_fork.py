"""A fork's pull request under a card whose control is base: the treatment has the head's files, everything else is base."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import cards
from support.action import NAME, NUMBER, Demo, Step, demo_at
from support.changes import against_base
from support.command import exam
from support.programs import best_rung

PROMPT = b"The fork's prompt.\n"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path, against_base()) as one:
        one.repo.git("checkout", "--quiet", one.base)
        yield one


def labeled(demo: Demo, changes: dict[str, bytes]) -> Step:
    """A maintainer labels a fork's head that has these files beside those of base."""
    objects = demo.github.hub.repository(NAME)
    files = {**exam(), "card.yaml": (demo.root / "card.yaml").read_bytes(), **changes}
    entries = {path: ("100644", "blob", objects.add_blob(data)) for path, data in files.items()}
    demo.head = objects.add_commit(objects.add_tree(entries), [], "head")
    demo.github.hub.add_pull(NAME, NUMBER, head_sha=demo.head, head_repo="somebody/demo", base_sha=demo.base)
    return demo.step("pull_request_target", {**demo.pull(fork=True), "action": "labeled", "label": {"name": "judge"}})


def status(demo: Demo) -> str:
    return str(demo.github.hub.repository(NAME).statuses[-1]["state"])


def test_the_heads_prompt_against_base(demo: Demo) -> None:
    easy = cards.jsonl([cards.item(0, expected="anything")])
    step = labeled(demo, {"prompt.md": PROMPT, "tasks.jsonl": easy, "conftest.py": b"raise SystemExit('ran')\n"})
    assert step.code == 0, step.log
    asked = [received.json["messages"][0]["content"] for received in demo.model.requests]
    assert {text: asked.count(text) for text in asked} == {PROMPT.decode(): 8, "Be brief.\n": 8}
    body = demo.comment()
    assert "Judged by a maintainer" in body and "One lever moved: prompt" in body and demo.base[:12] in body
    assert "that is not judged here" not in body and status(demo) == "success"


def test_nothing_of_the_arms_differs(demo: Demo) -> None:
    step = labeled(demo, {"README.md": b"x"})
    assert (step.code, step.outputs["outcome"], demo.model.count) == (0, "unchanged", 0), step.log
    assert status(demo) == "success"


@pytest.mark.parametrize(
    "card",
    [
        cards.text(against_base({"endpoints.main.model": "other"})),
        cards.text(against_base({"draws.count": 1})),
        b"protocol: evalaction/9\n",
    ],
)
def test_a_forks_card_is_not_believed_and_not_green_either(demo: Demo, card: bytes) -> None:
    alone = labeled(demo, {"card.yaml": card})
    assert (alone.code, alone.outputs["breaks"], demo.model.count) == (4, "card_not_judged", 0), alone.log
    assert status(demo) == "error"
    both = labeled(demo, {"card.yaml": card, "prompt.md": PROMPT})
    assert both.code == 0 and {received.json["model"] for received in demo.model.requests} == {"some-model"}
    assert "that is not judged here" in demo.comment()


def test_a_forks_prompt_that_needs_its_own_exam_is_told_whose_exam_it_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [{"id": f"t{number}", "vars": {"n": str(number)}, "expected": str(number)} for number in range(4)]
    files = {"tasks.jsonl": cards.jsonl(lines), "t.txt": b"Say {{n}}."}
    monkeypatch.setattr("support.action.exam", lambda _: files)
    card = against_base({"arms.treatment": {"endpoint": "main", "template": "t.txt"}})
    with demo_at(tmp_path, card) as demo:
        demo.repo.git("checkout", "--quiet", demo.base)
        own = cards.text(against_base({"arms.treatment": {"endpoint": "main", "template": "t.txt"}, "exam.sha256": "0" * 64}))
        step = labeled(demo, {**files, "t.txt": b"Say {{n}} {{more}}.", "card.yaml": own})
        assert step.code == 2 and demo.model.count == 0, step.log
        assert "are base's here: those of a fork are not read." in html.unescape(demo.comment()), step.summary


def test_words_in_the_card_judge_nothing(demo: Demo) -> None:
    renamed = (demo.root / "card.yaml").read_bytes().replace(b"support-triage", b"another name")
    assert labeled(demo, {"card.yaml": renamed}).outputs["outcome"] == "unchanged"


def test_a_forks_program_is_not_run_and_not_green_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    best_rung()
    router = {"api": "command", "run": ["python3", "main.py"], "paths": ["main.py"]}
    fields = {"endpoints": {"router": router}, "arms.treatment": {"endpoint": "router", "system": "prompt.md"}}
    files = {**exam(), "main.py": b"print(0)\n"}
    monkeypatch.setattr("support.action.exam", lambda _: files)
    with demo_at(tmp_path, against_base(fields)) as demo:
        demo.own_process = True
        demo.repo.git("checkout", "--quiet", demo.base)
        assert labeled(demo, {"main.py": files["main.py"], "README.md": b"x"}).outputs["outcome"] == "unchanged"
        alone = labeled(demo, {"main.py": b"print('ran')\n"})
        assert (alone.code, alone.outputs["breaks"], status(demo)) == (4, "program_not_judged", "error"), alone.log
        both = labeled(demo, {"main.py": b"print('ran')\n", "prompt.md": PROMPT})
        assert both.outputs["check"] == "2/8" and "The head changes the program of an endpoint too" in demo.comment()
