"""Opening an endpoint for drawing: what is common to all surfaces, and the one place that picks between them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

from evalaction.endpoints.apis import api_of
from evalaction.endpoints.reading import Reading
from evalaction.endpoints.request import Request
from evalaction.errors import UsageError
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion
from evalaction.sandbox.records import Rung

MAX_BODY_BYTES = 8 * 1024 * 1024
"""No reply is read beyond this, whatever the card says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One draw to be sent."""

    request: Request
    item: str
    draw: int
    timeout_ms: int
    """Total: connecting, headers and the whole body."""
    max_body_bytes: int = 1_048_576
    """Of the decoded body."""


class Slot(Protocol):
    """One place of the concurrency, with a connection of its own. Sends one call at a time."""

    async def send(self, call: Call) -> Completion:
        """Exactly one attempt: never raises for what the network or the server does."""

    async def aclose(self) -> None:
        """Close the connection and wait until it is gone."""


class Surface(Protocol):
    """An endpoint that can be drawn from."""

    def expect(self, items: Iterable[str]) -> None:
        """Raises UsageError if an item could never be answered; ask before the first draw."""

    def slot(self) -> Slot: ...


def open_surface(
    endpoint: Endpoint,
    *,
    environ: Mapping[str, str],
    files: Mapping[str, bytes],
    ca_bundle: str | None = None,
    rung: Rung | None = None,
) -> Surface:
    """The surface of an endpoint; nothing is connected yet.

    environ: the variables the card names, the proxies' and SSL_CERT_FILE; files: the committed files by the card's paths, for
    `replies` and programs; ca_bundle: a PEM file; rung: the isolation that a program runs in. A surface that is an asynchronous
    context manager is entered before its first slot. Raises UsageError for a wrong address, key, proxy or bundle, NotRunError
    for a variable that is not set. No value of a variable is ever shown.
    """
    api_of(endpoint)
    # asyncio and ssl are loaded only where draws are made
    if endpoint.api == "scripted":
        from evalaction.endpoints.scripted_surface import open_scripted

        return open_scripted(endpoint, files)
    if endpoint.api == "command":
        from evalaction.endpoints.command_surface import open_command

        return open_command(endpoint, environ, files, rung)
    from evalaction.endpoints.http_surface import open_http

    return open_http(endpoint, environ, ca_bundle)


def now() -> str:
    """UTC, ISO 8601 with milliseconds and Z."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1_000_000:03}Z"


def ms_since(start: float) -> int:
    """Milliseconds since a reading of `time.perf_counter`."""
    return int((time.perf_counter() - start) * 1000)


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def body_limit(call: Call) -> int:
    return min(call.max_body_bytes, MAX_BODY_BYTES)


def from_reading(
    reading: Reading,
    *,
    started_at: str,
    ms: int,
    status: int | None,
    body_sha256: str | None,
    cache_hit: str | None,
    retries: int = 0,
) -> Completion:
    """The completion of a reply that could be read: reached with its output, or one of the `empty` reasons."""
    reached = bool(reading.output.strip())
    return Completion(
        reason=None if reached else reading.empty,
        output=reading.output if reached else None,
        error=None if reached else reading.shown or None,
        status=status,
        finish_reason=reading.finish_reason,
        usage=reading.usage,
        served_model=reading.served_model,
        fingerprint=reading.fingerprint,
        response_id=reading.response_id,
        body_sha256=body_sha256,
        cache_hit=cache_hit,
        started_at=started_at,
        ms=ms,
        trace=reading.trace,
        counters=reading.counters,
        retries=retries,
    )


def one_address(endpoint: Endpoint) -> None:
    """Raises UsageError unless the endpoint has exactly one of `url` and `url_env`."""
    if (endpoint.url is None) == (endpoint.url_env is None):
        raise UsageError(f"Endpoint {endpoint.name} needs either url or url_env.")
