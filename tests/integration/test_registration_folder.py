"""Exams that are a folder of files, and rehearsals, which compare nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import cards
from support.registered import PROMPT, TASKS, Subject, delete, edit, more
from support.repos import Repo

from evalaction.errors import SourceError
from evalaction.registration import collect
from evalaction.registration.freeze import freeze, rehearse
from evalaction.registration.lock import lock


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return Subject(tmp_path / "repo")


def folder_subject(root: Path) -> Subject:
    subject = Subject(root)
    items = {f"eval/t{number:04d}.json": json.dumps({"prompt": "Hi", "expected": "x"}).encode() for number in range(3)}
    subject.path(TASKS).unlink()
    subject.repo.commit(items | {"card.yaml": cards.text(cards.card({"exam.tasks": "eval"})), ".gitignore": b"*.swp\n"})
    lock(subject.card)
    subject.head = subject.repo.commit()
    return subject


def test_a_folder_exam(tmp_path: Path) -> None:
    subject = folder_subject(tmp_path / "repo")
    frozen = freeze(subject.card)
    assert frozen.exam.kind == "folder" and [item.id for item in frozen.exam.items] == ["t0000", "t0001", "t0002"]
    subject.write({"eval/.t0.swp": b"ignored", "elsewhere.json": b"{}"})
    assert freeze(subject.card).commit == subject.head
    subject.write({"eval/t0003.json": b"{}", "eval/deeper/notes.txt": b""})
    assert subject.breaks() == ["untracked", "untracked"]
    assert subject.sentence().startswith("eval/deeper/notes.txt is not tracked")


def test_a_folder_exam_that_moved(tmp_path: Path) -> None:
    subject = folder_subject(tmp_path / "repo")
    edit("eval/t0000.json", more)(subject)
    delete("eval/t0001.json")(subject)
    edit("eval/t0002.json", lambda data: data)(subject)
    assert subject.breaks() == ["uncommitted", "missing"]
    subject.repo.git("checkout", "--quiet", ".")
    subject.path("eval/t0001.json").rename(subject.path("eval/other.json"))
    subject.repo.commit()
    assert subject.breaks() == ["hash_mismatch"]  # only the ids
    subject.repo.git("rm", "--quiet", "eval/t0002.json")
    assert subject.breaks() == ["missing", "hash_mismatch"]


def test_a_folder_exam_with_something_odd_in_it(tmp_path: Path) -> None:
    subject = folder_subject(tmp_path / "repo")
    subject.path("eval/t0003.json").symlink_to("t0000.json")
    subject.repo.commit()
    assert subject.breaks() == ["symlink"]
    subject.path("eval/t0003.json").unlink()
    subject.repo.commit({"eval/new\nline.txt": b""})
    with pytest.raises(SourceError, match=r"U\+000A.*rename it"):
        freeze(subject.card)


def test_an_exam_folder_that_is_not_committed(tmp_path: Path) -> None:
    subject = folder_subject(tmp_path / "repo")
    subject.repo.git("rm", "-r", "--quiet", "--cached", "eval")
    subject.repo.git("commit", "--quiet", "--message", "gone")
    assert subject.breaks() == ["untracked"]
    subject.repo.git("add", "eval")
    assert subject.breaks() == ["uncommitted"]


def test_rehearse_reads_the_working_tree(subject: Subject, tmp_path: Path) -> None:
    subject.write({PROMPT: b"Be bold.\n", TASKS: cards.exam_text(7), "card.yaml": cards.text(cards.card())})
    frozen = rehearse(subject.card)
    assert (frozen.commit, frozen.parents, frozen.card_path) == (None, (), "card.yaml")
    assert len(frozen.exam.items) == 7 and frozen.texts() == {PROMPT: "Be bold.\n"}
    outside = tmp_path / "outside"
    outside.mkdir()
    Repo(outside, init=None).write({PROMPT: b"Hi", TASKS: cards.exam_text(2), "card.yaml": cards.text(cards.card())})
    frozen = rehearse(outside / "card.yaml")
    assert (frozen.root, frozen.card_path, len(frozen.exam.items)) == (outside, "card.yaml", 2)


def test_rehearse_of_a_folder_exam(tmp_path: Path) -> None:
    subject = folder_subject(tmp_path / "repo")
    subject.write({"eval/t0009.json": b'{"prompt": "Hi", "expected": "x"}', "eval/x.swp": b""})
    delete("eval/t0000.json")(subject)
    assert [item.id for item in rehearse(subject.card).exam.items] == ["t0001", "t0002", "t0009"]
    outside = Repo(tmp_path / "outside", init=None)
    outside.write({"eval/a.json": b'{"prompt": "Hi", "expected": "x"}', PROMPT: b"", "card.yaml": subject.card.read_bytes()})
    assert [item.id for item in rehearse(outside.root / "card.yaml").exam.items] == ["a"]
    (outside.root / "eval" / "b.json").symlink_to("a.json")
    with pytest.raises(SourceError, match="symlink"):
        rehearse(outside.root / "card.yaml")


@pytest.mark.parametrize("path", [TASKS, PROMPT, "card.yaml"])
def test_rehearse_refuses_what_is_not_there(subject: Subject, path: str) -> None:
    delete(path)(subject)
    with pytest.raises(SourceError, match="does not exist"):
        rehearse(subject.card)


def test_a_folder_that_is_too_large_altogether(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = folder_subject(tmp_path / "repo")
    subject.repo.commit({"eval/t0000.json": b'{"prompt": "Hi", "expected": "' + b"x" * 100 + b'"}'})
    monkeypatch.setattr(collect, "EXAM_BYTES", 150)
    for read in (freeze, rehearse):
        with pytest.raises(SourceError, match="eval: this file has over 150 bytes"):
            read(subject.card)
    monkeypatch.setattr(collect, "EXAM_BYTES", 100)
    for read in (freeze, rehearse):
        with pytest.raises(SourceError, match=r"t0000\.json: this file has over 100 bytes"):
            read(subject.card)
