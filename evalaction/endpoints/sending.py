"""What the APIs share when they write a request."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evalaction.errors import UsageError
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message


def as_json(messages: Sequence[Message]) -> list[Json]:
    return [{"role": message.role, "content": message.content} for message in messages]


def refuse_params(endpoint: Endpoint, ours: Collection[str]) -> None:
    """Raises UsageError if the card's `params` hold a field that is set here."""
    taken = [name for name in endpoint.params if name in ours]
    if taken:
        raise UsageError(f"Endpoint {endpoint.name}: params must not hold {', '.join(taken)}; evalaction sets these itself.")
