"""Paths and globs of the `card` input → the cards they name among the tracked files of the judged commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from evalaction.errors import UsageError
from evalaction.github.settings import MOST_CARDS

LONGEST = 1000
_GLOB = frozenset("*?[")


def match_cards(patterns: Sequence[str], tracked: Iterable[str]) -> tuple[str, ...]:
    """Cards by path, sorted by their bytes, each once.

    `*` and `?` stay within a folder, `**` crosses folders. A pattern that is the path of a tracked file, or that has no wildcard,
    is that path: freezing names what is wrong with it. Raises UsageError for a pattern that leaves the repository or matches
    nothing, and for more than 100 cards.
    """
    files = frozenset(tracked)
    found: set[str] = set()
    for pattern in patterns:
        path = _clean(pattern)
        if path in files or not _GLOB & set(path):
            found.add(path)
            continue
        matched = {file for file in files if _matches(file.split("/"), path.split("/"))}
        if not matched:
            raise UsageError(f"The input card has the pattern {pattern!r}, which matches no committed file.", code="input")
        found |= matched
    if len(found) > MOST_CARDS:
        raise UsageError(
            f"The input card matches {len(found):,} files; at most {MOST_CARDS} are judged in one step.", code="input"
        )
    return tuple(sorted(found, key=os.fsencode))


def _clean(pattern: str) -> str:
    path = pattern.removeprefix("./")
    parts = path.split("/")
    printable = len(path) <= LONGEST and path.isprintable()
    if not printable or path.startswith("/") or "\\" in path or any(part in {"", ".", "..", ".git"} for part in parts):
        raise UsageError(
            f"The input card names {pattern[:LONGEST]!r}; give a path below the repository's root, with / between folders.",
            code="input",
        )
    return path


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether path and pattern agree, both in pieces between slashes. Linear in each piece, so that no pattern can hang it."""
    reached = {0}
    for piece in pattern:
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], piece)}
    return len(parts) in reached
