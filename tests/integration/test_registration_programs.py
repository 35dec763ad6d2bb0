"""A team's own program is frozen like everything else: each of its files is compared with commit and index, the exam is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import cards
from support.registered import TASKS, Subject, delete, edit, link, more, stage

from evalaction.registration.freeze import freeze, verify
from evalaction.registration.lock import lock

MAIN, RULES = "router/main.py", "router/rules.json"


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    made = Subject(tmp_path / "repo")
    router = {"api": "command", "run": ["python3", MAIN], "paths": ["router", "eval"]}
    card = cards.card({"endpoints.main": router})
    made.write({MAIN: b"print(1)\n", RULES: b"{}\n", "card.yaml": cards.text(card), ".gitignore": b"*.pyc\n"})
    lock(made.card)
    made.head = made.repo.commit()
    return made


def test_every_file_of_a_program_is_frozen_and_the_exam_is_none(subject: Subject) -> None:
    frozen = freeze(subject.card)
    assert {path: data for path, data in frozen.files.items() if path.startswith("/")} == {
        f"/{MAIN}": b"print(1)\n",
        f"/{RULES}": b"{}\n",
    }
    seen = [(one.role, one.path) for one in verify(subject.card).checked]
    assert seen[-2:] == [("program", MAIN), ("program", RULES)] and ("exam", TASKS) in seen


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (edit(RULES, more), "uncommitted"),
        (stage(MAIN, b"print(2)\n"), "uncommitted"),
        (delete(MAIN), "missing"),
        (link(RULES), "symlink"),
        (lambda subject: subject.write({"router/new.py": b"print(3)\n"}), "untracked"),
    ],
    ids=["edited", "staged", "deleted", "linked", "untracked"],
)
def test_a_program_that_moved(subject: Subject, change: Callable[[Subject], None], code: str) -> None:
    change(subject)
    assert code in subject.breaks()


def test_what_git_ignores_is_no_part_of_a_program_and_a_new_commit_is_another_one(subject: Subject) -> None:
    subject.write({"router/__pycache__/main.pyc": b"x"})
    assert freeze(subject.card).commit == subject.head
    edit(MAIN, more)(subject)
    subject.repo.commit()
    assert freeze(subject.card).files[f"/{MAIN}"] == b"print(1)\n\n"
