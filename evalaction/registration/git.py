"""The only module that knows git: reads commits, trees, blobs, refs and the index; never checks out, diffs or moves a ref.

The repository and its configuration are untrusted. Git runs with an environment of our own, with hooks, monitors, replacement
objects and every transport off, and only commands that consult neither attributes nor filters are used. One command writes
and speaks to the network, when asked to: `fetch_commit` adds the objects of a single named commit, over https.
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
from evalaction.registration.refs import candidates, check_name, full_sha

TIMEOUT_S = 60.0
FETCH_TIMEOUT_S = 300.0
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
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
INHERITED = ("PATH", "SYSTEMROOT")
FETCH_INHERITED = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "GIT_SSL_CAINFO")
CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.excludesFile=/dev/null",  # what counts as ignored is committed or in the repository, not in somebody's home
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "protocol.allow=never",
)
# A fetch would otherwise run programs that the configuration names, or follow settings of the remote.
FETCH_CONFIG = (
    "core.alternateRefsCommand=false",
    "core.askPass=",
    "credential.helper=",  # empty: forget every helper named before, also for single addresses
    "fetch.writeCommitGraph=false",
    "http.sslVerify=true",
    "transfer.bundleURI=false",
)
FETCH_FLAGS = (
    "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance",
    "--no-prune", "--no-filter", "--end-of-options",
)  # fmt: skip
OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CREDENTIALS, _HIDDEN = re.compile(r"://[^@/\s]*@"), "://***@"
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

    def __init__(self, root: Path, *, timeout_s: float = TIMEOUT_S, protocols: str = "https") -> None:
        """`protocols`: what `fetch_commit` may speak, with colons between."""
        self.root = root
        self._timeout_s = timeout_s
        self._protocols = protocols

    def head(self) -> Commit | None:
        """The commit that HEAD names; None when there is none yet or this clone does not hold it."""
        return self._commit("HEAD")

    def commit(self, oid: str) -> Commit | None:
        """A commit by its full object id; None when this clone does not hold it. Raises ValueError for any other name."""
        return self._commit(_oid(oid))

    def is_shallow(self) -> bool:
        """Whether history was cut off: then `is_ancestor` may deny, and `merge_base` miss, what is true."""
        return self._run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` has `older` in its history, as far as this clone knows (both held, by full object id)."""
        done = self._start("merge-base", "--is-ancestor", _oid(older), _oid(newer))
        if done.returncode not in (0, 1):
            raise self._failure("merge-base", done)
        return done.returncode == 0

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two held commits, by full object id; None without one."""
        done = self._start("merge-base", _oid(one), _oid(other))
        if done.returncode not in (0, 1):
            raise self._failure("merge-base", done)
        return done.stdout.decode().strip() or None

    def resolve_ref(self, name: str) -> str | None:
        """The commit id that a full SHA, branch or tag names; None when there is no such ref (a full SHA is taken as it is).

        Raises UsageError for a name that git would have to calculate, and when a tag and a branch share it.
        """
        sha = full_sha(name)
        if sha is not None:
            return sha
        check_name(name)
        if self._start("check-ref-format", "--branch", name).returncode != 0:
            raise UsageError(f"git does not accept {name!r} as the name of a branch or tag; give a full SHA.", code="ref")
        wanted = candidates(name)
        lines = self._run("cat-file", "--batch-check", stdin=_lines([f"{ref}^{{commit}}" for ref in wanted])).decode().split("\n")
        found = {ref: line.split(" ")[0] for ref, line in zip(wanted, lines, strict=False) if line.split(" ")[1:2] == ["commit"]}
        if len(found) > 1 and wanted[0] in found:
            raise UsageError(f"{name!r} is a tag and a branch; give the full SHA of the one you mean.", code="ref")
        return next(iter(found.values()), None)

    def fetch_commit(self, oid: str, *, ca_bundle: str | None = None) -> Commit:
        """Add one commit with its files, and no history, from `origin`; no ref, tag, configuration or file changes.

        Does nothing when the commit is here already: a fetch of depth 1 would cut its history off. `ca_bundle` is a file of
        PEM certificates. Raises GitError.
        """
        held = self.commit(oid)
        if held is not None:
            return held
        network = {name: os.environ[name] for name in FETCH_INHERITED if name in os.environ}
        if ca_bundle:
            network["GIT_SSL_CAINFO"] = ca_bundle
        done = self._start(
            "fetch", *FETCH_FLAGS, "origin", _oid(oid), config=FETCH_CONFIG, timeout_s=FETCH_TIMEOUT_S,
            more={**network, "GIT_ALLOW_PROTOCOL": self._protocols},
        )  # fmt: skip
        fetched = self.commit(oid)
        if done.returncode != 0 or fetched is None:
            raise self._failure("fetch", done)
        return fetched

    def _commit(self, name: str) -> Commit | None:
        out = self._run("cat-file", "--batch", stdin=_lines([name]))
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

    def files(self, commit: Commit) -> dict[str, Entry]:
        """Every file, symlink and submodule of a commit. Raises MissingObject."""
        return self._ls_tree("-r", commit, [])

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
        done = self._start(command, *arguments, stdin=stdin)
        if done.returncode != 0:
            raise self._failure(command, done)
        return done.stdout

    def _start(
        self,
        command: str,
        *arguments: str,
        stdin: bytes = b"",
        config: Sequence[str] = (),
        more: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        # With an explicit git-dir git neither searches upwards nor minds who owns the folder (a container's checkout belongs to
        # somebody else); safe.directory says the same to a git that still asks.
        settings = (f"safe.directory={self.root}", *CONFIG, *config)
        argv = [
            "git", "--no-pager", f"--git-dir={self.root / '.git'}", f"--work-tree={self.root}",
            *(part for setting in settings for part in ("-c", setting)), command, *arguments,
        ]  # fmt: skip
        environment = {**_environment(), **(more or {})}
        argv[0] = shutil.which("git", path=environment.get("PATH")) or ""
        if not argv[0]:
            raise GitError("git is not on the PATH; install it.")
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        try:
            # No shell; every argument after `--` is a path, one after `--end-of-options` an object id, all before is ours.
            return subprocess.run(  # noqa: S603
                argv, input=stdin, cwd=self.root, env=environment, capture_output=True, timeout=limit_s, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {command} took longer than {limit_s:g} s; nothing was drawn.") from error

    def _failure(self, command: str, done: subprocess.CompletedProcess[bytes]) -> GitError:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        return GitError(f"git {command} failed in {self.root}: {_CREDENTIALS.sub(_HIDDEN, words[0])}")


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


def _oid(text: str) -> str:
    if not OID.fullmatch(text):
        raise ValueError(f"not a full object id: {text!r}")
    return text


def _commit(oid: str, body: bytes) -> Commit:
    header = body.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
    fields = [line.partition(" ") for line in header]
    return Commit(oid, tuple(value for name, _, value in fields if name == "parent"))
