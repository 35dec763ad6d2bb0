"""Opening a connection: names, sockets, proxies, TLS. Which step failed is the reach reason."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import select
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from evalaction.endpoints.address import Address, Proxy
from evalaction.errors import UsageError

OPENING_S = 0.002
"""Connections are opened this far apart: a small listen backlog answers a burst with resets that are ours."""
ATTEMPT_S = 3.0
"""Time for one address of a host before its next address is tried."""
_PROXY_HEAD = 65_536
_READABLE = select.POLLIN | getattr(select, "POLLRDHUP", 0)


class Unreached(Exception):
    """No reply that can be read; `reason` is a reach reason, the text says more and names no address."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.status: int | None = None


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
    file = ca_bundle or environ.get("SSL_CERT_FILE") or None
    return _context(file, None if ca_bundle else environ.get("SSL_CERT_DIR") or None)


@lru_cache(maxsize=4)
def _context(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Kept, since each takes some 50 ms and a run opens its endpoints more than once: to check them and to draw."""
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except (OSError, ValueError):
        raise UsageError(f"The CA bundle {file or folder} cannot be read; give a file of PEM certificates.") from None
    if not file and not folder and not context.cert_store_stats()["x509_ca"]:
        import certifi

        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


class Wire(asyncio.Protocol):
    """The bytes of one connection, for one reader at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.idle = False
        """No reply is awaited: bytes that arrive now close the connection."""
        self.lost = asyncio.get_running_loop().create_future()
        self.ended = False
        self.error: Exception | None = None
        self._data: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.idle:
            self.transport.abort()
            return
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


async def connect(route: Route) -> Wire:
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
        raise Unreached("dns", words(error) if isinstance(error, OSError) else "the name is not a valid one") from None
    return [str(where[0]) for *_, where in found]


async def _connect_tcp(host: str, port: int) -> Wire:
    loop = asyncio.get_running_loop()
    failure = "no address"
    places = await _resolve(host, port)
    for tried, place in enumerate(places, 1):
        try:
            async with asyncio.timeout(ATTEMPT_S if tried < len(places) else None):
                _, wire = await loop.create_connection(Wire, place, port)
        except OSError as error:
            failure = words(error)
        else:
            wire.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return wire
    raise Unreached("connect", failure)


async def _tunnel(wire: Wire, address: Address, proxy: Proxy) -> None:
    """Ask the proxy for a tunnel to the address."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    lines = [f"CONNECT {host}:{address.port} HTTP/1.1", f"Host: {host}:{address.port}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    wire.transport.write("\r\n".join([*lines, "", ""]).encode("ascii"))
    received = b""
    while b"\r\n\r\n" not in received and len(received) < _PROXY_HEAD:
        try:
            data = await wire.receive()
        except OSError as error:
            raise Unreached("connect", f"the proxy broke the connection: {words(error)}") from None
        if not data:
            raise Unreached("connect", "the proxy closed the connection")
        received += data
    status = received[9:12].decode("latin-1") if received.startswith(b"HTTP/1.") else "?"
    if not status.startswith("2"):
        raise Unreached("connect", f"the proxy refused the tunnel with status {status}")


async def _handshake(wire: Wire, context: ssl.SSLContext, host: str) -> None:
    try:
        await wire.secure(context, host)
    except OSError as error:
        raise Unreached("tls", tls_words(error)) from None


def words(error: OSError) -> str:
    """What the system calls the error, without the address that str() would show."""
    if isinstance(error, socket.gaierror):
        return str(error.strerror or "the name could not be resolved")
    return os.strerror(error.errno) if error.errno else "the connection was lost"


def tls_words(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        named = error.verify_code in {62, 64}  # X509_V_ERR_HOSTNAME_MISMATCH and …_IP_…: their messages show the host
        return f"certificate refused: {'it is for another name' if named else error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or 'protocol error').replace('_', ' ').lower()}"
    return f"TLS failed: {words(error)}"
