"""A card as another commit holds it: from git objects alone, whatever lies in the working tree; every cause names the commit."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support import cards
from support.registered import PROMPT, TASKS, Subject, bom, crlf, edit, link, untrack
from support.repos import Repo

from evalaction.errors import SourceError, UsageError
from evalaction.registration.at_commit import card_at, defined_at, frozen_at, resolve_commit
from evalaction.registration.causes import LFS, Moved
from evalaction.registration.freeze import freeze
from evalaction.registration.git import Commit, Git
from evalaction.registration.lock import lock


def at(subject: Subject, oid: str | None = None) -> Commit:
    found = Git(subject.repo.root).commit(oid or subject.repo.git("rev-parse", "HEAD"))
    assert found is not None
    return found


def refused(subject: Subject, *, card: str = "card.yaml") -> Moved:
    with pytest.raises(Moved) as caught:
        frozen_at(Git(subject.repo.root), at(subject), card)
    return caught.value


@pytest.mark.parametrize("folder", ["", "eval/deep"])
def test_the_same_as_a_freeze_of_that_commit(tmp_path: Path, folder: str) -> None:
    subject = Subject(tmp_path / "repo", folder=folder)
    frozen = freeze(subject.card)
    name = f"{folder}/card.yaml" if folder else "card.yaml"
    subject.write({TASKS: b"no exam", PROMPT: b"Be rude.\n", "card.yaml": b"no card"})
    subject.repo.commit()
    shutil.rmtree(subject.path("eval"))
    subject.repo.write({name: b"another one"})
    git = Git(subject.repo.root)
    assert frozen_at(git, at(subject, subject.head), name) == frozen
    held = defined_at(git, at(subject, subject.head), name)
    assert (held.card, held.files) == (frozen.card, frozen.files) and held.card_bytes == frozen.card_bytes


def test_a_folder_exam_and_its_files(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    card = cards.text(cards.card({"exam.tasks": "eval/items"}))
    subject.write(
        {"eval/items/a.json": b'{"prompt": "1?", "expected": "1"}', "eval/items/notes.txt": b"a note", "card.yaml": card}
    )
    lock(subject.card)
    subject.repo.commit()
    frozen = freeze(subject.card)
    shutil.rmtree(subject.path("eval"))
    assert frozen_at(Git(subject.repo.root), at(subject), "card.yaml") == frozen
    assert frozen.exam.checker_sha256 is not None


def submodule(path: str) -> Callable[[Subject], None]:
    def change(subject: Subject) -> None:
        inner = Repo(subject.path("inner"))
        inner.commit({"file": b"1"})
        subject.path(path).unlink()
        subject.repo.git("rm", "--quiet", "--cached", path)
        shutil.move(subject.path("inner"), subject.path(path))

    return change


def behind_link(subject: Subject) -> None:
    folder = subject.path("prompts")
    folder.rename(subject.path("real"))
    folder.symlink_to("real")


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (link(PROMPT), "symlink", "`prompts/triage.md` is a symlink there"),
        (link(TASKS), "symlink", "`eval/tasks.jsonl` is a symlink there"),
        (link("card.yaml"), "symlink", "`card.yaml` is a symlink there"),
        (behind_link, "symlink", "`prompts/triage.md` is a symlink there, or lies behind one"),
        (submodule(PROMPT), "submodule", "`prompts/triage.md` lies in a submodule"),
        (edit(PROMPT, lambda _: LFS + b"\noid sha256:1\nsize 1\n"), "lfs_pointer", "`prompts/triage.md` is in Git LFS there"),
        (edit(TASKS, lambda _: LFS + b"\noid sha256:1\nsize 1\n"), "lfs_pointer", "`eval/tasks.jsonl` is in Git LFS there"),
        (untrack(PROMPT), "missing", "`prompts/triage.md` is not in it"),
        (untrack(TASKS), "missing", "`eval/tasks.jsonl` is not in it"),
        (untrack("card.yaml"), "missing", "`card.yaml` is not in it"),
        (
            edit(TASKS, lambda _: cards.exam_text(31)),
            "hash_mismatch",
            "exam.sha256 in the card is not that of the committed exam",
        ),
        (edit(TASKS, crlf), "line_endings", "but for its line endings"),
    ],
)
def test_what_a_commit_does_not_hold_names_it(tmp_path: Path, change: Callable[[Subject], None], code: str, said: str) -> None:
    subject = Subject(tmp_path / "repo")
    change(subject)
    if code != "missing":
        subject.repo.commit()
    error = refused(subject)
    assert error.code == code
    sentence = "".join(part if isinstance(part, str) else f"`{part.text}`" for part in error.breaks[0].sentence)
    assert sentence.startswith(f"Commit `{at(subject).oid[:12]}`: ") and said in sentence and sentence.endswith(".")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"card.yaml": b"protocol: other/1\n"}, "card.yaml"),
        ({PROMPT: bom(b"Be kind.\n")}, "byte order mark"),
        ({PROMPT: b"x" * (1024 * 1024 + 1)}, "1,048,576"),
        ({"card.yaml": b"# " + b"x" * 300_000}, "262,144"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, changes: dict[str, bytes], said: str) -> None:
    subject = Subject(tmp_path / "repo")
    subject.write(changes)
    subject.repo.commit()
    with pytest.raises(SourceError, match=said):
        frozen_at(Git(subject.repo.root), at(subject), "card.yaml")


def test_a_card_whose_hashes_do_not_hold_still_defines_its_arms(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    subject.write({TASKS: cards.exam_text(31)})
    subject.repo.commit()
    assert refused(subject).code == "hash_mismatch"
    git = Git(subject.repo.root)
    assert defined_at(git, at(subject), "card.yaml").files == {PROMPT: b"Be kind.\n"}
    assert card_at(git, at(subject), "card.yaml")[1].name == "support-triage"


def test_a_reference_is_resolved_once(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    subject.repo.git("tag", "v1.4")
    subject.repo.git("tag", "--annotate", "--message", "a tag", "v1.5")
    git = Git(subject.repo.root)
    first = subject.head
    subject.repo.commit({"more": b"1"})
    for name in ("v1.4", "v1.5", first, first.upper(), "refs/tags/v1.4"):
        assert resolve_commit(git, name).oid == first
    assert resolve_commit(git, "main").oid == subject.repo.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "name", ["HEAD~1", "main@{1}", ":/fix", "main:card.yaml", "--upload-pack=touch x", "-x", "main:refs/heads/x", "^main"]
)
def test_nothing_is_calculated_from_a_reference(tmp_path: Path, name: str) -> None:
    subject = Subject(tmp_path / "repo")
    with pytest.raises(UsageError) as caught:
        resolve_commit(Git(subject.repo.root), name)
    assert caught.value.code == "ref"
    assert not (subject.repo.root / "x").exists() and subject.repo.git("branch", "--list", "x") == ""


def test_a_tag_and_a_branch_of_one_name(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    subject.repo.git("tag", "main")
    with pytest.raises(UsageError, match="is a tag and a branch"):
        resolve_commit(Git(subject.repo.root), "main")


@pytest.mark.parametrize("name", ["v9", "1234567890" * 4])
def test_a_reference_that_is_not_here(tmp_path: Path, name: str) -> None:
    subject = Subject(tmp_path / "repo")
    with pytest.raises(UsageError, match="fetch-depth: 0") as caught:
        resolve_commit(Git(subject.repo.root), name)
    assert caught.value.code == "ref"
