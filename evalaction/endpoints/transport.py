"""The only module that opens connections for draws: asyncio, and our own framing. One attempt, one total deadline.

Measured with benchmarks/transport.py (CPU per draw, 128 slots): httpx 2.1 ms, httpcore 1.0 ms, h11 0.36 ms, this 0.2 ms.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import select
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalaction.endpoints.address import Address, Proxy
from evalaction.endpoints.coding import BadCoding, Body, TooLarge
from evalaction.endpoints.framing import BadFraming, ResponseReader
from evalaction.errors import UsageError

IDLE_S = 2.0
"""A connection that was idle for longer is not used again: a server's keep-alive limit would look like a reset."""
OPENING_S = 0.002
"""Connections are opened this far apart: a small listen backlog answers a burst with resets that are ours."""
ERROR_BYTES = 65_536
_ATTEMPT_S = 3.0
"""Time for one address of a host before its next address is tried."""
_READABLE = select.POLLIN | getattr(select, "POLLRDHUP", 0)


class Unreached(Exception):
    """No reply that can be read; `reason` is a reach reason, the text says more and names no address."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.status: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A response with its decoded body; of other statuses than 200 at most the first 64 KiB."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Route:
    """How to get to one endpoint; shared by its slots."""

    address: Address
    proxy: Proxy | None = None
    tls: ssl.SSLContext | None = None
    keeps: bool = True
    """False once the server closed a connection that it had promised to keep: from then on each draw has its own."""
    next_opening: float = field(default=0.0, repr=False)

    async def opening(self) -> None:
        """Wait until the next connection may be opened."""
        now = asyncio.get_running_loop().time()
        at = max(now, self.next_opening)
        self.next_opening = at + OPENING_S
        if at > now:
            await asyncio.sleep(at - now)


def tls_context(environ: Mapping[str, str], ca_bundle: str | None) -> ssl.SSLContext:
    """Certificates are checked against `ca_bundle`, else SSL_CERT_FILE and SSL_CERT_DIR, else the system's, else certifi's.

    Raises UsageError for a bundle that cannot be read.
    """
    file, folder = ca_bundle or environ.get("SSL_CERT_FILE") or None, None
    if not ca_bundle:
        folder = environ.get("SSL_CERT_DIR") or None
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except (OSError, ValueError):
        raise UsageError(f"The CA bundle {file or folder} cannot be read; give a file of PEM certificates.") from None
    if not file and not folder and not context.cert_store_stats()["x509_ca"]:
        import certifi

        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


class _Wire(asyncio.Protocol):
    """The bytes of one connection, for one reader at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.lost = asyncio.get_running_loop().create_future()
        self.ended = False
        self.error: Exception | None = None
        self._data: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._data.append(data)
        self._wake()

    def eof_received(self) -> bool:
        self.ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self.error = exc
        if not self.lost.done():
            self.lost.set_result(None)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def quiet(self) -> bool:
        """Open, and nothing has arrived that nobody has read, not even a close that the loop has not seen yet."""
        if self.ended or self._data or self.transport.is_closing():
            return False
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), _READABLE)
        return not poll.poll(0)

    async def receive(self) -> bytes:
        """The next bytes; empty at the end. Raises the OSError that ended the connection."""
        if not self._data and not self.ended:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"".join(self._data)
            self._data.clear()
            return data
        if self.error is not None:
            raise self.error
        return b""

    async def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Raises OSError (ssl.SSLError is one) when the handshake fails."""
        transport = await asyncio.get_running_loop().start_tls(self.transport, self, context, server_hostname=host)
        if transport is None:
            raise ConnectionResetError
        self.transport = transport


class Connection:
    """One connection of one slot, opened when it is needed. A failed or cancelled exchange closes it."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._wire: _Wire | None = None
        self._used = 0.0

    async def ready(self) -> None:
        """Drop a connection that must not be used again, and wait for a turn to open another. Costs the draw no time."""
        if self._wire is not None and not self._fresh(self._wire):
            self.abort()
        if self._wire is None:
            await self._route.opening()

    async def exchange(self, head: bytes, body: bytes, *, timeout_s: float, limit: int) -> Reply:
        """Send one request and read its response within `timeout_s`. Raises Unreached.

        head: request line and headers without the blank line; limit: decoded bytes of a body with status 200.
        """
        received = _Receiver(limit)
        try:
            async with asyncio.timeout(timeout_s):
                await self._exchange(head, body, received)
        except TimeoutError:
            self.abort()
            if received.reader.status in {None, 200}:
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

    def _fresh(self, wire: _Wire) -> bool:
        if asyncio.get_running_loop().time() - self._used >= IDLE_S:
            return False
        if not wire.quiet:
            self._route.keeps = False
            return False
        return True

    async def _exchange(self, head: bytes, body: bytes, received: _Receiver) -> None:
        if self._wire is None:
            self._wire = await _connect(self._route)
        wire = self._wire
        wire.transport.write(b"%b\r\n\r\n%b" % (head, body))
        await received.read(wire)
        if received.reader.reusable and received.whole and self._route.keeps:
            self._used = asyncio.get_running_loop().time()
        else:
            self.abort()


