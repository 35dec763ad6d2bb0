"""The only module that knows git: reads commits, trees, blobs and the index; never writes, checks out, diffs or fetches.

The repository and its configuration are untrusted. Git runs with an environment of our own, with hooks, monitors, replacement
objects and every transport off, and only commands that consult neither attributes nor filters are used.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalaction.errors import UsageError

TIMEOUT_S = 60.0
# git does not need a home: every configuration file outside the repository is switched off.
ENVIRONMENT = {
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LANG": "C",
    "LC_ALL": "C",
    "GIT_ADVICE": "0",
    "GIT_ALLOW_PROTOCOL": "",  # stronger than protocol.allow: the repository's protocol.<name>.allow cannot undo it
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
INHERITED = ("PATH", "SYSTEMROOT")
CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.excludesFile=/dev/null",  # what counts as ignored is committed or in the repository, not in somebody's home
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "protocol.allow=never",
)
OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
REGULAR = frozenset({"100644", "100755", "100664"})
SYMLINK = "120000"
TREE = "040000"
SUBMODULE = "160000"


class GitError(UsageError):
    """Git is missing, refused the repository or took too long."""

    default_code = "git"


class MissingObject(GitError):
    """A tree that a commit names is not in this clone (shallow, partial or damaged)."""


@dataclass(frozen=True, slots=True)
class Commit:
    """`oid` and the parents as the raw object names them: a depth-1 clone holds no parent but still names it."""

    oid: str
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A tree or index entry: six-digit octal mode, object id, and the index stage (0 unless unmerged)."""

    mode: str
    oid: str
    stage: int = 0


def find_root(folder: Path) -> Path | None:
    """The nearest folder at or above `folder` (absolute, resolved) that has a `.git`; None outside any repository."""
    return next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)


class Git:
    """One repository, seen from its work tree `root` (absolute). Paths are posix, relative to the root."""

    def __init__(self, root: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        self.root = root
        self._timeout_s = timeout_s

    def head(self) -> Commit | None:
        """The commit that HEAD names; None when there is none yet or this clone does not hold it."""
        out = self._run("cat-file", "--batch", stdin=b"HEAD\n")
        header, _, body = out.partition(b"\n")
        oid, kind, *_ = [*header.decode("utf-8", "replace").split(" "), ""]
        if kind != "commit" or not OID.fullmatch(oid):
            return None
        return _commit(oid, body)

    def tree(self, commit: Commit, paths: Iterable[str]) -> dict[str, Entry]:
        """The entries of `paths` and of every folder on the way to them. Raises MissingObject."""
        wanted = {prefix for path in paths for prefix in prefixes(path)}
        return self._ls_tree("-t", commit, sorted(wanted)) if wanted else {}

    def below(self, commit: Commit, folder: str) -> dict[str, Entry]:
        """Every file, symlink and submodule below `folder`. Raises MissingObject."""
        return {path: entry for path, entry in self._ls_tree("-r", commit, [folder]).items() if path.startswith(folder + "/")}

    def index(self, paths: Sequence[str]) -> dict[str, tuple[Entry, ...]]:
        """What is staged at or below `paths`; more than one entry means unmerged."""
        found: dict[str, tuple[Entry, ...]] = {}
        for record in _records(self._run("ls-files", "--stage", "--full-name", "-z", "--", *paths)):
            head, _, path = record.partition("\t")
            mode, oid, stage = head.split(" ")
            found[path] = (*found.get(path, ()), Entry(mode, oid, int(stage)))
        return found

    def untracked(self, folder: str) -> tuple[str, ...]:
        """Files below `folder` that are neither tracked nor ignored; a repository inside ends with a slash."""
        out = self._run("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", folder)
        return tuple(sorted(_records(out)))

    def sizes(self, oids: Iterable[str]) -> dict[str, int | None]:
        """Bytes of each blob; None for one that this clone does not hold."""
        wanted = sorted(set(oids))
        if not wanted:
            return {}
        try:
            return self._sizes(wanted)
        except GitError:
            # Before git 2.45 one absent blob of a partial clone ends the whole batch (nothing may be fetched here).
            return {oid: size for one in wanted for oid, size in self._size_alone(one).items()}

    def blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The bytes of blobs that `sizes` found, read by one process."""
        wanted = sorted(set(oids))
        out = self._run("cat-file", "--batch", "--buffer", stdin=_lines(wanted)) if wanted else b""
        found: dict[str, bytes] = {}
        at = 0
        for oid in wanted:
            end = out.index(b"\n", at)
            name, kind, size = out[at:end].decode().split(" ")
            if name != oid or kind != "blob":
                raise GitError(f"git answered {name} {kind} where blob {oid} was asked for; run `git fsck`.")
            at = end + 1 + int(size)
            found[oid] = out[end + 1 : at]
            at += 1
        return found

    def _sizes(self, oids: Sequence[str]) -> dict[str, int | None]:
        lines = self._run("cat-file", "--batch-check", stdin=_lines(oids)).decode().splitlines()
        parts = (line.split(" ") for line in lines)
        return {part[0]: int(part[2]) if part[1] == "blob" else None for part in parts}

    def _size_alone(self, oid: str) -> dict[str, int | None]:
        try:
            return self._sizes([oid])
        except GitError:
            return {oid: None}

    def _ls_tree(self, flag: str, commit: Commit, paths: Sequence[str]) -> dict[str, Entry]:
        try:
            out = self._run("ls-tree", flag, "-z", "--full-tree", commit.oid, "--", *paths)
        except GitError as error:
            raise MissingObject(error.sentence) from error
        found = {}
        for record in _records(out):
            head, _, path = record.partition("\t")
            mode, _, oid = head.split(" ")
            found[path] = Entry(mode, oid)
        return found

    def _run(self, command: str, *arguments: str, stdin: bytes = b"") -> bytes:
        # With an explicit git-dir git neither searches upwards nor minds who owns the folder (a container's checkout belongs to
        # somebody else); safe.directory says the same to a git that still asks.
        config = (f"safe.directory={self.root}", *CONFIG)
        argv = [
            "git", "--no-pager", f"--git-dir={self.root / '.git'}", f"--work-tree={self.root}",
            *(part for setting in config for part in ("-c", setting)), command, *arguments,
        ]  # fmt: skip
        environment = _environment()
        argv[0] = shutil.which("git", path=environment.get("PATH")) or ""
        if not argv[0]:
            raise GitError("git is not on the PATH; install it.")
        try:
            # No shell; every argument after `--` is a path and everything before it is ours.
            done = subprocess.run(  # noqa: S603
                argv, input=stdin, cwd=self.root, env=environment, capture_output=True, timeout=self._timeout_s, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {command} took longer than {self._timeout_s:g} s; nothing was drawn.") from error
        if done.returncode != 0:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
            raise GitError(f"git {command} failed in {self.root}: {words[0]}")
        return done.stdout


def prefixes(path: str) -> Iterator[str]:
    """`a/b/c` gives `a`, `a/b`, `a/b/c`."""
    parts = path.split("/")
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _environment() -> Mapping[str, str]:
    return ENVIRONMENT | {name: os.environ[name] for name in INHERITED if name in os.environ}


def _records(out: bytes) -> Iterator[str]:
    # Paths are bytes; fsdecode keeps those that are not UTF-8 distinct and usable on disk.
    return (os.fsdecode(record) for record in out.split(b"\0") if record)


def _lines(oids: Sequence[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()


def _commit(oid: str, body: bytes) -> Commit:
    header = body.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
    fields = [line.partition(" ") for line in header]
    return Commit(oid, tuple(value for name, _, value in fields if name == "parent"))
