"""What is asked in one draw, before any address or key is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalaction.endpoints.apis import api_of
from evalaction.errors import UsageError
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message, Output

RESERVED = {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
"""Headers that belong to the transport."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request without a secret; the same for every draw of an item in an arm."""

    api: str
    output: Output
    headers: tuple[tuple[str, str], ...]
    """Only those whose values the card spells out."""
    body: bytes
    sha256: str
    """Digest of what is asked: API, literal headers, body, and at Azure deployment and version; not the address, not the key."""


def build_request(endpoint: Endpoint, messages: Sequence[Message], output: Output) -> Request:
    """The request that asks `endpoint` for these messages: the card's parameters, as written and in the order written.

    Pure. Raises UsageError for an unknown API and for what the API cannot send.
    """
    body = canonical.encode(api_of(endpoint).body(endpoint, messages), sort_keys=False)
    headers = tuple((header.name, header.value) for header in endpoint.headers if header.value is not None)
    for header in endpoint.headers:
        if header.name.lower() in RESERVED:
            raise UsageError(f"Endpoint {endpoint.name}: the header {header.name} belongs to the transport; remove it.")
    addressed: list[Json] = [] if endpoint.api_version is None else [[endpoint.model, endpoint.api_version]]
    asked = canonical.encode([endpoint.api, [list(pair) for pair in headers], *addressed]) + b"\n" + body
    return Request(api=endpoint.api, output=output, headers=headers, body=body, sha256=canonical.sha256(asked))
