"""A strict JSON reader that knows where every key and value stands; for cards, which are small."""

from __future__ import annotations

import json
import re
from decimal import Decimal

from evalaction.errors import SourceError
from evalaction.method.canonical import Json
from evalaction.method.reading.source import Builder, Path, Scalar, Spot
from evalaction.method.reading.strict_json import NotJson, decimal, integer
from evalaction.method.reading.text import position

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Scalar] = {"null": None, "true": True, "false": False}
_WORD = re.compile(r"[A-Za-z-]+")
_STRINGS = json.JSONDecoder()


def read(builder: Builder) -> Json:
    """The value of the whole text; the builder gets the spots. Raises SourceError."""
    reader = _Reader(builder)
    value, end = reader.value((), reader.skip(0), None)
    end = reader.skip(end)
    if end != len(builder.text):
        raise reader.fail("only one JSON value is allowed in this file", end)
    return value


class _Reader:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.text = builder.text

    def fail(self, sentence: str, offset: int) -> SourceError:
        return self.builder.fail(sentence, *position(self.text, offset))

    def skip(self, offset: int) -> int:
        found = _SPACE.match(self.text, offset)
        return found.end() if found else offset

    def value(self, path: Path, start: int, key: tuple[int, int] | None) -> tuple[Json, int]:
        opening = self.text[start : start + 1]
        value: Json
        raw: str | None = None
        line, column = position(self.text, start)
        if opening in ("{", "["):
            self.builder.enter(path, line, column)
            value, end = self.mapping(path, start) if opening == "{" else self.array(path, start)
        else:
            value, raw, end = self.scalar(path, start)
        self.builder.spots[path] = Spot(line=line, column=column, start=start, end=end, raw=raw, quoted=opening == '"', key=key)
        return value, end

    def mapping(self, path: Path, start: int) -> tuple[dict[str, Json], int]:
        found: dict[str, Json] = {}
        offset = self.skip(start + 1)
        if self.text[offset : offset + 1] == "}":
            return found, offset + 1
        while True:
            place = position(self.text, offset)
            key, end = self.string(offset)
            self.builder.key(found, key, *place)
            colon = self.skip(end)
            if self.text[colon : colon + 1] != ":":
                raise self.fail("a `:` belongs here", colon)
            found[key], end = self.value((*path, key), self.skip(colon + 1), place)
            offset, closed = self.next(end, "}")
            if closed:
                return found, offset

    def array(self, path: Path, start: int) -> tuple[list[Json], int]:
        found: list[Json] = []
        offset = self.skip(start + 1)
        if self.text[offset : offset + 1] == "]":
            return found, offset + 1
        while True:
            value, end = self.value((*path, len(found)), offset, None)
            found.append(value)
            offset, closed = self.next(end, "]")
            if closed:
                return found, offset

    def next(self, end: int, closing: str) -> tuple[int, bool]:
        """Past a comma to the next part, or past the closing bracket."""
        offset = self.skip(end)
        mark = self.text[offset : offset + 1]
        if mark == closing:
            return offset + 1, True
        if mark != ",":
            raise self.fail(f"a `,` or `{closing}` belongs here", offset)
        return self.skip(offset + 1), False

    def string(self, start: int) -> tuple[str, int]:
        if self.text[start : start + 1] != '"':
            raise self.fail('text in double quotes belongs here (a file that begins with "{" is read as JSON)', start)
        try:
            value, end = _STRINGS.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            raise self.fail(f"{error.msg[:1].lower()}{error.msg[1:]}", error.pos) from None
        assert isinstance(value, str)
        self.builder.character(value, *position(self.text, start))
        return value, end

    def scalar(self, path: Path, start: int) -> tuple[Scalar, str, int]:
        if self.text[start : start + 1] == '"':
            text, end = self.string(start)
            return text, text, end
        number = _NUMBER.match(self.text, start)
        if number:
            return self.number(path, number), number[0], number.end()
        word = _WORD.match(self.text, start)
        if word and word[0] in _WORDS:
            return _WORDS[word[0]], word[0], word.end()
        if word:
            raise self.fail(f"`{word[0][:20]}` is not JSON; text needs double quotes", start)
        raise self.fail("a JSON value belongs here", start)

    def number(self, path: Path, number: re.Match[str]) -> str | int | Decimal:
        if path in self.builder.text_paths:
            return number[0]
        try:
            return decimal(number[0]) if number[2] or number[3] else integer(number[0])
        except NotJson as error:
            raise self.fail(f"{error.detail} cannot be used here", number.start()) from None
