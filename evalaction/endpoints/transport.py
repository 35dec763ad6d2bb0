"""One exchange over one connection of asyncio, read by llhttp: one attempt, one total deadline.

Measured with benchmarks/transport.py (CPU per draw, 128 slots): httpx 2.1 ms, httpcore 1.0 ms, h11 0.36 ms, this 0.2 ms.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evalaction.endpoints.coding import BadCoding, Body, TooLarge
from evalaction.endpoints.connect import Route, Unreached, Wire, connect, tls_context, tls_words, words
from evalaction.endpoints.framing import BadFraming, ResponseReader

__all__ = ["Connection", "Reply", "Route", "Unreached", "tls_context"]

IDLE_S = 2.0
"""A connection that was idle for longer is not used again: a server's keep-alive limit would look like a reset."""
ERROR_BYTES = 65_536
GRADED = frozenset({200})
"""The only status of a reply that may be graded."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response with its decoded body; of a status that was not wanted at most the first 64 KiB."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """One connection of one slot, opened when it is needed. A failed or cancelled exchange closes it."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._wire: Wire | None = None
        self._used = 0.0

    async def ready(self) -> None:
        """Drop a connection that must not be used again, and wait for a turn to open another. Costs the draw no time."""
        if self._wire is not None and not self._fresh(self._wire):
            self.abort()
        if self._wire is None:
            await self._route.opening()

    async def exchange(
        self, head: bytes, body: bytes, *, timeout_s: float, limit: int, wanted: Collection[int] = GRADED
    ) -> Reply:
        """Send one request and read its response within `timeout_s`. Raises Unreached.

        head: request line and headers without the blank line; wanted: the statuses whose body must be complete; limit: its
        decoded bytes.
        """
        received = _Receiver(limit, wanted)
        try:
            async with asyncio.timeout(timeout_s):
                await self._exchange(head, body, received)
        except TimeoutError:
            self.abort()
            if received.needed:
                raise received.failure("timeout", f"no complete reply within {round(timeout_s * 1000)} ms") from None
        except BaseException:
            self.abort()
            raise
        return received.reply()

    def abort(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.transport.abort()

    async def aclose(self) -> None:
        """Close and wait until the socket is gone."""
        wire = self._wire
        self.abort()
        if wire is not None:
            await wire.lost

    def _fresh(self, wire: Wire) -> bool:
        if asyncio.get_running_loop().time() - self._used >= IDLE_S:
            return False
        if not wire.quiet:
            self._route.keeps = False
            return False
        return True

    async def _exchange(self, head: bytes, body: bytes, received: _Receiver) -> None:
        if self._wire is None:
            self._wire = await connect(self._route)
        wire = self._wire
        wire.idle = False
        wire.transport.write(b"%b\r\n\r\n%b" % (head, body))
        await received.read(wire)
        if received.reader.reusable and received.whole and self._route.keeps:
            wire.idle = True
            self._used = asyncio.get_running_loop().time()
        else:
            self.abort()


class _Receiver:
    """Reads one response from a wire and names what went wrong."""

    def __init__(self, limit: int, wanted: Collection[int]) -> None:
        self.body = Body(limit)
        self.wanted = wanted
        self.reader = ResponseReader(self._head, self.body.add)
        self.whole = False
        """The body is complete; an error body may be only a beginning."""

    async def read(self, wire: Wire) -> None:
        """Raises Unreached; not when the status is known and was not wanted, since that is the reason then."""
        try:
            await self._read(wire)
            self.whole = True
        except Unreached as failure:
            if self.needed:
                raise self.failure(failure.reason, failure.detail) from None

    @property
    def needed(self) -> bool:
        """Whether a body that is not complete is a failure of its own."""
        return self.reader.status is None or self.reader.status in self.wanted

    def failure(self, reason: str, detail: str) -> Unreached:
        unreached = Unreached(reason, detail)
        unreached.status = self.reader.status
        return unreached

    def reply(self) -> Reply:
        assert self.reader.status is not None
        return Reply(self.reader.status, self.reader.headers, self.body.data)

    def _head(self, reader: ResponseReader) -> None:
        if reader.status not in self.wanted:
            self.body.limit = ERROR_BYTES
        self.body.begin(reader.headers.get("content-encoding", ""))

    async def _read(self, wire: Wire) -> None:
        reader = self.reader
        try:
            while not reader.done:
                data = await wire.receive()
                if data:
                    reader.feed(data)
                elif not reader.end():
                    reason = "cut" if reader.started else "reset"
                    raise Unreached(
                        reason, f"the server closed the connection {'early' if reader.started else 'without a reply'}"
                    )
        except (BadFraming, BadCoding) as error:
            raise Unreached("malformed", str(error)) from None
        except TooLarge:
            raise Unreached("oversize", f"the body is over {self.body.limit} bytes") from None
        except ssl.SSLError as error:
            raise Unreached("tls", tls_words(error)) from None
        except OSError as error:
            raise Unreached("reset", words(error)) from None
        if not self.body.complete:
            raise Unreached("cut", "the compressed body ended early")
