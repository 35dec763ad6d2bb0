"""The surface of `api: scripted`: replies from a file, no network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from evalaction.endpoints import scripted
from evalaction.endpoints.headers import retry_after_ms
from evalaction.endpoints.surface import Call, from_reading, now
from evalaction.errors import UsageError
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion


class ScriptedSurface:
    def __init__(self, endpoint: Endpoint, replies: Mapping[str, Sequence[Mapping[str, Json]]]) -> None:
        self.endpoint = endpoint
        self._replies = replies

    def expect(self, items: Iterable[str]) -> None:
        missing = [item for item in items if item not in self._replies]
        if missing and scripted.ANY not in self._replies:
            raise UsageError(
                f"{self.endpoint.replies} has no reply for {len(missing)} items, the first is {missing[0]!r}; "
                'add a line for each, or one with the id "*".'
            )

    def slot(self) -> ScriptedSlot:
        return ScriptedSlot(self)

    def reply(self, item: str, draw: int) -> Mapping[str, Json]:
        self.expect([item])
        listed = self._replies.get(item) or self._replies[scripted.ANY]
        return listed[draw % len(listed)]


class ScriptedSlot:
    def __init__(self, surface: ScriptedSurface) -> None:
        self._surface = surface

    async def send(self, call: Call) -> Completion:
        reply = self._surface.reply(call.item, call.draw)
        started_at = now()
        if delay := _number(reply, "delay_ms"):
            await asyncio.sleep(delay / 1000)
        ms = _number(reply, "ms") or delay or 0
        if reply.get("reason") is not None:
            return _failed(reply, started_at, ms)
        return from_reading(
            scripted.read(reply, self._surface.endpoint, call.request.output),
            started_at=started_at,
            ms=ms,
            status=200,
            body_sha256=canonical.digest(reply),
            cache_hit=_text(reply, "cache_hit"),
        )

    async def aclose(self) -> None:
        """Nothing is open."""


def open_scripted(endpoint: Endpoint, files: Mapping[str, bytes]) -> ScriptedSurface:
    """Raises UsageError when the file is not there, SourceError for a mistake in it."""
    if endpoint.replies is None or endpoint.replies not in files:
        raise UsageError(f"Endpoint {endpoint.name}: api scripted needs replies, the path of a committed JSONL file.")
    return ScriptedSurface(endpoint, scripted.parse_replies(files[endpoint.replies], file=endpoint.replies))


def _failed(reply: Mapping[str, Json], started_at: str, ms: int) -> Completion:
    reason = str(reply["reason"])
    kind, _, detail = reason.partition(":")
    status = int(detail) if kind == "status" else 200 if kind in {"malformed", "oversize", "empty", "cut"} else None
    wait = _text(reply, "retry_after")
    return Completion(
        reason=reason,
        error=_text(reply, "error"),
        status=status,
        finish_reason=_text(reply, "finish_reason"),
        retry_after_ms=None if wait is None else retry_after_ms(wait, datetime.now(UTC)),
        retry_after_raw=wait,
        started_at=started_at,
        ms=ms,
    )


def _number(reply: Mapping[str, Json], name: str) -> int | None:
    value = reply.get(name)
    return value if isinstance(value, int) else None


def _text(reply: Mapping[str, Json], name: str) -> str | None:
    value = reply.get(name)
    return value if isinstance(value, str) else None
