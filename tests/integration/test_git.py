"""`Git` on real repositories: what it reads, and that nothing in a repository or in the caller's environment can steer it."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest
from support.repos import Repo

from evalaction.registration import git as git_module
from evalaction.registration.git import Commit, Entry, Git, GitError, MissingObject, find_root, prefixes

FILES = {"eval/tasks.jsonl": b'{"id":"a"}\n', "prompts/triage.md": b"Be kind.\n", "other.txt": b"x\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit(FILES)
    return made


def head(git: Git) -> Commit:
    found = git.head()
    assert found is not None
    return found


def blob_of(git: Git, path: str) -> bytes:
    entry = git.tree(head(git), [path])[path]
    return git.blobs([entry.oid])[entry.oid]


def program(place: Path, marker: Path) -> str:
    """A program that leaves a mark when somebody runs it."""
    place.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)


def test_head_tree_index_and_blobs(repo: Repo) -> None:
    git = Git(repo.root)
    commit = head(git)
    assert commit == Commit(repo.git("rev-parse", "HEAD"), ())
    tree = git.tree(commit, FILES)
    assert set(tree) == {"eval", "eval/tasks.jsonl", "prompts", "prompts/triage.md", "other.txt"}
    assert tree["eval"].mode == "040000"
    assert git.below(commit, "eval") == {"eval/tasks.jsonl": tree["eval/tasks.jsonl"]}
    oids = {path: tree[path].oid for path in FILES}
    assert git.sizes(oids.values()) == {oids[path]: len(data) for path, data in FILES.items()}
    assert git.blobs(oids.values()) == {oids[path]: data for path, data in FILES.items()}
    assert git.index(["eval"]) == {"eval/tasks.jsonl": (Entry("100644", oids["eval/tasks.jsonl"]),)}
    assert git.tree(commit, ["nothing/here"]) == {}
    assert git.sizes([]) == {} and git.blobs([]) == {} and git.tree(commit, []) == {}


def test_a_folder_does_not_take_in_its_neighbours(repo: Repo) -> None:
    repo.commit({"eval2/a.json": b"{}", "eval.json": b"{}"})
    assert set(Git(repo.root).below(head(Git(repo.root)), "eval")) == {"eval/tasks.jsonl"}


def test_parents_are_read_from_the_raw_commit(repo: Repo) -> None:
    first = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit({"side.txt": b"1"})
    repo.git("checkout", "--quiet", "main")
    main = repo.commit({"main.txt": b"1"})
    repo.git("merge", "--quiet", "--no-ff", "--message", "parent of nothing\n\nparent " + first, "side")
    assert head(Git(repo.root)).parents == (main, side)


def test_a_shallow_clone_still_names_its_parents(repo: Repo, tmp_path: Path) -> None:
    parent = repo.git("rev-parse", "HEAD")
    repo.commit({"other.txt": b"y\n"})
    repo.git("clone", "--quiet", "--depth", "1", f"file://{repo.root}", str(tmp_path / "shallow"))
    git = Git(tmp_path / "shallow")
    assert head(git).parents == (parent,)
    assert blob_of(git, "other.txt") == b"y\n"


def test_sha256_repositories(tmp_path: Path) -> None:
    made = Repo(tmp_path / "long", init=("--object-format=sha256",))
    made.commit(FILES)
    git = Git(made.root)
    assert len(head(git).oid) == 64
    assert blob_of(git, "prompts/triage.md") == FILES["prompts/triage.md"]


def test_no_commit_yet_is_no_head(tmp_path: Path) -> None:
    assert Git(Repo(tmp_path / "new").root).head() is None


def test_a_branch_called_head_changes_nothing(repo: Repo) -> None:
    first = repo.git("rev-parse", "HEAD")
    second = repo.commit({"other.txt": b"z"})
    repo.git("update-ref", "refs/heads/HEAD", first)
    assert head(Git(repo.root)).oid == second


def test_detached_head_and_worktree(repo: Repo, tmp_path: Path) -> None:
    oid = repo.git("rev-parse", "HEAD")
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), oid)
    git = Git(tmp_path / "tree")
    assert find_root(tmp_path / "tree" / "eval") == tmp_path / "tree"
    assert head(git).oid == oid
    assert blob_of(git, "eval/tasks.jsonl") == FILES["eval/tasks.jsonl"]


def test_odd_paths_are_data(repo: Repo) -> None:
    odd = {
        "-x.jsonl": b"hyphen", ":(top)x": b"magic", "eval/:(glob)**": b"glob", "eval/new\nline": b"newline",
        "eval/*.json": b"star", "eval/ü ß": b"umlaut", "eval/\udcff.json": b"not utf-8", "--all": b"flag",
        'eval/"q"\t': b"quotes",
    }  # fmt: skip
    repo.commit(odd)
    git = Git(repo.root)
    tree = git.tree(head(git), odd)
    assert {path: git.blobs([tree[path].oid])[tree[path].oid] for path in odd} == odd
    assert set(git.below(head(git), "eval")) == {path for path in odd if path.startswith("eval/")} | {"eval/tasks.jsonl"}
    assert set(git.index(list(odd))) == set(odd)


def test_untracked_files_that_are_not_ignored(repo: Repo) -> None:
    repo.commit({".gitignore": b"*.tmp\n"})
    repo.write({"eval/new.json": b"{}", "eval/old.tmp": b"", "elsewhere.json": b"{}", "eval/:(top)": b""})
    assert Git(repo.root).untracked("eval") == ("eval/:(top)", "eval/new.json")


def test_unmerged_entries_show_their_stages(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit({"other.txt": b"side\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit({"other.txt": b"main\n"})
    with pytest.raises(AssertionError):
        repo.git("merge", "--quiet", "side")
    assert [entry.stage for entry in Git(repo.root).index(["other.txt"])["other.txt"]] == [1, 2, 3]


@pytest.mark.parametrize("old_git", [False, True])
def test_a_partial_clone_names_what_it_lacks_and_fetches_nothing(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old_git: bool
) -> None:
    if old_git:  # one that does not know the variable and asks for the missing object
        monkeypatch.delitem(git_module.ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    repo.git("config", "uploadpack.allowFilter", "true")
    marker = tmp_path / "fetched"
    upload = tmp_path / "upload"
    upload.write_text(f'#!/bin/sh\ntouch {marker}\nexec git-upload-pack "$@"\n')
    upload.chmod(0o755)
    repo.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{repo.root}", str(tmp_path / "partial"))
    partial = Repo(tmp_path / "partial", init=None)
    partial.git("config", "remote.origin.uploadpack", str(upload))
    partial.git("config", "protocol.file.allow", "always")
    git = Git(partial.root)
    tree = git.tree(head(git), FILES)
    oids = [tree[path].oid for path in FILES]
    (partial.root / "given").write_bytes(FILES["other.txt"])
    held = partial.git("hash-object", "-w", "given")
    assert git.sizes(oids) == {oid: 2 if oid == held else None for oid in oids}
    assert not marker.exists()
    # The trap works: an ordinary git does fetch.
    partial.git("cat-file", "blob", next(oid for oid in oids if oid != held))
    assert marker.exists()


def test_a_treeless_clone_is_a_missing_object(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("clone", "--quiet", "--no-checkout", "--filter=tree:0", f"file://{repo.root}", str(tmp_path / "treeless"))
    git = Git(tmp_path / "treeless")
    with pytest.raises(MissingObject):
        git.tree(head(git), FILES)


HOSTILE = [
    ("core.fsmonitor", "{program}"),
    ("core.hooksPath", "{folder}"),
    ("core.pager", "{program}"),
    ("pager.ls-files", "true"),
    ("core.sshCommand", "{program}"),
    ("core.editor", "{program}"),
    ("diff.external", "{program}"),
    ("alias.cat-file", "!{program}"),
    ("alias.ls-tree", "!{program}"),
    ("credential.helper", "!{program}"),
    ("filter.evil.smudge", "{program}"),
    ("filter.evil.clean", "{program}"),
    ("filter.evil.process", "{program}"),
    ("diff.evil.textconv", "{program}"),
    ("core.attributesFile", "{attributes}"),
    ("core.excludesFile", "{excludes}"),
    ("core.worktree", "{folder}"),
    ("core.autocrlf", "true"),
]


def test_a_hostile_configuration_runs_nothing_and_hides_nothing(repo: Repo, tmp_path: Path) -> None:
    marker, folder = tmp_path / "ran", tmp_path / "hooks"
    folder.mkdir()
    run = program(tmp_path / "evil", marker)
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"):
        program(folder / hook, marker)
    (tmp_path / "attributes").write_text("* filter=evil diff=evil text\n")
    (tmp_path / "excludes").write_text("*\n")
    places = {"program": run, "folder": folder, "attributes": tmp_path / "attributes", "excludes": tmp_path / "excludes"}
    repo.write({".git/info/attributes": b"* filter=evil diff=evil\n"})
    for name, value in HOSTILE:
        with (repo.root / ".git" / "config").open("a") as config:
            section, _, key = name.rpartition(".")
            first, _, rest = section.partition(".")
            config.write(f'[{first}{f" {chr(34)}{rest}{chr(34)}" if rest else ""}]\n\t{key} = "{value.format(**places)}"\n')
    repo.write({"eval/new.json": b"{}"})
    # An old time stamp makes git look into files again, through clean filters, in commands that do that.
    os.utime(repo.root / "other.txt", (1, 1))
    before = (repo.root / ".git" / "index").read_bytes()
    git = Git(repo.root)
    assert blob_of(git, "other.txt") == b"x\n"
    assert set(git.index(["eval", "other.txt"])) == {"eval/tasks.jsonl", "other.txt"}
    assert git.untracked("eval") == ("eval/new.json",)
    assert not marker.exists()
    assert (repo.root / ".git" / "index").read_bytes() == before
    # The trap works: an ordinary git runs the program.
    repo.git("-c", f"core.worktree={repo.root}", "status")
    assert marker.exists()


def test_the_callers_environment_is_not_handed_on(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Repo(tmp_path / "other")
    other.commit({"other.txt": b"not this one"})
    marker = tmp_path / "ran"
    run = program(tmp_path / "evil", marker)
    hostile = {
        "GIT_DIR": str(other.root / ".git"), "GIT_WORK_TREE": str(other.root), "GIT_INDEX_FILE": str(other.root / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(other.root / ".git/objects"), "GIT_SHALLOW_FILE": str(tmp_path / "none"),
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": run,
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={run}'", "GIT_EXTERNAL_DIFF": run, "GIT_SSH_COMMAND": run, "GIT_ASKPASS": run,
        "GIT_EXEC_PATH": str(tmp_path), "GIT_TRACE": str(tmp_path / "trace"), "GIT_NAMESPACE": "else", "GIT_PREFIX": "eval/",
        "GIT_CEILING_DIRECTORIES": str(repo.root),
    }  # fmt: skip
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    git = Git(repo.root)
    assert blob_of(git, "other.txt") == b"x\n"
    assert set(git.index(["other.txt"])) == {"other.txt"}
    assert not marker.exists() and not (tmp_path / "trace").exists()


def test_grafts_do_not_change_history(repo: Repo) -> None:
    first = repo.commit({"a": b"1"})
    second = repo.commit({"a": b"2"})
    (repo.root / ".git" / "info").mkdir(exist_ok=True)
    (repo.root / ".git" / "info" / "grafts").write_text(f"{second}\n", encoding="utf-8")
    git = Git(repo.root)
    assert git.is_ancestor(first, second) and git.merge_base(first, second) == first


def test_replacement_objects_are_not_followed(repo: Repo) -> None:
    (repo.root / "forged").write_bytes(b"forged\n")
    forged = repo.git("hash-object", "-w", "forged")
    repo.git("replace", repo.git("rev-parse", "HEAD:other.txt"), forged)
    assert repo.git("cat-file", "blob", "HEAD:other.txt") == "forged"
    assert blob_of(Git(repo.root), "other.txt") == b"x\n"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="giving a repository to somebody else needs root")
def test_a_repository_of_another_owner_can_be_read(repo: Repo) -> None:
    for place in (repo.root, *repo.root.rglob("*")):
        os.chown(place, 12345, 12345)
    with pytest.raises(AssertionError, match="dubious ownership"):
        repo.git("rev-parse", "HEAD")
    assert blob_of(Git(repo.root), "other.txt") == b"x\n"


def test_a_folder_named_dot_git_is_not_searched_past(repo: Repo) -> None:
    inner = repo.root / "inner"
    (inner / ".git").mkdir(parents=True)
    assert find_root(inner) == inner
    with pytest.raises(GitError, match="not a git repository"):
        Git(inner).head()


def test_a_git_that_hangs_is_stopped(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\nexec sleep 30\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    with pytest.raises(GitError, match=r"took longer than 0\.2 s"):
        Git(repo.root, timeout_s=0.2).head()


def test_no_git_on_the_path_says_so(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="install it"):
        Git(repo.root).head()


def test_many_blobs_come_from_one_process(repo: Repo) -> None:
    files = {f"many/{number}.json": f"{number}\n".encode() * 50 for number in range(500)}
    repo.commit(files)
    git = Git(repo.root)
    entries = git.below(head(git), "many")
    blobs = git.blobs(entry.oid for entry in entries.values())
    assert {path: hashlib.sha256(blobs[entry.oid]).digest() for path, entry in entries.items()} == {
        path: hashlib.sha256(data).digest() for path, data in files.items()
    }


def test_prefixes() -> None:
    assert list(prefixes("a/b/c")) == ["a", "a/b", "a/b/c"]
