"""What is frozen is what was committed; mistakes of use are told apart from files that moved."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import cards
from support.registered import PROMPT, TASKS, Subject, edit, more, sha256
from support.repos import Repo

from evalaction.errors import SourceError, UsageError
from evalaction.method.records import Quoted
from evalaction.registration.causes import Moved
from evalaction.registration.freeze import freeze, rehearse, verify
from evalaction.registration.lock import lock


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return Subject(tmp_path / "repo")


@pytest.mark.parametrize("folder", ["", "evals", "a b/ü"])
@pytest.mark.parametrize("init", [(), ("--object-format=sha256",)])
def test_a_committed_card_freezes(tmp_path: Path, folder: str, init: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject(tmp_path / "repo", folder=folder, init=init)
    second = subject.repo.commit({"unrelated.txt": b""})
    monkeypatch.chdir(tmp_path)  # outside the repository
    frozen = freeze(subject.card, expected_head=second)
    assert (frozen.root, frozen.commit, frozen.parents) == (subject.repo.root, second, (subject.head,))
    assert frozen.card_path == f"{folder}/card.yaml".lstrip("/")
    assert frozen.card_bytes == subject.card.read_bytes()
    assert frozen.card_sha256 == sha256(frozen.card_bytes)
    assert frozen.card.name == "support-triage"
    assert len(frozen.exam.items) == 30
    assert frozen.exam.sha256 == frozen.card.exam.sha256 == sha256(cards.exam_text())
    assert frozen.files == {PROMPT: b"Be kind.\n"}
    assert frozen.texts() == {PROMPT: "Be kind.\n"}


def test_a_relative_path_from_a_folder_of_the_repository(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(subject.path("eval"))
    assert freeze(Path("../card.yaml")).card_path == "card.yaml"
    monkeypatch.chdir(subject.repo.root)
    assert freeze(Path("card.yaml")).commit == subject.head


def test_verify_says_what_it_compared(subject: Subject) -> None:
    report = verify(subject.card)
    assert report.breaks == () and report.frozen is not None and report.commit == subject.head
    assert [(one.role, one.path, one.committed_sha256) for one in report.checked] == [
        ("card", "card.yaml", sha256(subject.card.read_bytes())),
        ("exam", TASKS, sha256(cards.exam_text())),
        ("prompt", PROMPT, sha256(b"Be kind.\n")),
    ]
    assert all(one.committed_sha256 == one.working_sha256 for one in report.checked)
    assert [pin.field for pin in report.pinned] == ["exam.sha256", "exam.ids_sha256"]
    assert all(pin.card == pin.committed == pin.working for pin in report.pinned)


def test_scripted_replies_are_frozen_too(tmp_path: Path) -> None:
    changes = {"endpoints.main": cards.SCRIPTED}
    subject = Subject(tmp_path / "repo", changes=changes)
    subject.repo.commit({"replies.json": b"[]"})
    assert freeze(subject.card).files == {"replies.json": b"[]", PROMPT: b"Be kind.\n"}
    edit("replies.json", more)(subject)
    assert subject.breaks() == ["uncommitted"]


def test_no_commit_yet(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "new")
    repo.write({"card.yaml": cards.text(cards.card())})
    with pytest.raises(Moved, match="There is no commit to judge yet"):
        freeze(repo.root / "card.yaml")


def test_outside_git_is_a_mistake_of_use(tmp_path: Path) -> None:
    (tmp_path / "card.yaml").write_bytes(cards.text(cards.card()))
    with pytest.raises(UsageError, match="not in a git repository") as caught:
        freeze(tmp_path / "card.yaml")
    assert caught.value.code == "not_a_repository"


@pytest.mark.parametrize("card", [".git/card.yaml", ".GIT/x/card.yaml", ".."])
def test_a_card_that_cannot_be_one(subject: Subject, card: str) -> None:
    (subject.repo.root / card).parent.mkdir(parents=True, exist_ok=True)
    with pytest.raises(UsageError, match="cannot be a card"):
        freeze(subject.repo.root / card)


def test_a_file_whose_name_looks_like_an_option_or_magic(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo", changes={"arms.treatment.system": "--upload-pack=x"})
    assert subject.breaks() == ["missing"]
    subject.repo.commit({"-x.jsonl": cards.exam_text(), "--upload-pack=x": b"Hi"})
    subject.write({"card.yaml": subject.card.read_bytes().replace(TASKS.encode(), b"-x.jsonl")})
    subject.repo.commit()
    assert freeze(subject.card).files == {"--upload-pack=x": b"Hi"}
    subject.write({"card.yaml": subject.card.read_bytes().replace(b"-x.jsonl", b":(top)x.jsonl")})
    subject.repo.commit()
    with pytest.raises(SourceError):
        freeze(subject.card)


def test_mistakes_in_committed_files_come_before_registration(subject: Subject) -> None:
    subject.repo.commit({TASKS: b'{"id": "a"\n'})
    edit(PROMPT, more)(subject)
    with pytest.raises(SourceError, match=r"eval/tasks\.jsonl:1"):
        freeze(subject.card)
    subject.write({TASKS: cards.exam_text()})
    with pytest.raises(SourceError, match=r"eval/tasks\.jsonl:1") as caught:
        freeze(subject.card)
    assert caught.value.__notes__ == ["This is about the committed version; the working tree differs from it."]


@pytest.mark.parametrize("data", [b"caf\xe9", b"\xef\xbb\xbfHi", b"\xff\xfeH\x00", b"x" * (1024 * 1024 + 1)])
def test_a_prompt_that_is_no_text(subject: Subject, data: bytes) -> None:
    subject.repo.commit({PROMPT: data})
    with pytest.raises(SourceError, match=r"prompts/triage\.md"):
        freeze(subject.card)
    with pytest.raises(SourceError, match=r"prompts/triage\.md"):
        rehearse(subject.card)


def test_too_large_a_card(subject: Subject) -> None:
    subject.repo.commit({"card.yaml": subject.card.read_bytes() + b" " * 256 * 1024})
    with pytest.raises(SourceError, match=r"card\.yaml.*262,144"):
        freeze(subject.card)


def test_a_claim_that_the_exam_cannot_carry_is_refused(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo")
    card = cards.two_arms({"sign.claim": "ahead"})
    subject.repo.commit({TASKS: cards.exam_text(29), "card.yaml": cards.text(card)})
    lock(subject.card)
    subject.repo.commit()
    with pytest.raises(UsageError, match="29 items"):
        freeze(subject.card)


def test_sentences_quote_paths_and_cannot_be_forged(tmp_path: Path) -> None:
    subject = Subject(tmp_path / "repo", folder="two\nlines")
    edit(TASKS, more)(subject)
    assert "two\\nlines/eval/tasks.jsonl has edits" in subject.sentence()
    (found,) = verify(subject.card).breaks
    assert found.sentence[0] == Quoted("two\nlines/eval/tasks.jsonl")


def test_nothing_in_the_repository_is_written(subject: Subject) -> None:
    edit(TASKS, more)(subject)
    before = {path: path.stat().st_mtime_ns for path in subject.repo.root.rglob("*")}
    subject.breaks()
    assert {path: path.stat().st_mtime_ns for path in subject.repo.root.rglob("*")} == before


def test_filters_do_not_touch_what_is_frozen(subject: Subject, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    subject.repo.commit({".gitattributes": b"* filter=evil diff=evil\n"})
    for kind in ("smudge", "clean"):
        subject.repo.git("config", f"filter.evil.{kind}", f"touch {marker}; sed s/kind/rude/")
    edit(PROMPT, lambda data: data.replace(b"kind", b"rude"))(subject)
    assert subject.breaks() == ["uncommitted"]
    assert not marker.exists()
    subject.repo.git("checkout", "--quiet", "--", PROMPT)
    assert marker.exists() and subject.path(PROMPT).read_bytes() == b"Be rude.\n"
    assert subject.breaks() == ["uncommitted"]


def test_a_shallow_clone_is_enough(subject: Subject, tmp_path: Path) -> None:
    subject.repo.commit({"more.txt": b""})
    subject.repo.git("clone", "--quiet", "--depth", "1", f"file://{subject.repo.root}", str(tmp_path / "shallow"))
    assert freeze(tmp_path / "shallow" / "card.yaml").parents == (subject.head,)


@pytest.mark.parametrize("lacking", ["blob:none", "tree:0"])
def test_a_partial_clone_names_what_is_missing(subject: Subject, tmp_path: Path, lacking: str) -> None:
    subject.repo.git("config", "uploadpack.allowFilter", "true")
    address = f"file://{subject.repo.root}"
    subject.repo.git("clone", "--quiet", "--no-checkout", f"--filter={lacking}", address, str(tmp_path / "partial"))
    partial = Repo(tmp_path / "partial", init=None)
    subject.card = partial.root / "card.yaml"
    assert subject.breaks() == ["shallow"]
    partial.git("checkout", "--quiet", "main", "--", "card.yaml", "eval")
    assert subject.breaks() == ["shallow"]
    assert "prompts/triage.md is committed, but its content is not in this clone" in subject.sentence()
    partial.git("checkout", "--quiet", "main", "--", ".")
    assert freeze(subject.card).commit == subject.head


def test_a_worktree_and_another_owner(subject: Subject, tmp_path: Path) -> None:
    subject.repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    assert freeze(tmp_path / "tree" / "card.yaml").commit == subject.head
