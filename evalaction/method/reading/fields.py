"""Typed access to a JSON object that somebody else may have written: every miss is one sentence with the field's name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evalaction.errors import SourceError
from evalaction.method.canonical import Json

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Fields:
    """One JSON object (or array) of `file` at `path`. All methods raise SourceError."""

    def __init__(self, value: Json, *, file: str, path: str = "") -> None:
        self._value = value
        self._file = file
        self._path = path
        self._read: set[str] = set()

    def text(self, key: str) -> str:
        held = self._get(key)
        if not isinstance(held, str):
            raise self._wrong(key, "text")
        return held

    def maybe_text(self, key: str) -> str | None:
        return self.text(key) if self._has(key) else None

    def digest(self, key: str) -> str:
        held = self.text(key)
        if not _DIGEST.fullmatch(held):
            raise self._wrong(key, "64 lower-case hex digits")
        return held

    def maybe_digest(self, key: str) -> str | None:
        return self.digest(key) if self._has(key) else None

    def word(self, key: str) -> str:
        """A code: lower-case letters, digits and `_`."""
        value = self.text(key)
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", value, re.ASCII):
            raise self._wrong(key, "a code of lower-case letters")
        return value

    def one_of(self, key: str, allowed: Sequence[str]) -> str:
        held = self.text(key)
        if held not in allowed:
            raise self._wrong(key, "one of " + ", ".join(allowed))
        return held

    def count(self, key: str) -> int:
        held = self._get(key)
        if not isinstance(held, int) or isinstance(held, bool) or held < 0:
            raise self._wrong(key, "a whole number, zero or more")
        return held

    def maybe_count(self, key: str) -> int | None:
        return self.count(key) if self._has(key) else None

    def flag(self, key: str) -> bool:
        held = self._get(key)
        if not isinstance(held, bool):
            raise self._wrong(key, "true or false")
        return held

    def texts(self, key: str) -> tuple[str, ...]:
        return self._texts(self._get(key), key)

    def maybe_texts(self, key: str) -> tuple[str, ...]:
        return self.texts(key) if self._has(key) else ()

    def maybe_flag(self, key: str) -> bool:
        """False where it is not there."""
        return self.flag(key) if self._has(key) else False

    def maybe_counts(self, key: str) -> tuple[int, ...]:
        """Whole numbers in ascending order, each once; none where the key is not there."""
        if not self._has(key):
            return ()
        held = self._list(self._get(key), key)
        numbers = [one for one in held if isinstance(one, int) and not isinstance(one, bool) and one >= 0]
        if len(numbers) != len(held) or numbers != sorted(set(numbers)):
            raise self._wrong(key, "ascending whole numbers")
        return tuple(numbers)

    def texts_or_none(self, key: str) -> tuple[str | None, ...]:
        """A list of texts in which null may stand; empty where the key is not there."""
        if not self._has(key):
            return ()
        return tuple(None if part is None else self._text(part, key) for part in self._list(self._get(key), key))

    def maybe_parts(self, key: str) -> list[Fields]:
        return self.parts(key) if self._has(key) else []

    def mapping(self, key: str) -> dict[str, str]:
        held = self._get(key)
        if not isinstance(held, Mapping):
            raise self._wrong(key, "an object of texts")
        return {name: self._text(value, key) for name, value in held.items()}

    def maybe_mapping(self, key: str) -> dict[str, str]:
        return self.mapping(key) if self._has(key) else {}

    def part(self, key: str) -> Fields:
        return self._sub(self._get(key), key)

    def maybe_part(self, key: str) -> Fields | None:
        return self.part(key) if self._has(key) else None

    def parts(self, key: str) -> list[Fields]:
        return [self._sub(value, f"{key}/{place}") for place, value in enumerate(self._list(self._get(key), key))]

    def pair_of_texts(self) -> tuple[str, tuple[str, ...]]:
        """This value as `[text, [text, …]]`."""
        held = self._list(self._value, "")
        if len(held) != 2:
            raise self._wrong("", "a pair of an id and its tags")
        return self._text(held[0], "0"), self._texts(held[1], "1")

    def nothing_else(self) -> None:
        """Refuse keys that nobody asked for: an unknown field is never silently ignored."""
        unknown = sorted(set(self._value) - self._read) if isinstance(self._value, Mapping) else []
        if unknown:
            raise SourceError(f"{self._path}/{unknown[0][:80]} is not a known field.", file=self._file)

    def _has(self, key: str) -> bool:
        self._read.add(key)
        return isinstance(self._value, Mapping) and key in self._value

    def _get(self, key: str) -> Json:
        if not self._has(key) or not isinstance(self._value, Mapping):
            raise SourceError(f"{self._path}/{key} is missing.", file=self._file)
        return self._value[key]

    def _sub(self, value: Json, key: str) -> Fields:
        return Fields(value, file=self._file, path=f"{self._path}/{key}")

    def _list(self, value: Json, key: str) -> Sequence[Json]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise self._wrong(key, "a list")
        return value

    def _texts(self, value: Json, key: str) -> tuple[str, ...]:
        return tuple(self._text(part, key) for part in self._list(value, key))

    def _text(self, value: Json, key: str) -> str:
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def _wrong(self, key: str, wanted: str) -> SourceError:
        return SourceError(f"{self._path}/{key} must be {wanted}.", file=self._file)
