"""The parts of a report before any medium has been chosen: what stands where, with untrusted text still marked as such.

Every renderer shows these same blocks, so that none of them can say something the others do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from evalaction.method.records import Quoted
from evalaction.method.report import Strip


@dataclass(frozen=True, slots=True)
class Draws:
    """A strip of draws; each renderer has its own marks, which differ in shape and not only in colour."""

    strip: Strip


@dataclass(frozen=True, slots=True)
class Link:
    """Our own words, leading to an address that the caller vouches for."""

    text: str
    url: str


Fragment: TypeAlias = "str | Quoted | Draws | Link"
Text: TypeAlias = "tuple[Fragment, ...]"


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: Text
    lead: str | None = None


@dataclass(frozen=True, slots=True)
class Bullets:
    lines: tuple[Text, ...]
    callout: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    head: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    """Worst first; a renderer may show the first ones only and says how many more there are."""
    legend: tuple[str, ...] = ()
    """Letters of the strips that need an explanation below the table."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of a text file that somebody else wrote, as a unified diff."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that a reader opens when needed."""

    title: str
    detail: str
    blocks: tuple[Block, ...]


Block: TypeAlias = "Paragraph | Bullets | Table | Listing | Fold"


@dataclass(frozen=True, slots=True)
class Section:
    """`name` is fixed; where space is short, whole sections go in an order of names."""

    name: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    titles: tuple[str, ...]
    """Go before all else."""
    mark: str
    """Name of the mark: pass, fail, inconclusive, unreachable, refused, stopped, neutral."""
    name: str
    """The card's name, untrusted."""
    heading: Text
    sections: tuple[Section, ...]
    footer: tuple[Text, ...]
    last_words: str
