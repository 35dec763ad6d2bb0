"""Paths a card may name, and reading them from the working tree without following symlinks."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from evalaction.errors import SourceError, UsageError
from evalaction.registration.git import Git, find_root, prefixes

CARD_BYTES = 256 * 1024
EXAM_BYTES = 256 * 1024 * 1024
PROMPT_BYTES = 1024 * 1024
REPLIES_BYTES = 64 * 1024 * 1024

Absence: TypeAlias = Literal["missing", "symlink", "folder", "special"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card lies: the work tree's root (its own folder outside git), its folder and itself below the root, posix."""

    root: Path
    git: Git | None
    folder: str
    name: str

    @property
    def card(self) -> str:
        return self.below(self.name)

    def below(self, path: str) -> str:
        """A path of the card, which is relative to the card's folder, as a path below the root."""
        return f"{self.folder}/{path}" if self.folder else path

    def shown(self, path: str) -> str:
        """The reverse of `below`: how the card would write it."""
        return path.removeprefix(self.folder + "/") if self.folder else path


def locate(card: Path) -> Place:
    """The place of a card that exists or is only committed. Raises UsageError where no card can be."""
    try:
        folder = card.parent.resolve(strict=True)
    except OSError:
        raise UsageError(f"There is no folder {card.parent}; give the path of the card.") from None
    root = find_root(folder)
    below = folder.relative_to(root or folder).as_posix()
    place = Place(root or folder, Git(root) if root else None, "" if below == "." else below, card.name)
    if card.name in ("", "..") or ".git" in place.card.casefold().split("/"):
        raise UsageError(f"{card} cannot be a card; give the path of a committed file.")
    return place


def read_work(root: Path, path: str, *, limit: int) -> bytes | Absence:
    """The bytes of a regular file below `root`, or why there is none. Raises SourceError over `limit` bytes."""
    *parents, _ = prefixes(path)
    for parent in parents:
        if (root / parent).is_symlink():
            return "symlink"
    try:
        # Not following and not blocking: the file may be a link or a pipe by now.
        handle = os.open(root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except OSError:
        return _absence(root / path)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        return "folder" if stat.S_ISDIR(mode) else "special"
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise oversize(path, limit)
    return data


def oversize(path: str, limit: int) -> SourceError:
    return SourceError(f"this file has over {limit:,} bytes, which is the limit; make it smaller", file=path)


_BINARY = getattr(os, "O_BINARY", 0)


def _absence(path: Path) -> Absence:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return "missing"
    if stat.S_ISLNK(mode):
        return "symlink"
    return "folder" if stat.S_ISDIR(mode) else "special"
