"""Commits, ancestry, names and the fetch of one commit, on real repositories and a real server on loopback."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_http import GitServer, serving
from support.repos import Repo

from evalaction.errors import UsageError
from evalaction.registration.git import Commit, Git, GitError

ABSENT = "1234567890" * 4


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "served" / "repo")
    for number in range(3):
        made.commit({"card.yaml": f"{number}\n".encode()})
    return made


@pytest.fixture
def server(repo: Repo) -> Iterator[GitServer]:
    with serving(repo.root.parent) as started:
        yield started


def cloned(server: GitServer, place: Path, *flags: str) -> Repo:
    made = Repo(place, init=None)
    made.git("clone", "--quiet", *flags, f"{server.url}/repo/.git", ".")
    return made


def snapshot(repo: Repo) -> dict[str, bytes]:
    """All that belongs to the caller: everything but objects and the list of cut-off commits."""
    return {
        path.relative_to(repo.root).as_posix(): path.read_bytes()
        for path in repo.root.rglob("*")
        if path.is_file() and "objects" not in path.parts and path.name != "shallow"
    }


def ids(repo: Repo) -> list[str]:
    return repo.git("rev-list", "HEAD").split()


def test_commit_ancestors_and_merge_base(repo: Repo) -> None:
    third, second, first = ids(repo)
    repo.git("checkout", "--quiet", "-b", "side", first)
    side = repo.commit({"side.txt": b"1"})
    git = Git(repo.root)
    assert git.commit(second) == Commit(second, (first,))
    assert git.commit(ABSENT) is None
    assert git.is_ancestor(first, third) and git.is_ancestor(third, third) and not git.is_ancestor(third, side)
    assert git.merge_base(third, side) == first
    assert not git.is_shallow()
    repo.git("checkout", "--quiet", "--orphan", "alone")
    assert git.merge_base(repo.commit({"alone.txt": b""}), third) is None


def test_a_commit_that_is_not_here_is_an_error_not_an_answer(repo: Repo) -> None:
    git = Git(repo.root)
    with pytest.raises(GitError):
        git.is_ancestor(ABSENT, ids(repo)[0])
    with pytest.raises(GitError):
        git.merge_base(ids(repo)[0], ABSENT)


def test_all_files_of_a_commit(repo: Repo) -> None:
    oid = repo.commit({"a/b/*.yaml": b"1", "a/ü\n": b"2", "-x": b"3"})
    (repo.root / "new.yaml").write_bytes(b"untracked")
    commit = Git(repo.root).commit(oid)
    assert commit is not None
    assert set(Git(repo.root).files(commit)) == {"card.yaml", "a/b/*.yaml", "a/ü\n", "-x"}


@pytest.mark.parametrize("name", ["HEAD", "main", "--all", "abc", "", "@", f"{ABSENT}^", f"{ABSENT}\n{ABSENT}"])
def test_only_full_ids_are_taken_as_ids(repo: Repo, name: str) -> None:
    git = Git(repo.root)
    for call in (
        git.commit,
        git.fetch_commit,
        lambda text: git.is_ancestor(text, ABSENT),
        lambda text: git.merge_base(ABSENT, text),
    ):
        with pytest.raises(ValueError, match="not a full object id"):
            call(name)


def test_names_become_commits(repo: Repo) -> None:
    third, second, first = ids(repo)
    repo.git("tag", "--annotate", "--message", "x", "v1", first)
    repo.git("tag", "--annotate", "--message", "x", "v1-signed", "v1")
    repo.git("branch", "feature/x", second)
    repo.git("update-ref", "refs/remotes/origin/next", second)
    repo.git("update-ref", "refs/remotes/fork/next", first)
    git = Git(repo.root)
    assert git.resolve_ref("main") == third
    assert git.resolve_ref("v1") == git.resolve_ref("v1-signed") == git.resolve_ref("refs/tags/v1") == first
    assert git.resolve_ref("feature/x") == git.resolve_ref("refs/heads/feature/x") == second
    assert git.resolve_ref("next") == git.resolve_ref("origin/next") == second
    assert git.resolve_ref("fork/next") == first
    assert git.resolve_ref("nowhere") is None
    assert git.resolve_ref(ABSENT.upper()) == ABSENT


def test_a_branch_here_comes_before_one_at_origin(repo: Repo) -> None:
    third, second, _ = ids(repo)
    repo.git("update-ref", "refs/remotes/origin/main", second)
    assert Git(repo.root).resolve_ref("main") == third
    assert Git(repo.root).resolve_ref("origin/main") == second


@pytest.mark.parametrize("branch", ["refs/heads/twice", "refs/remotes/origin/twice"])
def test_a_tag_and_a_branch_of_one_name_are_an_error(repo: Repo, branch: str) -> None:
    third, second, _ = ids(repo)
    repo.git("update-ref", branch, third)
    repo.git("update-ref", "refs/tags/twice", second)
    with pytest.raises(UsageError, match="is a tag and a branch"):
        Git(repo.root).resolve_ref("twice")
    assert Git(repo.root).resolve_ref(branch) == third


HOSTILE_NAMES = [
    "", "-", "--upload-pack=touch marker", "-x", "main:refs/heads/x", ":/message", "main@{1}", "@{-1}", "@{u}", "@", "main^{/x}",
    "main^", "main~1", "a..b", "a...b", "^main", "HEAD", "main\n", "main\nHEAD", "ma in", "main*", "m?in", "[m]ain",
    "a\\b", "/main",
    "main/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "\x7f", "a\x00b", "\u202eniam", "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_that_git_would_calculate_are_refused(repo: Repo, name: str) -> None:
    with pytest.raises(UsageError):
        Git(repo.root).resolve_ref(name)


def test_one_commit_is_fetched_into_a_clone_of_depth_one(repo: Repo, server: GitServer, tmp_path: Path) -> None:
    third, second, first = ids(repo)
    clone = cloned(server, tmp_path / "clone", "--depth", "1")
    git = Git(clone.root, protocols="http")
    head = git.head()
    assert head is not None and head.parents == (second,) and git.is_shallow()
    assert git.commit(second) is None
    before = snapshot(clone)
    assert git.fetch_commit(second) == Commit(second, (first,))
    entry = git.tree(Commit(second, ()), ["card.yaml"])["card.yaml"]
    assert git.blobs([entry.oid])[entry.oid] == b"1\n"
    assert git.commit(first) is None
    assert snapshot(clone) == before
    asked = len(server.requests)
    git.fetch_commit(second)
    git.fetch_commit(third)
    assert len(server.requests) == asked, "what is here is not asked for"


def test_a_full_clone_keeps_its_history(repo: Repo, server: GitServer, tmp_path: Path) -> None:
    clone = cloned(server, tmp_path / "clone")
    repo.git("checkout", "--quiet", "-b", "later")
    later = repo.commit({"card.yaml": b"later\n"})
    before, known = snapshot(clone), ids(clone)
    git = Git(clone.root, protocols="http")
    assert git.fetch_commit(later).oid == later
    assert snapshot(clone) == before
    assert ids(clone) == known and len(known) == 3


def test_tags_and_configured_refs_do_not_come_along(repo: Repo, server: GitServer, tmp_path: Path) -> None:
    clone = cloned(server, tmp_path / "clone", "--depth", "1")
    repo.git("tag", "v1", "HEAD~1")
    for name, value in (("tagOpt", "--tags"), ("prune", "true"), ("fetch", "+refs/*:refs/*")):
        clone.git("config", "--add", f"remote.origin.{name}", value)
    before = snapshot(clone)
    Git(clone.root, protocols="http").fetch_commit(ids(repo)[1])
    assert snapshot(clone) == before


def test_nothing_but_the_allowed_protocol_is_spoken(repo: Repo, server: GitServer, tmp_path: Path) -> None:
    clone = cloned(server, tmp_path / "clone", "--depth", "1")
    clone.git("config", "protocol.allow", "always")
    clone.git("config", "protocol.http.allow", "always")
    asked = len(server.requests)
    with pytest.raises(GitError, match="fetch failed"):
        Git(clone.root).fetch_commit(ids(repo)[1])
    assert len(server.requests) == asked


@pytest.mark.parametrize(
    "url", ["ext::sh -c touch% {marker}", "{repo}", "file://{repo}", "ssh://127.0.0.1/x", "git://127.0.0.1/x"]
)
def test_other_remotes_run_and_read_nothing(repo: Repo, server: GitServer, tmp_path: Path, url: str) -> None:
    clone = cloned(server, tmp_path / "clone", "--depth", "1")
    marker = tmp_path / "ran"
    clone.git("config", "protocol.allow", "always")
    clone.git("config", "core.sshCommand", f"touch {marker}")
    clone.git("config", "remote.origin.uploadpack", f"touch {marker}; git-upload-pack")
    clone.git("config", "remote.origin.url", url.format(marker=marker, repo=repo.root))
    with pytest.raises(GitError):
        Git(clone.root).fetch_commit(ids(repo)[1])
    assert not marker.exists()
    # The trap works for an ordinary git.
    if not url.startswith("git:"):
        with pytest.raises(AssertionError):
            clone.git("fetch", "origin", "nothing-of-this-name")
        assert marker.exists()


def test_no_program_of_the_configuration_runs_in_a_fetch(repo: Repo, server: GitServer, tmp_path: Path) -> None:
    clone = cloned(server, tmp_path / "clone", "--depth", "1")
    marker, hooks = tmp_path / "ran", tmp_path / "hooks"
    hooks.mkdir()
    program = tmp_path / "program"
    for place in (program, *(hooks / name for name in ("reference-transaction", "post-fetch", "pre-auto-gc", "post-merge"))):
        place.write_text(f"#!/bin/sh\ntouch {marker}\n")
        place.chmod(place.stat().st_mode | stat.S_IXUSR)
    lender = Repo(tmp_path / "lender")
    lender.commit({"lent.txt": b"x"})
    (clone.root / ".git/objects/info/alternates").write_text(f"{lender.root}/.git/objects\n")
    for name, value in (
        ("core.hooksPath", str(hooks)), ("core.askPass", str(program)), ("credential.helper", f"!{program}"),
        (f"credential.{server.url}.helper", f"!{program}"), ("core.alternateRefsCommand", str(program)), ("gc.auto", "1"),
        ("maintenance.auto", "true"), ("fetch.recurseSubmodules", "true"), ("core.fsmonitor", str(program)),
    ):  # fmt: skip
        clone.git("config", name, value)
    git = Git(clone.root, protocols="http")
    clone.git(
        "-c", "credential.helper=", "-c", f"core.hooksPath={tmp_path}", "fetch", "--quiet", "--depth=1", "origin", ids(repo)[2]
    )
    assert marker.exists(), "the trap of the lender works for an ordinary git"
    marker.unlink()
    server.refuse = True
    with pytest.raises(GitError, match="fetch failed"):
        git.fetch_commit(ids(repo)[1])
    server.refuse = False
    git.fetch_commit(ids(repo)[1])
    assert not marker.exists()
    server.refuse = True
    with pytest.raises(AssertionError):
        clone.git("fetch", "origin", ids(repo)[2], env={"GIT_TERMINAL_PROMPT": "0"})
    assert marker.exists(), "the trap works for an ordinary git"


def test_credentials_in_an_address_are_not_repeated(repo: Repo, server: GitServer, tmp_path: Path) -> None:
    clone = cloned(server, tmp_path / "clone", "--depth", "1")
    clone.git("config", "remote.origin.url", server.url.replace("http://", "http://x-access-token:ghs_secret@") + "/nothing/.git")
    for protocols in ("http", "https"):
        with pytest.raises(GitError) as caught:
            Git(clone.root, protocols=protocols).fetch_commit(ids(repo)[1])
        assert "ghs_secret" not in caught.value.sentence


def test_nor_by_a_git_that_repeats_them(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(
        "#!/bin/sh\necho \"fatal: unable to access 'https://x:ghs_secret@github.com/': no\" >&2\nexit 128\n"
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    with pytest.raises(GitError, match=r"'https://\*\*\*@github.com/': no") as caught:
        Git(repo.root).head()
    assert "ghs_secret" not in caught.value.sentence


def test_a_commit_the_server_does_not_have(server: GitServer, tmp_path: Path) -> None:
    clone = cloned(server, tmp_path / "clone", "--depth", "1")
    with pytest.raises(GitError, match="fetch failed"):
        Git(clone.root, protocols="http").fetch_commit(ABSENT)


def test_a_certificate_file_and_proxies_reach_git(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\nenv > {tmp_path}/env-$$\nexec {_real_git()} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("GIT_SSL_CAINFO", "/other.pem")
    repo.git("remote", "add", "origin", "https://127.0.0.1:9/x")
    with pytest.raises(GitError):
        Git(repo.root).fetch_commit(ABSENT, ca_bundle="/ca.pem")
    seen = [text for text in (path.read_text() for path in tmp_path.glob("env-*")) if "GIT_ALLOW_PROTOCOL=https\n" in text]
    assert len(seen) == 1
    assert "HTTPS_PROXY=http://127.0.0.1:9\n" in seen[0] and "GIT_SSL_CAINFO=/ca.pem\n" in seen[0]


def _real_git() -> str:
    import shutil

    found = shutil.which("git")
    assert found
    return found
