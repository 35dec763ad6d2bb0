"""Text a user wrote as YAML or JSON, read strictly, with a place for every key and value.

Only PyYAML's parser events are used: its resolvers read `017` as 15 and `12:30:45` as 45045.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias, cast

from evalaction.errors import SourceError
from evalaction.method.canonical import Json
from evalaction.method.reading.text import decode, invisible, position, short

Path: TypeAlias = "tuple[str | int, ...]"
Scalar: TypeAlias = "str | int | Decimal | bool | None"

MAX_BYTES = 256 * 1024
MAX_DEPTH = 50

_FOREIGN_BREAK = re.compile("[\x85\u2028\u2029]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """Where one value stands. Lines and columns are 1-based; `start` and `end` are character offsets into the text."""

    line: int
    column: int
    start: int
    end: int
    raw: str | None = None
    """The scalar as it was written, quotes and escapes resolved; None for mappings and lists."""
    quoted: bool = False
    key: tuple[int, int] | None = None
    """Line and column of the key, for the values of a mapping."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """The value of a file and the place of each part of it."""

    file: str
    text: str
    value: Json
    spots: Mapping[Path, Spot]

    def at(self, path: Path) -> Json:
        """The value at a path. Raises KeyError, IndexError or TypeError where there is none."""
        found: Any = self.value
        for step in path:
            found = found[step]
        return cast("Json", found)

    def spot(self, path: Path) -> Spot:
        """The spot of a path, or of its nearest parent that exists."""
        while path and path not in self.spots:
            path = path[:-1]
        return self.spots[path]

    def place(self, path: Path) -> tuple[int, int]:
        """Line and column of a value."""
        spot = self.spot(path)
        return spot.line, spot.column

    def key_place(self, path: Path) -> tuple[int, int]:
        """Line and column of the key of a value; of the value itself where there is no key."""
        spot = self.spot(path)
        return spot.key or (spot.line, spot.column)

    def raw(self, path: Path) -> str | None:
        """The text of a scalar before it was given a type; None for anything else."""
        spot = self.spots.get(path)
        return spot.raw if spot else None

    def error(self, path: Path, sentence: str, *, at_key: bool = False) -> SourceError:
        """An error to raise, placed at a value or at its key."""
        line, column = self.key_place(path) if at_key else self.place(path)
        return SourceError(sentence, file=self.file, line=line, column=column)


@dataclass(kw_only=True, slots=True)
class Builder:
    """Collects the spots while one of the two readers walks the text, and refuses what both refuse."""

    file: str
    text: str
    text_paths: Collection[Path]
    spots: dict[Path, Spot] = field(default_factory=dict)

    def fail(self, sentence: str, line: int, column: int) -> SourceError:
        return SourceError(sentence, file=self.file, line=line, column=column)

    def enter(self, path: Path, line: int, column: int) -> None:
        if len(path) >= MAX_DEPTH:
            raise self.fail(f"nested over {MAX_DEPTH} levels deep", line, column)

    def key(self, mapping: Mapping[str, object], key: str, line: int, column: int) -> None:
        if key in mapping:
            raise self.fail(f"the key `{short(key)}` appears twice in one mapping", line, column)
        self.character(key, line, column)

    def character(self, text: str, line: int, column: int) -> None:
        bad = next((one for one in text if "\ud800" <= one <= "\udfff"), None)
        if bad is not None:
            raise self.fail(f"{invisible(bad)} is half of a character and cannot be written as UTF-8", line, column)


def load(
    data: bytes, *, file: str, text_paths: Collection[Path] = frozenset(), json: bool = False, limit: int = MAX_BYTES
) -> Document:
    """A card-like file: strict JSON if its text begins with `{` or `json` says so, else YAML 1.2 with the core schema.

    Raises SourceError. Scalars at `text_paths` are text whatever they look like (a hash may consist of digits only), except null.
    Refused: over `limit` bytes, depth over 50, byte order marks, UTF-16, duplicate and non-text keys, anchors, aliases, merge
    keys, tags, directives, tabs, several documents, `.nan`, `.inf`, numbers out of bounds.
    """
    if len(data) > limit:
        raise SourceError(f"this file has {len(data):,} bytes; the limit is {limit:,}", file=file)
    text = decode(data, file=file)
    line_break = _FOREIGN_BREAK.search(text)
    if line_break:
        line, column = position(text, line_break.start())
        sentence = f"{invisible(line_break[0])} is a line break to some readers; remove it"
        raise SourceError(sentence, file=file, line=line, column=column)
    builder = Builder(file=file, text=text, text_paths=text_paths)
    if json or text.lstrip(" \t\r\n").startswith("{"):
        from evalaction.method.reading.json_source import read
    else:
        from evalaction.method.reading.yaml_source import read
    value = read(builder)
    return Document(file=file, text=text, value=value, spots=builder.spots)
