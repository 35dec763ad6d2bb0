"""Files that a command makes for the user: only where nothing is, all of them or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from evalaction.errors import UsageError


def write_folder(folder: Path, files: Mapping[str, bytes], *, shown: str) -> None:
    """Make `folder` with `files` (posix paths below it) in one step. Raises UsageError where it is there and not empty."""
    refuse_filled(folder, shown=shown)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        for path, data in files.items():
            place = beside.joinpath(*path.split("/"))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        beside.replace(folder)
    except OSError as error:
        raise UsageError(f"{shown} cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def refuse_filled(folder: Path, *, shown: str) -> None:
    """Raise UsageError unless `folder` is a name that is free, or an empty folder: nothing of the user is ever overwritten."""
    try:
        free = not os.path.lexists(folder) or (folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()))
    except OSError as error:
        raise UsageError(f"{shown} cannot be looked into: {error.strerror}.") from error
    if not free:
        raise UsageError(f"{shown} is there and not empty; name a new folder, nothing is overwritten.")
