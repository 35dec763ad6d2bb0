"""Finds configured secrets in text we are about to write, however our own or a provider's encoders may have dressed them.

A secret is looked for in plain text, percent-encoded, as JSON or `\\x` escapes, as HTML and XML entities, with zero-width
characters between its own (all of these may be mixed, and nested a few times), in base64 at each alignment, and in hex.

An expression for a whole secret in every encoding would take a second to compile. So an expression finds where its first
characters may stand, and from there the rest is followed character by character.
"""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html.entities import html5
from typing import IO

MIN_LENGTH = 8
"""Shorter values are reported, not scanned for: replacing every `1` would blank the report."""
MARK = "***"
"""Shorter than any secret, so that a replacement always shrinks the text and the loop in `redact` ends."""

_NESTING = 4
_ANCHOR = 3
_CHUNK = 1 << 20
_LONGEST_FORM = 96  # characters that one character of a secret may take, with what may stand before it
_ZERO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_GAP = rf"(?:[{_ZERO_WIDTH}]|\\{{1,4}}u200[bB]|&(?:amp;)?#(?:8203|[xX]200[bB]);|%[eE]2%80%8[bB]){{0,2}}"
_WRAPPED_GAP = rf"(?:{_GAP}(?:\r?\n|(?:\\{{1,4}}r)?\\{{1,4}}n)?)"


def _any_case(hex_digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in hex_digits)


def _short_escapes(char: str, depth: int) -> list[str]:
    """`\\"` is `\\\\\\"` when it is escaped once more, and a backslash doubles each time."""
    slash = r"\\"
    if char in "\"'/":
        return [slash * (2 ** (depth + 1) - 1) + char, slash * 2**depth + char]
    if char == "\\":
        return [slash * 2 ** (depth + 1)]
    return []


@cache
def _forms(char: str) -> tuple[str, ...]:
    """One expression per depth of nesting, for every way but the plain one to write a character."""
    point = ord(char)
    data = char.encode("utf-8", "surrogatepass")
    units = char.encode("utf-16-be", "surrogatepass")
    named = [re.escape(name) for name, value in html5.items() if value == char and name.endswith(";")]
    entity = "|".join([rf"#0{{0,7}}{point};", rf"#[xX]0{{0,6}}{_any_case(f'{point:x}')};", *named])
    forms = []
    for depth in range(_NESTING):
        slashes = r"\\" * 2**depth  # written out: an expression that begins with plain characters is searched much faster
        ways = [
            "".join(f"%{'25' * depth}{_any_case(f'{byte:02x}')}" for byte in data),
            "".join(rf"{slashes}u{_any_case(units[at : at + 2].hex())}" for at in range(0, len(units), 2)),
            f"&(?:amp;|#38;|#[xX]26;){{{depth}}}(?:{entity})",
            *_short_escapes(char, depth),
        ]
        if point < 256:
            ways.append(rf"{slashes}x{_any_case(f'{point:02x}')}")
        if char == " ":
            ways.append(r"\+")
        forms.append("|".join(ways))
    return tuple(forms)


@cache
def _compiled(char: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _forms(char)))


@cache
def _gap(wrapped: bool) -> re.Pattern[str]:
    return re.compile(_WRAPPED_GAP if wrapped else _GAP)


@dataclass(frozen=True, slots=True)
class _Needle:
    """A text to find: per character the set of plain characters it may be; `wrapped` allows line breaks in between (base64)."""

    name: str
    text: tuple[str, ...]
    wrapped: bool
    anchor: re.Pattern[str]

    @classmethod
    def of(cls, name: str, text: tuple[str, ...], *, wrapped: bool) -> _Needle:
        parts = (
            "|".join([*map(re.escape, alike), *(form for char in alike for form in _forms(char))]) for alike in text[:_ANCHOR]
        )
        between = _WRAPPED_GAP if wrapped else _GAP
        return cls(name, text, wrapped, re.compile(between.join(f"(?:{part})" for part in parts)))

    def find(self, text: str, start: int) -> tuple[int, int] | None:
        """(begin, end) of the first occurrence at or after `start`."""
        while candidate := self.anchor.search(text, start):
            end = self._end(text, candidate.start())
            if end is not None:
                return candidate.start(), end
            start = candidate.start() + 1
        return None

    def _end(self, text: str, start: int) -> int | None:
        places = {start}
        for number, alike in enumerate(self.text):
            places = {end for place in places for end in self._steps(text, place, alike, first=number == 0)}
            if not places:
                return None
        return max(places)

    def _steps(self, text: str, place: int, alike: str, *, first: bool) -> Iterator[int]:
        starts = {place}
        if not first and (gap := _gap(self.wrapped).match(text, place)):
            starts.add(gap.end())
        for at in starts:
            here = text[at : at + 1]
            if here and here in alike:
                yield at + 1
            if here in {"%", "\\", "&", "+"}:
                for char in alike:
                    yield from (match.end() for form in _compiled(char) if (match := form.match(text, at)))


