"""The surface of every API that is spoken over HTTP."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from evalaction import __version__
from evalaction.endpoints import headers, reading
from evalaction.endpoints.address import Address, parse_url, proxy_for
from evalaction.endpoints.apis import Api, api_of
from evalaction.endpoints.connect import Route, Unreached, tls_context
from evalaction.endpoints.keys import secret_headers, value_of
from evalaction.endpoints.reading import Malformed
from evalaction.endpoints.surface import Call, body_limit, from_reading, now, one_address
from evalaction.endpoints.transport import ERROR_BYTES, Connection, Reply
from evalaction.errors import UsageError
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class HttpSurface:
    """Shares one route and one TLS context among its slots. Its repr shows neither address nor key."""

    def __init__(self, endpoint: Endpoint, route: Route, head: bytes) -> None:
        self.endpoint = endpoint
        self.api: Api = api_of(endpoint)
        self._route = route
        self._head = head

    def __repr__(self) -> str:
        return f"<HttpSurface {self.endpoint.name}>"

    def expect(self, items: Iterable[str]) -> None:
        """Any item may be asked."""

    def slot(self) -> HttpSlot:
        return HttpSlot(self, Connection(self._route), self._head)


class HttpSlot:
    def __init__(self, surface: HttpSurface, connection: Connection, head: bytes) -> None:
        self._surface = surface
        self._connection = connection
        self._head = head

    async def send(self, call: Call) -> Completion:
        body = call.request.body
        head = b"%b\r\nContent-Length: %d" % (self._head, len(body))
        await self._connection.ready()
        started_at, start = now(), time.perf_counter()
        try:
            reply = await self._connection.exchange(head, body, timeout_s=call.timeout_ms / 1000, limit=body_limit(call))
        except Unreached as failure:
            ms = _ms_since(start)
            return Completion(reason=failure.reason, error=failure.detail, status=failure.status, started_at=started_at, ms=ms)
        return self._completion(reply, call, started_at, _ms_since(start))

    async def aclose(self) -> None:
        await self._connection.aclose()

    def _completion(self, reply: Reply, call: Call, started_at: str, ms: int) -> Completion:
        if reply.status != 200:
            return _failed(reply, f"status:{reply.status}", started_at, ms)
        surface = self._surface
        try:
            read = surface.api.read(reading.parse(reply.body), surface.endpoint, call.request.output)
        except Malformed as error:
            return _failed(reply, "malformed", started_at, ms, detail=str(error))
        return from_reading(
            read,
            started_at=started_at,
            ms=ms,
            status=reply.status,
            body_sha256=hashlib.sha256(reply.body).hexdigest(),
            cache_hit=headers.cache_hit(reply.headers),
        )


def _failed(reply: Reply, reason: str, started_at: str, ms: int, *, detail: str = "") -> Completion:
    text = reply.body[:ERROR_BYTES].decode("utf-8", "replace")
    raw = reply.headers.get("retry-after")
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
    )


def _ms_since(start: float) -> int:
    return int((time.perf_counter() - start) * 1000)


def open_http(endpoint: Endpoint, environ: Mapping[str, str], ca_bundle: str | None) -> HttpSurface:
    """Raises UsageError, NotRunError; see `open_surface`."""
    one_address(endpoint)
    if endpoint.url_env:
        address = parse_url(value_of(endpoint.url_env, environ, endpoint), what=endpoint.url_env)
    else:
        address = parse_url(endpoint.url or "", what=f"The url of endpoint {endpoint.name}")
    key, secret = secret_headers(endpoint, environ, address)
    proxy = proxy_for(address, environ)
    tls = tls_context(environ, ca_bundle) if address.secure or ca_bundle else None  # a wrong bundle is never ignored
    route = Route(address, proxy, tls if address.secure else None)
    lines = _headers(endpoint, key, secret)
    if proxy and not address.secure and proxy.authorization:
        lines["proxy-authorization"] = ("Proxy-Authorization", proxy.authorization)
    return HttpSurface(endpoint, route, _head(endpoint, address, lines, absolute=proxy is not None and not address.secure))


def _headers(endpoint: Endpoint, key: str | None, secret: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Headers by lower-case name; the card's own win over ours, the key over both."""
    api = api_of(endpoint)
    pairs = [
        ("User-Agent", f"evalaction/{__version__}"),
        ("Accept", "application/json"),
        ("Accept-Encoding", "identity"),
        ("Content-Type", "application/json"),
        *api.own_headers(),
        *((header.name, header.value) for header in endpoint.headers if header.value is not None),
        *secret.items(),
        *(api.key_headers(key) if key else ()),
    ]
    for name, _ in pairs:
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError(f"Endpoint {endpoint.name}: {name!r} is not the name of a header.")
    return {name.lower(): (name, value) for name, value in pairs}


def _head(endpoint: Endpoint, address: Address, lines: Mapping[str, tuple[str, str]], *, absolute: bool) -> bytes:
    """The request line and all headers but Content-Length, without the last line break."""
    target = address.target(api_of(endpoint).path(address.path))
    if absolute:
        target = f"http://{address.netloc}{target}"
    head = [f"POST {target} HTTP/1.1", f"Host: {address.netloc}", *(f"{name}: {value}" for name, value in lines.values())]
    return "\r\n".join(head).encode("ascii")
