"""Removing a folder that somebody hostile filled: however deep, whatever its modes; nobody writes to it any more."""

# Paths of other roots and of /proc, handed to system calls as they are.
# ruff: noqa: PTH101, PTH104, PTH106, PTH108

from __future__ import annotations

import contextlib
import itertools
import os


def remove(folder: str) -> None:
    """Remove a folder and all in it, as far as we may; links are removed, never followed.

    Folders move up to the top before they are emptied: a tree deeper than Python's recursion or a path's length is no obstacle.
    """
    numbers = itertools.count()
    before: set[str] | None = None
    while (names := _emptied(folder)) and names != before:
        before = names
        for name in names:
            path = f"{folder}/{name}"
            for inner in _emptied(path):
                with contextlib.suppress(OSError):
                    os.chmod(f"{path}/{inner}", 0o700)
                    os.rename(f"{path}/{inner}", f"{folder}/.removed-{next(numbers)}")
            with contextlib.suppress(OSError):
                os.rmdir(path)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _emptied(folder: str) -> set[str]:
    """The folders that are left in a folder when all else is gone."""
    left = set()
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            for entry in list(entries):
                if entry.is_dir(follow_symlinks=False):
                    left.add(entry.name)
                else:
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)
    return left