def _base64_cores(data: bytes) -> Iterator[str]:
    """The part of the base64 text that depends on nothing but `data`, for each alignment within its surroundings."""
    for shift, dropped in ((0, 0), (1, 2), (2, 3)):
        text = base64.b64encode(bytes(shift) + data).decode("ascii")
        yield text[dropped : (shift + len(data)) * 8 // 6]


def _needles(name: str, secret: str) -> Iterator[_Needle]:
    data = secret.encode("utf-8", "surrogatepass")
    yield _Needle.of(name, tuple(secret), wrapped=False)
    yield _Needle.of(name, tuple(char + char.upper() if char.isalpha() else char for char in data.hex()), wrapped=False)
    for core in _base64_cores(data):
        yield _Needle.of(name, tuple({"+": "+-", "/": "/_"}.get(char, char) for char in core), wrapped=True)


def _start_of(needles: Iterable[_Needle]) -> re.Pattern[str]:
    """What stands in every text with a secret: the sign that begins a form or a gap, or a first character before its second."""
    pairs = {(needle.text[0], needle.text[1] + "\r\n" * needle.wrapped) for needle in needles}
    plain = [f"[{re.escape(first)}][{re.escape(second)}]" for first, second in sorted(pairs)]
    return re.compile("|".join([*plain, rf"[%&+\\{_ZERO_WIDTH}]"]) if plain else "(?!)")


class Redactor:
    """Knows the configured secrets (variable name to value) and never shows them.

    `short` names the variables whose value has fewer than 8 characters; those are warned about and not scanned for.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self.short = tuple(sorted(name for name, value in secrets.items() if 0 < len(value) < MIN_LENGTH))
        known = [(name, value) for name, value in secrets.items() if len(value) >= MIN_LENGTH]
        known.sort(key=lambda pair: (-len(pair[1]), pair[0]))
        self._needles = tuple(needle for name, value in known for needle in _needles(name, value))
        self._start = _start_of(self._needles)
        self._overlap = max((len(needle.text) for needle in self._needles), default=0) * _LONGEST_FORM

    def __repr__(self) -> str:
        return f"Redactor({len({needle.name for needle in self._needles})} secrets)"

    def redact(self, text: str) -> str:
        """The text with every secret replaced by `***`. Call it before the text is cut or encoded."""
        if not self._start.search(text):
            return text
        before = None
        while before != text:  # what stands left and right of a replaced secret may, put together, be another one
            before = text
            for needle in self._needles:
                text = _replaced(text, needle)
        return text

    def leaks(self, data: bytes) -> list[str]:
        """Names of the secrets found in a finished file, sorted."""
        return self._found(data.decode("utf-8", "surrogateescape"))

    def leaks_in(self, file: IO[bytes]) -> list[str]:
        """The same for a file of any size, read in pieces that overlap, so that no border hides a secret."""
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        found: set[str] = set()
        tail = ""
        while chunk := file.read(_CHUNK):
            text = tail + decoder.decode(chunk)
            found.update(self._found(text))
            tail = text[-self._overlap :] if self._overlap else ""
        found.update(self._found(tail + decoder.decode(b"", final=True)))
        return sorted(found)

    def _found(self, text: str) -> list[str]:
        return sorted({needle.name for needle in self._needles if needle.find(text, 0)})


def _replaced(text: str, needle: _Needle) -> str:
    parts = []
    start = 0
    while place := needle.find(text, start):
        parts += [text[start : place[0]], MARK]
        start = place[1]
    return "".join([*parts, text[start:]]) if parts else text
