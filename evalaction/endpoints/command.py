"""`api: command`: a committed program answers; the request is JSON on its standard input, its standard output is the text."""

from __future__ import annotations

from collections.abc import Sequence

from evalaction.endpoints import reading
from evalaction.endpoints.reading import Reading
from evalaction.endpoints.sending import as_json
from evalaction.endpoints.unconnected import key_headers, own_headers, path
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message, Output

__all__ = ["body", "key_headers", "own_headers", "path", "read"]


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    """What the program reads: the messages, and the endpoint's model and parameters where the card gives them.

    Neither the item's id nor its tags are in it: a program under test must not know which question it is asked.
    """
    asked: dict[str, Json] = {"messages": as_json(messages)}
    if endpoint.model is not None:
        asked["model"] = endpoint.model
    if endpoint.params:
        asked["params"] = dict(endpoint.params)
    return asked


def read(reply: Json, _endpoint: Endpoint, _output: Output) -> Reading:
    return Reading(output=reading.text(reply, "the output"), empty="empty")
