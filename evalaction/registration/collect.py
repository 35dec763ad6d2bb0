"""Gathers files as commit, index and working tree have them, with a handful of git processes however many files there are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from typing import TypeAlias

from evalaction.errors import SourceError
from evalaction.method.card import ExamRef
from evalaction.method.reading.text import invisible, short
from evalaction.method.records import Break, Quoted
from evalaction.registration.causes import Committed, FileState, Moved, Staged
from evalaction.registration.git import REGULAR, SUBMODULE, SYMLINK, TREE, Commit, Entry, Git, MissingObject, prefixes
from evalaction.registration.paths import EXAM_BYTES, PROMPT_BYTES, Absence, Place, oversize, read_work

Index: TypeAlias = Mapping[str, tuple[Entry, ...]]

_ODD_MODES: Mapping[str, Committed] = {SYMLINK: "symlink", SUBMODULE: "submodule", TREE: "folder"}
_ABSENT: Mapping[Absence, str] = {
    "missing": "this file does not exist; correct the path",
    "symlink": "this file is a symlink, or lies behind one; put the file itself in its place",
    "folder": "this is a folder; name a file",
    "special": "this cannot be read; name a regular file and allow reading it",
}


def file_states(git: Git, commit: Commit, limits: Mapping[str, int]) -> dict[str, FileState]:
    """The states of single files, by path below the root, with the most bytes each may have. Raises Moved, SourceError."""
    try:
        tree = git.tree(commit, limits)
    except MissingObject as error:
        raise _unreadable(commit) from error
    return _states(git, tree, git.index(list(limits)), limits)


def folder_states(git: Git, commit: Commit, folder: str) -> dict[str, FileState]:
    """The states of all files below a folder: committed, staged, and untracked ones that git does not ignore."""
    try:
        tree = git.below(commit, folder)
    except MissingObject as error:
        raise _unreadable(commit) from error
    index = git.index([folder])
    paths = sorted({*tree, *index, *git.untracked(folder)})
    _refuse_unsayable(paths)
    states = _states(git, tree, index, dict.fromkeys(paths, EXAM_BYTES))
    if sum(len(state.committed) for state in states.values() if isinstance(state.committed, bytes)) > EXAM_BYTES:
        raise oversize(folder, EXAM_BYTES)
    return states


def committed_files(git: Git, commit: Commit, limits: Mapping[str, int]) -> dict[str, bytes | Committed]:
    """Single files as a commit alone has them, with the most bytes each may have.

    Raises SourceError, and MissingObject where it is this clone that lacks them: that says nothing of the commit.
    """
    try:
        tree = git.tree(commit, limits)
    except MissingObject as error:
        raise _not_here(commit, "its folders") from error
    return _all_here(commit, _contents(git, tree, limits))


def committed_below(git: Git, commit: Commit, folder: str) -> dict[str, bytes | Committed]:
    """All files below a folder as a commit alone has them. Raises as `committed_files` does."""
    try:
        tree = git.below(commit, folder)
    except MissingObject as error:
        raise _not_here(commit, "its folders") from error
    _refuse_unsayable(sorted(tree))
    found = _all_here(commit, _contents(git, tree, dict.fromkeys(sorted(tree), EXAM_BYTES)))
    if sum(len(data) for data in found.values() if isinstance(data, bytes)) > EXAM_BYTES:
        raise oversize(folder, EXAM_BYTES)
    return found


def work_file(place: Place, path: str, limit: int) -> bytes:
    """A file of the working tree. Raises SourceError where there is none that may be used."""
    found = read_work(place.root, path, limit=limit)
    if isinstance(found, str):
        raise SourceError(_ABSENT[found], file=path)
    return found


def work_exam(place: Place, exam: ExamRef) -> dict[str, bytes]:
    """The exam's files in the working tree, by path relative to the card's folder: one, or all of its folder, and its checker."""
    path = place.below(exam.tasks)
    files = {exam.checker: work_file(place, place.below(exam.checker), PROMPT_BYTES)} if exam.checker else {}
    found = read_work(place.root, path, limit=EXAM_BYTES)
    if found != "folder":
        return files | {exam.tasks: work_file(place, path, EXAM_BYTES)}
    room = EXAM_BYTES
    names = names_below(place, path)
    _refuse_unsayable(names)
    for name in names:
        files[place.shown(name)] = work_file(place, name, EXAM_BYTES)
        room -= len(files[place.shown(name)])
        if room < 0:
            raise oversize(path, EXAM_BYTES)
    return files


def names_below(place: Place, folder: str) -> list[str]:
    """The files of a folder of the working tree that git knows or does not ignore; outside git all of them."""
    if place.git:
        tracked = (path for path in place.git.index([folder]) if os.path.lexists(place.root / path))
        return sorted({*tracked, *place.git.untracked(folder)})
    top = place.root / folder
    return sorted(path.relative_to(place.root).as_posix() for path in top.rglob("*") if path.is_symlink() or not path.is_dir())


def _refuse_unsayable(paths: list[str]) -> None:
    # A line of the checker digest is a path and a hash: a path with a line feed in it could pose as two.
    for path in paths:
        if bad := invisible(path):
            raise SourceError(f"the name of this file holds {bad}, which cannot be seen or written; rename it", file=short(path))


def _states(git: Git, tree: Mapping[str, Entry], index: Index, limits: Mapping[str, int]) -> dict[str, FileState]:
    staged = {prefix for path in index for prefix in prefixes(path)}
    committed = {path: _committed(tree, path) for path in limits}
    contents = _contents(git, tree, limits)
    return {
        path: FileState(
            path=path,
            committed=contents[path],
            staged=_staged(index, staged, path, found),
            work=read_work(git.root, path, limit=limits[path]),
        )
        for path, found in committed.items()
    }


def _contents(git: Git, tree: Mapping[str, Entry], limits: Mapping[str, int]) -> dict[str, bytes | Committed]:
    """The bytes of every path that is a regular file, read by two processes; of any other what is in its way."""
    committed = {path: _committed(tree, path) for path in limits}
    entries = {path: entry for path, entry in committed.items() if isinstance(entry, Entry)}
    sizes = git.sizes(entry.oid for entry in entries.values())
    for path, entry in entries.items():
        if (sizes.get(entry.oid) or 0) > limits[path]:
            raise oversize(path, limits[path])
    blobs = git.blobs(oid for oid, size in sizes.items() if size is not None)
    return {path: blobs.get(one.oid, "elsewhere") if isinstance(one, Entry) else one for path, one in committed.items()}


def _committed(tree: Mapping[str, Entry], path: str) -> Entry | Committed:
    """The entry of a regular file, or what is in its way."""
    for prefix in prefixes(path):
        if prefix in tree and tree[prefix].mode in (SYMLINK, SUBMODULE):
            return _ODD_MODES[tree[prefix].mode]
    if path not in tree:
        return "absent"
    entry = tree[path]
    return entry if entry.mode in REGULAR else _ODD_MODES[entry.mode]


def _staged(index: Index, folders: Set[str], path: str, committed: Entry | Committed) -> Staged:
    if path not in index:
        return "other" if path in folders else "absent"
    entries = [(entry.oid, entry.stage) for entry in index[path]]
    return "same" if isinstance(committed, Entry) and entries == [(committed.oid, 0)] else "other"


def _all_here(commit: Commit, found: dict[str, bytes | Committed]) -> dict[str, bytes | Committed]:
    for path, data in found.items():
        if data == "elsewhere":
            raise _not_here(commit, short(path))
    return found


def _not_here(commit: Commit, what: str) -> MissingObject:
    return MissingObject(
        f"This clone lacks {what} of commit {commit.oid[:12]} (a partial clone, or a damaged one); run `git fetch --refetch`, or "
        "check out without a filter.",
        code="shallow",
    )


def _unreadable(commit: Commit) -> Moved:
    sentence = (
        "The folders of commit ", Quoted(commit.oid[:12]), " are not in this clone (a partial clone, or a damaged one); "
        "run `git fetch --refetch`, or check out without a filter.",
    )  # fmt: skip
    return Moved((Break("shallow", sentence),))
