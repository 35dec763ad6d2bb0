"""How a reason shows text it did not write: short, on one line, safe to encode."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evalaction.method.canonical import Json, dumps

SHOWN = 60
REASON_LENGTH = 240
UNCUT_LENGTH = 4_000
"""Of a program's reason before it is searched for secrets: a cut could leave half of one, which no search finds."""


def one_line(text: str, limit: int = REASON_LENGTH) -> str:
    """Text without control characters or lone surrogates, at most `limit` characters."""
    if len(text) <= limit and text.isprintable():
        return text
    shown = "".join(c if c.isprintable() else _escaped(c) for c in text[:limit])
    return shown if len(shown) <= limit and len(text) <= limit else shown[: limit - 1] + "…"


def clipped(value: Json) -> str:
    """A JSON value in a few words: scalars as JSON, containers by their size."""
    if isinstance(value, str):
        return around(value, 0)
    if isinstance(value, Mapping):
        return f"an object of {len(value)}"
    if value is not None and not isinstance(value, (bool, int, float)) and hasattr(value, "__len__"):
        return f"an array of {len(value)}"
    return one_line(dumps(value), SHOWN)


def around(text: str, place: int) -> str:
    """The part of a text that begins a little before `place`, as a JSON string, with … where it was cut."""
    start = max(0, place - SHOWN // 3) if len(text) > SHOWN else 0
    shown = json.dumps(text[start : start + SHOWN], ensure_ascii=False)[1:-1]
    return one_line(f'"{"…" if start else ""}{shown}{"…" if start + SHOWN < len(text) else ""}"', 2 * SHOWN)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
