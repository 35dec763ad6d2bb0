"""Equality of JSON values and JSON Pointers: true is not 1, 1 is 1.0, order counts in arrays only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from evalaction.checks.words import clipped
from evalaction.method.canonical import Json

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_BAD_ESCAPE = re.compile(r"~(?![01])")


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """The reference tokens of RFC 6901. Raises ValueError."""
    if pointer and not pointer.startswith("/"):
        raise ValueError('A JSON Pointer is empty or begins with "/".')
    if _BAD_ESCAPE.search(pointer):
        raise ValueError('In a JSON Pointer "~" is written "~0" and "/" inside a key "~1".')
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def at(value: Json, tokens: tuple[str, ...]) -> Json:
    """The part of a value that a pointer names. Raises LookupError where there is none."""
    for token in tokens:
        if isinstance(value, Mapping):
            value = value[token]
        elif isinstance(value, list) and _INDEX.fullmatch(token):
            value = value[int(token)]
        else:
            raise LookupError(token)
    return value


def difference(expected: Json, got: Json, place: str = "") -> str | None:
    """None where two values are equal, else the first place at which they differ and both sides there."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _of_objects(expected, got, place)
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        pairs = enumerate(zip(expected, got, strict=True))
        return next((found for i, (a, b) in pairs if (found := difference(a, b, f"{place}/{i}"))), None)
    if _scalar_kind(expected) == _scalar_kind(got) != "container" and expected == got:
        return None
    return f"at {place or 'the top'}: expected {clipped(expected)}, got {clipped(got)}"


def _of_objects(expected: Mapping[str, Json], got: Mapping[str, Json], place: str) -> str | None:
    for key in sorted(expected.keys() - got.keys()):
        return f"at {place or 'the top'}: the key {clipped(key)} is missing"
    for key in sorted(got.keys() - expected.keys()):
        return f"at {place or 'the top'}: the key {clipped(key)} is not expected"
    for key in sorted(expected):
        step = key.replace("~", "~0").replace("/", "~1")
        if found := difference(expected[key], got[key], f"{place}/{step}"):
            return found
    return None


def _scalar_kind(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "null" if value is None else "container"
