"""A history in a folder, laid out as on a branch: entries are added, never changed; what is read is bounded and untrusted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalaction.engine.folder import create, write_whole
from evalaction.engine.history.entry import Taken
from evalaction.errors import SourceError, UsageError
from evalaction.method.series.entry import Entry
from evalaction.method.series.entry_json import entry_bytes, read_entry
from evalaction.method.series.places import MARKER, MAX_ENTRY, TABLE, Place, is_marker, marker_file, place_of, read_place

MOST_FILES = 200_000


@dataclass(frozen=True, slots=True)
class Found:
    """Entries in the order of their places, and how many files in the place of one are none of ours."""

    entries: tuple[Entry, ...]
    damaged: int


def check(root: Path) -> None:
    """Raise UsageError for a folder of somebody else's, before a run is drawn for it."""
    _own(root, make=True)


def append(root: Path, taken: Taken) -> Path:
    """Add an entry and its table; the entry's folder. The same run twice is one entry.

    The root is made, with our marker in it, where it is not there or empty. Raises UsageError for a folder of somebody else's,
    and where another run lies in that place.
    """
    _own(root, make=True)
    data = entry_bytes(taken.entry)
    place = place_of(taken.entry)
    read_entry(data, path=place.path)  # what is written can be read back
    folder = root / place.folder
    path = root / place.path
    if path.exists() or path.is_symlink():
        if path.is_symlink() or path.read_bytes() != data:
            raise UsageError(f"{path} holds another run; a history is never changed.", code="history")
        return folder
    create(folder)
    if taken.table is not None:
        write_whole(folder / TABLE, taken.table)
    write_whole(path, data)  # last: an entry without its table would be one that lost it
    return folder


def read(root: Path, *, card: str | None = None) -> Found:
    """Every entry below the root, or below one card's folder. Raises UsageError for a folder that is no history."""
    _own(root, make=False)
    places = sorted(place for place in _places(root) if card is None or place.card == card)
    entries, damaged = [], 0
    for place in places:
        try:
            entries.append(_read(root, place))
        except SourceError:
            damaged += 1
    return Found(tuple(entries), damaged)


def _read(root: Path, place: Place) -> Entry:
    try:
        with (root / place.path).open("rb") as file:
            data = file.read(MAX_ENTRY + 1)
    except OSError as error:
        raise SourceError(f"This entry cannot be read: {error.strerror}.", file=place.path) from error
    return read_entry(data, path=place.path)


def _places(root: Path) -> Iterator[Place]:
    """Entries by their paths; links are not followed."""
    seen = 0
    for folder, below, names in os.walk(root, followlinks=False):
        below[:] = [name for name in below if not name.startswith(".")]
        seen += len(names)
        if seen > MOST_FILES:
            raise UsageError(f"{root} holds over {MOST_FILES:,} files; it is no history of ours.", code="history")
        for name in names:
            path = Path(folder, name)
            place = read_place(path.relative_to(root).as_posix())
            if place and path.is_file() and not path.is_symlink():
                yield place


def _is_work(path: Path) -> bool:
    """Anything but a marker that another run is just writing."""
    return not path.name.endswith(".part")


def _own(root: Path, *, make: bool) -> None:
    """Raises UsageError unless the root holds our marker, which an empty or new folder is given where `make` is set."""
    marker = root / MARKER
    try:
        if marker.is_file() and marker.stat().st_size < 1_000 and is_marker(marker.read_bytes()):
            return
        if make and (not root.exists() or (root.is_dir() and not any(map(_is_work, root.iterdir())))):
            create(root)
            write_whole(marker, marker_file())
            return
    except OSError as error:
        raise UsageError(f"The history {root} cannot be used: {error.strerror}.", code="history") from error
    raise UsageError(
        f"{root} is no history of ours, it holds no {MARKER}; name a new folder or one that `run --history` made.", code="history"
    )
