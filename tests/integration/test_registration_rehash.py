"""The exam's files hashed before a run and after it: whatever happens to one of them in between is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import cards
from support.registered import PROMPT, TASKS, Subject, delete, edit, link, more, pipe

from evalaction.errors import UnregisteredError
from evalaction.registration.freeze import freeze
from evalaction.registration.lock import lock
from evalaction.registration.rehash import refuse_touched, working_digests

CHECKER = b"def checker(parsed, fixture):\n    return parsed == fixture, 'equal'\n"


def folder_of(subject: Subject, count: int) -> Subject:
    items = {f"eval/t{number:04d}.json": json.dumps({"prompt": "Hi", "expected": "x"}).encode() for number in range(count)}
    subject.path(TASKS).unlink()
    subject.repo.commit(items | {"card.yaml": cards.text(cards.card({"exam.tasks": "eval"}))})
    lock(subject.card)
    subject.head = subject.repo.commit()
    return subject


@pytest.mark.parametrize("folder", ["", "deep/down"])
@pytest.mark.parametrize(
    "change", [edit(TASKS, more), delete(TASKS), link(TASKS), pipe(TASKS)], ids=["edit", "delete", "link", "pipe"]
)
def test_a_file_that_is_not_what_it_was(tmp_path: Path, folder: str, change: Callable[[Subject], None]) -> None:
    subject = Subject(tmp_path / "repo", folder=folder)
    frozen = freeze(subject.card)
    before = working_digests(frozen, frozen.exam)
    assert list(before) == [TASKS]
    change(subject)
    with pytest.raises(UnregisteredError, match="changed while the run was under way") as caught:
        refuse_touched(before, working_digests(frozen, frozen.exam))
    assert caught.value.code == "changed_during_run" and TASKS in caught.value.sentence


def test_what_is_put_back_and_what_is_not_of_the_exam_refuses_nothing(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    frozen = freeze(subject.card)
    before, held = working_digests(frozen, frozen.exam), subject.path(TASKS).read_bytes()
    edit(TASKS, more)(subject)
    subject.write({TASKS: held, PROMPT: b"Be brief.\n", "eval/notes.txt": b"new"})
    refuse_touched(before, working_digests(frozen, frozen.exam))


def test_what_judges_is_hashed_like_what_asks(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    checked = {"judge/c.py": CHECKER, TASKS: cards.jsonl([{"id": "a", "prompt": "Hi", "fixture": "x"}])}
    subject.write(checked | {"card.yaml": cards.text(cards.card({"exam.checker": "judge/c.py"}))})
    lock(subject.card)
    subject.repo.commit()
    frozen = freeze(subject.card)
    before = working_digests(frozen, frozen.exam)
    assert list(before) == [TASKS, "judge/c.py"]
    edit("judge/c.py", more)(subject)
    with pytest.raises(UnregisteredError, match=r"judge/c\.py"):
        refuse_touched(before, working_digests(frozen, frozen.exam))


def test_of_many_files_five_are_named_and_the_others_counted(tmp_path: Path) -> None:
    subject = folder_of(Subject(tmp_path / "repo"), 7)
    frozen = freeze(subject.card)
    before = working_digests(frozen, frozen.exam)
    for touched, words in ((5, "eval/t0004.json. "), (7, "eval/t0004.json and 2 more. ")):
        for number in range(touched):
            edit(f"eval/t{number:04d}.json", more)(subject)
        with pytest.raises(UnregisteredError) as caught:
            refuse_touched(before, working_digests(frozen, frozen.exam))
        assert words in caught.value.sentence and "t0005" not in caught.value.sentence