class _Receiver:
    """Reads one response from a wire and names what went wrong."""

    def __init__(self, limit: int) -> None:
        self.body = Body(limit)
        self.reader = ResponseReader(self._head, self.body.add)
        self.whole = False
        """The body is complete; an error body may be only a beginning."""

    async def read(self, wire: _Wire) -> None:
        """Raises Unreached; not when the status is known and is not 200, since that is the reason then."""
        try:
            await self._read(wire)
            self.whole = True
        except Unreached as failure:
            if self.reader.status in {None, 200}:
                raise self.failure(failure.reason, failure.detail) from None

    def failure(self, reason: str, detail: str) -> Unreached:
        unreached = Unreached(reason, detail)
        unreached.status = self.reader.status
        return unreached

    def reply(self) -> Reply:
        assert self.reader.status is not None
        return Reply(self.reader.status, self.reader.headers, self.body.data)

    def _head(self, reader: ResponseReader) -> None:
        if reader.status != 200:
            self.body.limit = ERROR_BYTES
        self.body.begin(reader.headers.get("content-encoding", ""))

    async def _read(self, wire: _Wire) -> None:
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
            raise Unreached("tls", _tls_words(error)) from None
        except OSError as error:
            raise Unreached("reset", _words(error)) from None
        if not self.body.complete:
            raise Unreached("cut", "the compressed body ended early")


async def _connect(route: Route) -> _Wire:
    """Raises Unreached with `dns`, `connect` or `tls`."""
    address, proxy = route.address, route.proxy
    wire = await _connect_tcp(proxy.host, proxy.port) if proxy else await _connect_tcp(address.host, address.port)
    try:
        if proxy and address.secure:
            await _tunnel(wire, address, proxy)
        if route.tls is not None:
            await _handshake(wire, route.tls, address.host)
    except BaseException:
        wire.transport.abort()
        raise
    return wire


async def _resolve(host: str, port: int) -> list[str]:
    """IP addresses of a host, in the order to try them."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass  # a name
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreached("dns", _words(error) if isinstance(error, OSError) else "the name is not a valid one") from None
    return [str(where[0]) for *_, where in found]


async def _connect_tcp(host: str, port: int) -> _Wire:
    loop = asyncio.get_running_loop()
    failure = "no address"
    places = await _resolve(host, port)
    for tried, place in enumerate(places, 1):
        try:
            async with asyncio.timeout(_ATTEMPT_S if tried < len(places) else None):
                _, wire = await loop.create_connection(_Wire, place, port)
        except OSError as error:
            failure = _words(error)
        else:
            wire.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return wire
    raise Unreached("connect", failure)


async def _tunnel(wire: _Wire, address: Address, proxy: Proxy) -> None:
    """Ask the proxy for a tunnel to the address."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    lines = [f"CONNECT {host}:{address.port} HTTP/1.1", f"Host: {host}:{address.port}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    wire.transport.write("\r\n".join([*lines, "", ""]).encode("ascii"))
    received = b""
    while b"\r\n\r\n" not in received and len(received) < ERROR_BYTES:
        try:
            data = await wire.receive()
        except OSError as error:
            raise Unreached("connect", f"the proxy broke the connection: {_words(error)}") from None
        if not data:
            raise Unreached("connect", "the proxy closed the connection")
        received += data
    status = received[9:12].decode("latin-1") if received.startswith(b"HTTP/1.") else "?"
    if not status.startswith("2"):
        raise Unreached("connect", f"the proxy refused the tunnel with status {status}")


async def _handshake(wire: _Wire, context: ssl.SSLContext, host: str) -> None:
    try:
        await wire.secure(context, host)
    except OSError as error:
        raise Unreached("tls", _tls_words(error)) from None


def _words(error: OSError) -> str:
    """What the system calls the error, without the address that str() would show."""
    if isinstance(error, socket.gaierror):
        return str(error.strerror or "the name could not be resolved")
    return os.strerror(error.errno) if error.errno else "the connection was lost"


def _tls_words(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        named = error.verify_code in {62, 64}  # X509_V_ERR_HOSTNAME_MISMATCH and …_IP_…: their messages show the host
        return f"certificate refused: {'it is for another name' if named else error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or 'protocol error').replace('_', ' ').lower()}"
    return f"TLS failed: {_words(error)}"
