"""Fields that a later version brings: each is refused with one sentence, never ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalaction.errors import SourceError
from evalaction.method.reading.source import Document, Path

_NOT_YET = "is not in this version of evalaction"


def first_later(document: Document) -> SourceError | None:
    """The first field of the document that this version cannot honour; None when there is none."""
    found = sorted(
        ((document.key_place(path), path, sentence) for path, sentence in _refused(document.value)), key=lambda one: one[0]
    )
    return document.error(found[0][1], found[0][2], at_key=True) if found else None


def _refused(value: Any) -> Iterator[tuple[Path, str]]:
    card = _mapping(value)
    if "strict" in _mapping(card.get("sign")):
        yield ("sign", "strict"), f"`sign.strict` {_NOT_YET}; remove it"
    if card.get("stop") == "decided":
        yield ("stop",), f"`stop: decided` {_NOT_YET}; remove it and the whole grid is drawn"


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
