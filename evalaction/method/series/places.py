"""Where an entry lies in a history, whether that is a branch or a folder: `card/series/day/run/entry.json`, `rows.csv` beside it.

Nothing that lies there is ever changed. The marker at the root says that the place is ours to write to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalaction.method.canonical import digest, encode
from evalaction.method.series.entry import Entry

MARKER = "evalaction-history.json"
MARKER_FORMAT = "evalaction/history-root/1"
ENTRY = "entry.json"
TABLE = "rows.csv"
MAX_ENTRY = 8 << 20
MAX_TABLE = 24 << 20
"""Bytes; a longer table is left out."""
RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)
_PATH = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9_-]{0,70})/([0-9a-f]{12})/(\d{4}-\d\d-\d\d)/([A-Za-z0-9][A-Za-z0-9._-]{0,79})/entry\.json", re.ASCII
)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The parts of an entry's path, in the order in which its entries are read."""

    card: str
    series: str
    day: str
    run: str

    @property
    def folder(self) -> str:
        return f"{self.card}/{self.series}/{self.day}/{self.run}"

    @property
    def path(self) -> str:
        return f"{self.folder}/{ENTRY}"


def card_folder(card: str, key: str = "") -> str:
    """The folder of one card and `comment-key`: readable, and no other's."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", card.removesuffix(".yaml").removesuffix(".yml"), flags=re.ASCII).strip("-")[-60:]
    return f"{slug.strip('-') or 'card'}-{digest([card, key])[:8]}"


def place_of(entry: Entry) -> Place:
    return Place(card_folder(entry.card, entry.key), entry.comparable.id, entry.day, entry.run)


def read_place(path: str) -> Place | None:
    """The place that a path names; None for a file that is no entry."""
    found = _PATH.fullmatch(path)
    return Place(*found.groups()) if found else None


def marker_file() -> bytes:
    return encode({"format": MARKER_FORMAT}) + b"\n"


def is_marker(data: bytes) -> bool:
    return data.strip() == marker_file().strip()
