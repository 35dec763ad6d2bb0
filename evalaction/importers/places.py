"""Values of a configuration as the source would put them into a text: places `{{name}}`, numbers as JavaScript writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from evalaction.importers.imported import NotCarried
from evalaction.importers.loose_yaml import plain_date
from evalaction.method.canonical import Json
from evalaction.method.reading.source import Document, Path
from evalaction.method.reading.text import decode, short

Read: TypeAlias = Callable[[str], bytes]
"""Reads a file beside the configuration. Raises NotCarried."""

_PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}")
_NUNJUCKS = re.compile(r"\{\{|\{%|\{#")
_TEXT_FILES = (".txt", ".md", ".json", ".html", ".xml", ".csv", ".log")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands."""

    document: Document
    path: Path = ()

    @property
    def line(self) -> int:
        """Of its key, where it has one."""
        return self.document.key_place(self.path)[0]

    @property
    def file(self) -> str:
        return self.document.file

    def at(self, *more: str | int) -> Place:
        return Place(self.document, (*self.path, *more))

    @property
    def date(self) -> bool:
        return plain_date(self.document, self.path)


def names_in(text: str) -> list[str]:
    """The names of the places `{{name}}`. Raises NotCarried for any other use of Nunjucks."""
    for found in _NUNJUCKS.finditer(text):
        if not _PLACE.match(text, found.start()):
            shown = short(text[found.start() : found.start() + 30].split("\n", maxsplit=1)[0], 30)
            raise NotCarried(f"the template `{shown}` is more than a name in `{{{{ }}}}`; only places are filled here")
    return _PLACE.findall(text)


def filled(text: str, variables: Mapping[str, str]) -> str:
    """The text with its places filled once; a name that is not there is empty, as in promptfoo. Raises NotCarried."""
    names_in(text)
    return _PLACE.sub(lambda place: variables.get(place[1], ""), text)


def text_of(value: Json, place: Place | None = None) -> str:
    """A scalar as JavaScript writes it into a text. Raises NotCarried."""
    if isinstance(value, str):
        if place is not None and place.date:
            raise NotCarried(f"`{short(value)}` is a date to promptfoo; put it in quotes")
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Decimal)):
        return number_of(value)
    raise NotCarried("a list or a mapping is not a text")


def number_of(value: int | Decimal) -> str:
    """A number as JavaScript prints it: a double, in the shortest form. Raises NotCarried where the two might differ."""
    number = float(value)
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    if not number.is_integer() and 1e-4 <= abs(number) < 1e15:
        return repr(number)
    raise NotCarried(f"the number {short(str(value), 30)} is written otherwise by JavaScript; put it in quotes")


def file_text(reference: str, read: Read) -> str:
    """The text of a `file://` reference, without white space around it, as promptfoo takes it. Raises NotCarried."""
    path = reference.removeprefix("file://")
    if "*" in path or not path.casefold().endswith(_TEXT_FILES):
        raise NotCarried(f"`{short(reference)}` is not a text file; write its content out")
    return decode(read_named(path, read), file=path).strip()


def read_named(path: str, read: Read) -> bytes:
    """The file, or NotCarried that names it."""
    try:
        return read(path)
    except NotCarried as error:
        raise NotCarried(f"the file `{short(path)}` {error.why}") from None
