"""Programs that judge are frozen like everything else: the exam's Python checker, and task folders with a `check.py`."""

from __future__ import annotations

import json
from pathlib import Path

from support import cards
from support.registered import TASKS, Subject, edit, more

from evalaction.registration.freeze import freeze, rehearse, verify
from evalaction.registration.lock import lock

CHECKER = b"def checker(parsed, fixture):\n    return parsed == fixture, 'equal'\n"
CHECK = b"import _candidate\nassert _candidate.one() == 1\n"
ITEM = {"id": "a", "prompt": "Hi", "fixture": "x"}


def locked(subject: Subject) -> Subject:
    lock(subject.card)
    subject.head = subject.repo.commit()
    return subject


def with_checker(root: Path, *, checker: str = "judge/c.py") -> Subject:
    subject = Subject(root, folder="sub")
    subject.write({TASKS: cards.jsonl([ITEM]), checker: CHECKER, "card.yaml": cards.text(cards.card({"exam.checker": checker}))})
    return locked(subject)


def with_tasks(root: Path) -> Subject:
    subject = Subject(root)
    subject.path(TASKS).unlink()
    names = ("clamp", "slug")
    files = {f"eval/{name}/task.json": json.dumps({"id": name, "prompt": "Hi"}).encode() for name in names}
    files |= {f"eval/{name}/check.py": CHECK + f"# {name}\n".encode() for name in names}
    subject.write(files | {"card.yaml": cards.text(cards.card({"exam.tasks": "eval"}))})
    return locked(subject)


def test_the_checker_is_compared_and_pinned(tmp_path: Path) -> None:
    subject = with_checker(tmp_path / "repo")
    frozen = freeze(subject.card)
    assert frozen.exam.files == {"judge/c.py": CHECKER}
    assert frozen.files["judge/c.py"] == CHECKER
    report = verify(subject.card)
    assert [one.role for one in report.checked] == ["card", "exam", "prompt", "checker"]
    assert {pin.field: pin.card for pin in report.pinned}["exam.checker_sha256"] == frozen.exam.checker_sha256
    assert rehearse(subject.card).exam == frozen.exam


def test_a_hash_of_a_checker_that_is_not_there_is_refused(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    edit("card.yaml", lambda data: data.replace(b'"sha256":', b'"checker_sha256": "' + b"0" * 64 + b'", "sha256":', 1))(subject)
    subject.repo.commit()
    assert subject.breaks() == ["hash_mismatch"]
    assert subject.sentence().startswith("exam.checker_sha256 in the card is not that of the committed exam")


def test_a_checker_that_moved(tmp_path: Path) -> None:
    subject = with_checker(tmp_path / "repo")
    edit("judge/c.py", more)(subject)
    assert subject.breaks() == ["uncommitted"]
    subject.repo.commit()
    assert subject.breaks() == ["hash_mismatch"]
    assert subject.sentence().startswith("exam.checker_sha256 in the card is not that of the committed exam")
    edit("judge/c.py", lambda data: CHECKER.replace(b"\n", b"\r\n"))(subject)
    subject.repo.commit()
    assert subject.breaks() == ["line_endings"]
    subject.path("judge/c.py").unlink()
    assert "missing" in subject.breaks()


def test_a_checker_that_is_not_committed(tmp_path: Path) -> None:
    subject = with_checker(tmp_path / "repo")
    subject.repo.git("rm", "--quiet", "--cached", "sub/judge/c.py")
    subject.repo.git("commit", "--quiet", "-m", "gone")
    assert subject.breaks() == ["untracked"]


def test_a_checker_inside_the_folder_of_the_exam(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    subject.path(TASKS).unlink()
    item = {key: value for key, value in ITEM.items() if key != "id"}
    card = cards.text(cards.card({"exam.tasks": "eval", "exam.checker": "eval/c.py"}))
    subject.write({"eval/a.json": json.dumps(item).encode(), "eval/c.py": CHECKER, "card.yaml": card})
    locked(subject)
    assert [one.role for one in verify(subject.card).checked] == ["card", "exam", "exam", "prompt"]
    assert freeze(subject.card).exam.files == {"eval/c.py": CHECKER}
    assert rehearse(subject.card).exam == freeze(subject.card).exam


def test_checks_of_task_folders_cannot_be_swapped(tmp_path: Path) -> None:
    subject = with_tasks(tmp_path / "repo")
    exam = freeze(subject.card).exam
    assert [(item.id, item.check.kind, item.check.file) for item in exam.items] == [
        ("clamp", "code", "eval/clamp/check.py"), ("slug", "code", "eval/slug/check.py"),
    ]  # fmt: skip
    first, second = subject.path("eval/clamp/check.py"), subject.path("eval/slug/check.py")
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    assert subject.breaks() == ["uncommitted", "uncommitted"]
    subject.repo.commit()
    assert subject.breaks() == ["hash_mismatch", "hash_mismatch"]  # ids and checker; the tasks are the same


def test_what_a_local_run_left_is_named_until_git_ignores_it(tmp_path: Path) -> None:
    subject = with_tasks(tmp_path / "repo")
    subject.write({"eval/clamp/_candidate.py": b"x", "eval/clamp/__pycache__/_candidate.cpython-312.pyc": b"x"})
    assert subject.breaks() == ["untracked", "untracked"]
    subject.write({".gitignore": b"_candidate.py\n__pycache__/\n"})
    assert len(freeze(subject.card).exam.items) == 2
