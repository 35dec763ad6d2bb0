"""From a reply, or from none, to the completion of a draw."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from evalaction.endpoints import headers, reading
from evalaction.endpoints.apis import api_of
from evalaction.endpoints.connect import Unreached
from evalaction.endpoints.reading import Malformed
from evalaction.endpoints.surface import from_reading
from evalaction.endpoints.transport import ERROR_BYTES, Reply
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion, Output


def completed(reply: Reply, endpoint: Endpoint, output: Output, *, started_at: str, ms: int) -> Completion:
    """What a reply says, read as the endpoint's API promises; any status but 200 is a reach reason."""
    if reply.status != 200:
        return refused(reply, f"status:{reply.status}", started_at=started_at, ms=ms)
    try:
        read = api_of(endpoint).read(reading.parse(reply.body), endpoint, output)
    except Malformed as error:
        return refused(reply, "malformed", started_at=started_at, ms=ms, detail=str(error))
    return from_reading(
        read,
        started_at=started_at,
        ms=ms,
        status=reply.status,
        body_sha256=hashlib.sha256(reply.body).hexdigest(),
        cache_hit=headers.cache_hit(reply.headers),
        retries=headers.hidden_retries(reply.headers),
    )


def refused(reply: Reply, reason: str, *, started_at: str, ms: int, detail: str = "") -> Completion:
    """A reply that cannot be graded, with what it asks to wait."""
    text = reply.body[:ERROR_BYTES].decode("utf-8", "replace")
    raw = headers.retry_after(reply.headers)
    return Completion(
        reason=reason,
        error=": ".join(part for part in (detail, text) if part) or None,
        status=reply.status,
        body_sha256=hashlib.sha256(reply.body).hexdigest(),
        cache_hit=headers.cache_hit(reply.headers),
        retry_after_ms=None if raw is None else headers.retry_after_ms(raw, datetime.now(UTC)),
        retry_after_raw=raw,
        started_at=started_at,
        ms=ms,
        retries=headers.hidden_retries(reply.headers),
    )


def unreached(failure: Unreached, *, started_at: str, ms: int) -> Completion:
    return Completion(reason=failure.reason, error=failure.detail, status=failure.status, started_at=started_at, ms=ms)
