"""One value of a strictly read document, with errors that stand where the mistake is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalaction.errors import SourceError
from evalaction.method.canonical import Json
from evalaction.method.reading.source import Document, Path
from evalaction.method.reading.text import short, suggestion


@dataclass(frozen=True, slots=True)
class Part:
    """The value of `document` at `path`. All methods raise SourceError."""

    document: Document
    path: Path = ()

    @property
    def value(self) -> Json:
        return self.document.at(self.path)

    @property
    def line(self) -> int:
        return self.document.place(self.path)[0]

    def at(self, *steps: str | int) -> Part:
        return Part(self.document, (*self.path, *steps))

    def wrong(self, sentence: str, *, at_key: bool = False) -> SourceError:
        return self.document.error(self.path, sentence, at_key=at_key)

    def fields(self, known: tuple[str, ...], what: str) -> Mapping[str, Part]:
        """The fields of a mapping, none of which may be unknown."""
        found = self.mapping(what)
        for name, part in found.items():
            if name not in known:
                raise part.wrong(f"unknown field `{short(name)}`{suggestion(name, known)}", at_key=True)
        return found

    def mapping(self, what: str) -> Mapping[str, Part]:
        if not isinstance(self.value, Mapping):
            raise self.wrong(f"{what} must be a mapping, not {self.shown()}")
        return {name: self.at(name) for name in self.value}

    def parts(self, what: str) -> Iterator[Part]:
        """The entries of a list that must have some."""
        if not isinstance(self.value, Sequence) or isinstance(self.value, str):
            raise self.wrong(f"{what} must be a list, not {self.shown()}")
        if not self.value:
            raise self.wrong(f"{what} must not be empty")
        return (self.at(place) for place in range(len(self.value)))

    def text(self, what: str) -> str:
        """Text that is not blank."""
        if not isinstance(self.value, str):
            hint = "" if self.value is None or isinstance(self.value, (Mapping, Sequence)) else "; put it in quotes"
            raise self.wrong(f"{what} must be text, not {self.shown()}{hint}")
        if not self.value.strip():
            raise self.wrong(f"{what} must not be empty")
        return self.value

    def shown(self) -> str:
        if isinstance(self.value, Mapping):
            return "a mapping"
        if self.value is None:
            return "empty"
        if isinstance(self.value, Sequence) and not isinstance(self.value, str):
            return "a list"
        raw = short(self.document.raw(self.path) or str(self.value), 40)
        return f'the text "{raw}"' if isinstance(self.value, str) else raw
