"""Every named cause of an unregistered card, each with a real repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import cards
from support.registered import PROMPT, TASKS, Subject, bom, crlf, delete, edit, link, more, pipe, sha256, stage, untrack
from support.repos import Repo

from evalaction.errors import UsageError
from evalaction.registration.freeze import freeze, verify
from evalaction.registration.lock import lock


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return Subject(tmp_path / "repo")


CHANGES: dict[str, tuple[str, Callable[[str], Callable[[Subject], None]]]] = {
    "line endings": ("line_endings", lambda path: edit(path, crlf)),
    "a byte order mark": ("bom", lambda path: edit(path, bom)),
    "an edit": ("uncommitted", lambda path: edit(path, more)),
    "an edit in the index only": ("uncommitted", lambda path: stage(path, b"{}\n")),
    "deleted": ("missing", delete),
    "not tracked": ("untracked", untrack),
    "a symlink in its place": ("symlink", link),
    "a pipe in its place": ("uncommitted", pipe),
}


@pytest.mark.parametrize("path", ["card.yaml", TASKS, PROMPT])
@pytest.mark.parametrize("change", CHANGES)
def test_a_moved_file_is_named_with_its_cause(subject: Subject, path: str, change: str) -> None:
    code, apply = CHANGES[change]
    apply(path)(subject)
    assert subject.breaks() == [code]
    assert subject.sentence().startswith(path)


def test_a_hidden_edit_is_seen(subject: Subject) -> None:
    for flag in ("--assume-unchanged", "--skip-worktree"):
        subject.repo.git("update-index", flag, TASKS)
        edit(TASKS, more)(subject)
        assert subject.repo.git("status", "--porcelain") == ""
        assert subject.breaks() == ["uncommitted"]
        subject.repo.git("update-index", "--no" + flag[1:], TASKS)
        subject.repo.git("checkout", "--quiet", TASKS)


def test_a_checkout_with_converted_line_endings(subject: Subject) -> None:
    subject.repo.git("config", "core.autocrlf", "true")
    for path in ("card.yaml", TASKS, PROMPT):
        subject.path(path).unlink()
    subject.repo.git("checkout", "--quiet", ".")
    assert b"\r\n" in subject.path(TASKS).read_bytes()
    assert subject.breaks() == ["line_endings"] * 3
    assert "-text" in subject.sentence() and ".gitattributes" in subject.sentence()
    subject.repo.git("config", "core.autocrlf", "false")
    subject.repo.git("checkout", "--quiet", "HEAD", "--", ".")


def test_a_checkout_through_a_filter(subject: Subject) -> None:
    prompt = subject.repo.root / PROMPT
    subject.repo.commit({PROMPT: b"$Id$\n", ".gitattributes": b"*.md ident\n"})
    prompt.unlink()
    subject.repo.git("checkout", "--quiet", "--", PROMPT)
    assert prompt.read_bytes() != b"$Id$\n" and subject.repo.git("status", "--porcelain") == ""
    assert subject.breaks() == ["uncommitted"] and "-ident" in subject.sentence() and ".gitattributes" in subject.sentence()
    subject.repo.commit({".gitattributes": b"*.md -filter -ident -working-tree-encoding\n"})
    prompt.unlink()
    subject.repo.git("checkout", "--quiet", "--", PROMPT)
    assert freeze(subject.card).commit == subject.repo.git("rev-parse", "HEAD")


def test_a_card_locked_on_converted_line_endings(subject: Subject) -> None:
    edit(TASKS, crlf)(subject)
    lock(subject.card)
    edit(TASKS, lambda data: data.replace(b"\r\n", b"\n"))(subject)
    subject.repo.commit()
    assert subject.breaks() == ["line_endings", "line_endings"]
    assert "exam.sha256 fits the committed file but for its line endings" in subject.sentence()


def test_a_hash_of_the_file_with_a_byte_order_mark(subject: Subject) -> None:
    wrong = sha256(bom(cards.exam_text())).encode()
    edit("card.yaml", lambda data: data.replace(sha256(cards.exam_text()).encode(), wrong))(subject)
    subject.repo.commit()
    assert subject.breaks() == ["bom"]


def test_an_exam_that_changed_is_a_mismatch_even_if_basically_the_same(subject: Subject) -> None:
    edit(TASKS, lambda data: data.replace(b"Say 3.", b"Say 3 ."))(subject)
    subject.repo.commit()
    assert subject.breaks() == ["hash_mismatch", "hash_mismatch"]
    assert "exam.sha256 in the card is not that of the committed exam" in subject.sentence()


def test_reordered_items_keep_their_ids_hash(subject: Subject) -> None:
    edit(TASKS, lambda data: b"".join(sorted(data.splitlines(keepends=True), reverse=True)))(subject)
    subject.repo.commit()
    assert subject.breaks() == ["hash_mismatch"]
    assert [pin.field for pin in verify(subject.card).pinned if pin.card != pin.committed] == ["exam.sha256"]


def test_an_edit_that_was_locked_but_not_committed_is_one_cause(subject: Subject) -> None:
    edit(TASKS, lambda data: data.replace(b"Say 3.", b"Say three."))(subject)
    lock(subject.card)
    assert subject.breaks() == ["uncommitted", "uncommitted"]
    subject.repo.git("add", "card.yaml")
    subject.repo.git("commit", "--quiet", "--message", "only the card")
    # The hash is that of the working file: the edit explains it, so it is not called a mismatch as well.
    assert subject.breaks() == ["uncommitted"]


def test_hashes_in_upper_case_or_not_written(subject: Subject) -> None:
    locked = subject.card.read_bytes()
    digest = sha256(cards.exam_text())
    subject.repo.commit({"card.yaml": locked.replace(digest.encode(), digest.upper().encode())})
    assert subject.breaks() == ["upper_case_hash"]
    subject.repo.commit({"card.yaml": locked.replace(digest.encode(), digest[:-1].encode())})
    assert subject.breaks() == ["hash_mismatch"]
    subject.repo.commit({"card.yaml": cards.text(cards.card())})
    assert subject.breaks() == ["hash_missing", "hash_missing"]
    assert "run `evalaction lock`" in subject.sentence()


def test_a_pointer_of_large_file_storage(subject: Subject) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
    subject.repo.commit({TASKS: pointer})
    assert subject.breaks() == ["lfs_pointer"]
    subject.write({TASKS: cards.exam_text()})  # as it looks after a smudge
    assert subject.breaks() == ["lfs_pointer"]
    subject.repo.commit({TASKS: cards.exam_text(), PROMPT: pointer})
    assert subject.breaks() == ["lfs_pointer"]


@pytest.mark.parametrize("path", [TASKS, PROMPT, "card.yaml"])
def test_a_committed_symlink(subject: Subject, path: str) -> None:
    link(path)(subject)
    subject.repo.commit()
    assert subject.breaks() == ["symlink"]


def test_a_committed_symlink_on_the_way(subject: Subject) -> None:
    subject.path("eval").rename(subject.path("real"))
    subject.path("eval").symlink_to("real")
    subject.repo.commit()
    assert subject.breaks() == ["symlink"]


def test_a_symlink_on_the_way_in_the_working_tree_only(subject: Subject) -> None:
    subject.path("eval").rename(subject.path("real"))
    subject.path("eval").symlink_to("real")
    assert subject.path(TASKS).read_bytes() == cards.exam_text()
    assert subject.breaks() == ["symlink"]


def test_a_symlink_on_the_way_to_the_card_is_looked_through(subject: Subject, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(subject.repo.root)
    assert freeze(tmp_path / "way" / "card.yaml").root == subject.repo.root


def test_a_submodule_does_not_hold_the_exam(subject: Subject, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit({"tasks.jsonl": cards.exam_text()})
    subject.repo.git("rm", "-r", "--quiet", "eval")
    subject.repo.git("submodule", "--quiet", "add", str(inner.root), "eval")
    subject.repo.git("commit", "--quiet", "--message", "outside")
    assert subject.path(TASKS).exists()
    assert subject.breaks() == ["submodule"]


def test_a_card_inside_a_submodule_belongs_to_the_submodule(subject: Subject, tmp_path: Path) -> None:
    outer = Repo(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(subject.repo.root), "sub")
    outer.commit()
    assert freeze(outer.root / "sub" / "card.yaml").commit == subject.head


def test_head_moved_since_the_job_began(subject: Subject) -> None:
    now = subject.repo.commit({"more.txt": b""})
    assert subject.breaks(expected_head=subject.head) == ["head_moved"]
    assert freeze(subject.card, expected_head=now.upper()).commit == now
    subject.repo.git("checkout", "--quiet", "--detach", subject.head)
    assert freeze(subject.card, expected_head=subject.head).commit == subject.head


def test_all_causes_are_reported_together(subject: Subject) -> None:
    subject.repo.commit({"card.yaml": subject.card.read_bytes().replace(sha256(cards.exam_text()).encode(), b"0" * 64)})
    edit(PROMPT, crlf)(subject)
    edit("card.yaml", more)(subject)
    assert subject.breaks(expected_head=subject.head) == ["head_moved", "uncommitted", "line_endings", "hash_mismatch"]
    report = verify(subject.card)
    assert [one.path for one in report.checked if one.committed_sha256 != one.working_sha256] == ["card.yaml", PROMPT]


def test_a_path_that_nothing_has(subject: Subject) -> None:
    subject.repo.commit({"card.yaml": subject.card.read_bytes().replace(b"prompts/triage.md", b"prompts/other.md")})
    assert subject.breaks() == ["missing"]
    subject.write({"prompts/other.md": b"Hi"})
    assert subject.breaks() == ["untracked"]
    subject.repo.git("add", "prompts/other.md")
    assert subject.breaks() == ["uncommitted"]
    subject.repo.git("commit", "--quiet", "--message", "x")
    assert freeze(subject.card).files == {"prompts/other.md": b"Hi"}


def test_a_card_that_nothing_has(subject: Subject) -> None:
    for name in ("cart.yaml", "eval"):
        with pytest.raises(UsageError, match=f"There is no card {name}"):
            freeze(subject.path(name))


def test_a_symlink_that_is_not_tracked(subject: Subject) -> None:
    untrack(PROMPT)(subject)
    link(PROMPT)(subject)
    assert subject.breaks() == ["symlink"]
