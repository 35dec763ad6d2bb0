"""The committed programs of `api: command` endpoints: their files, without exam, checker and card, at any commit.

In the files of a frozen card they stand under their path from the repository's root with a slash before it, which no path of a
card has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from evalaction.errors import SourceError
from evalaction.method.card import Card
from evalaction.registration.causes import Committed, FileState
from evalaction.registration.collect import committed_below, committed_files, file_states, folder_states, names_below, work_file
from evalaction.registration.frozen import Frozen
from evalaction.registration.git import Commit, Git
from evalaction.registration.paths import Place, oversize

T = TypeVar("T")
PROGRAM_BYTES = 64 * 1024 * 1024
PROGRAM_FILES = 20_000


def program_paths(card: Card) -> list[str]:
    """The declared files and folders of all commands, from the repository's root; each once."""
    commands = (endpoint.command for endpoint in card.endpoints.values() if endpoint.command)
    return sorted({path.removesuffix("/") for command in commands for path in command.paths})


def program_states(git: Git, commit: Commit, place: Place, card: Card) -> list[FileState]:
    """Every file of the programs as commit, index and working tree have it."""
    found: dict[str, FileState] = {}
    for path in program_paths(card):
        state = file_states(git, commit, {path: PROGRAM_BYTES})[path]
        found |= folder_states(git, commit, path) if state.committed == "folder" else {path: state}
    return [found[path] for path in _kept(found, place, card)]


def programs_at(git: Git, commit: Commit, place: Place, card: Card) -> dict[str, bytes | Committed]:
    """Path from the root to what the commit alone has there."""
    found: dict[str, bytes | Committed] = {}
    for path in program_paths(card):
        at = committed_files(git, commit, {path: PROGRAM_BYTES})
        found |= committed_below(git, commit, path) if at[path] == "folder" else at
    return {path: found[path] for path in _kept(found, place, card)}


def programs_in_work(place: Place, card: Card) -> dict[str, bytes]:
    """The programs of the working tree, for a rehearsal. Raises SourceError."""
    names: list[str] = []
    for path in program_paths(card):
        whole = place.root / path
        names += names_below(place, path) if whole.is_dir() and not whole.is_symlink() else [path]
    return keyed({path: work_file(place, path, PROGRAM_BYTES) for path in _kept(names, place, card)})


def keyed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """As they stand among the files of a frozen card. Raises SourceError for a program that is too large."""
    if sum(map(len, files.values())) > PROGRAM_BYTES:
        raise oversize(next(iter(files)), PROGRAM_BYTES)
    return {f"/{path}": data for path, data in files.items()}


def without_exam(files: Mapping[str, T], question: Frozen) -> dict[str, T]:
    """The files of an arm without those programs' files that the question hides: another commit's card may hide others."""
    folder, _, name = question.card_path.rpartition("/")
    place = Place(question.root, None, folder, name)
    return {path: data for path, data in files.items() if path[:1] != "/" or not _hides(path[1:], place, question.card)}


def _hides(path: str, place: Place, card: Card) -> bool:
    """No draw sees the exam, its checker or the card."""
    exam = place.below(card.exam.tasks)
    checker = place.below(card.exam.checker) if card.exam.checker else None
    return path in {place.card, exam, checker} or path.startswith(f"{exam}/")


def _kept(paths: Iterable[str], place: Place, card: Card) -> list[str]:
    """Raises SourceError for too many files."""
    kept = [path for path in sorted(set(paths)) if not _hides(path, place, card)]
    if len(kept) > PROGRAM_FILES:
        raise SourceError(f"a program has at most {PROGRAM_FILES:,} files; declare fewer `paths`", file=kept[0])
    return kept
