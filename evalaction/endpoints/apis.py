"""The APIs by the name that the card uses. Each is one module that satisfies `Api`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from evalaction.endpoints import anthropic, azure_openai, command, http, openai, openai_responses, scripted
from evalaction.endpoints.reading import Reading
from evalaction.errors import UsageError
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message, Output


class Api(Protocol):
    """How one API is asked and read. All functions are pure."""

    def path(self, base: str, endpoint: Endpoint, /) -> str:
        """Path of the request for a base address with path `base` (no trailing slash): the API's own is appended unless there.

        Raises UsageError for an address that contradicts the endpoint.
        """

    def key_headers(self, key: str, /) -> tuple[tuple[str, str], ...]:
        """The headers that carry the key."""

    def own_headers(self) -> tuple[tuple[str, str], ...]:
        """Headers that every request of this API needs."""

    def body(self, endpoint: Endpoint, messages: Sequence[Message], /) -> Json:
        """The request's JSON value. Raises UsageError for what the API cannot send."""

    def read(self, reply: Json, endpoint: Endpoint, output: Output, /) -> Reading:
        """What a reply with status 200 says. Raises Malformed if it does not have the API's shape."""


APIS: Mapping[str, Api] = MappingProxyType(
    {
        "openai": openai,
        "openai-responses": openai_responses,
        "azure-openai": azure_openai,
        "anthropic": anthropic,
        "http": http,
        "command": command,
        "scripted": scripted,
    }
)


def api_of(endpoint: Endpoint) -> Api:
    """Raises UsageError for an API that is not there."""
    try:
        return APIS[endpoint.api]
    except KeyError:
        raise UsageError(f"Endpoint {endpoint.name}: there is no api {endpoint.api}; use one of {', '.join(APIS)}.") from None
