"""The surface of every API that is spoken over HTTP."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evalaction import __version__
from evalaction.endpoints.address import Address, parse_url, proxy_for, versioned
from evalaction.endpoints.apis import api_of
from evalaction.endpoints.completing import completed, unreached
from evalaction.endpoints.connect import Route, Unreached, tls_context
from evalaction.endpoints.keys import secret_headers, value_of
from evalaction.endpoints.surface import Call, Slot, body_limit, ms_since, now, one_address
from evalaction.endpoints.transport import Connection
from evalaction.errors import UsageError
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion

if TYPE_CHECKING:
    from evalaction.endpoints.jobs import Jobs

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class HttpSurface:
    """Shares one route and one TLS context among its slots. Its repr shows neither address nor key."""

    def __init__(self, endpoint: Endpoint, route: Route, head: bytes, jobs: Jobs | None) -> None:
        self.endpoint = endpoint
        self._route = route
        self._head = head
        self._jobs = jobs

    def __repr__(self) -> str:
        return f"<HttpSurface {self.endpoint.name}>"

    def expect(self, items: Iterable[str]) -> None:
        """Any item may be asked."""

    def slot(self) -> Slot:
        connection = Connection(self._route)
        if self._jobs is None:
            return HttpSlot(self.endpoint, connection, self._head)
        from evalaction.endpoints.hosted import HostedSlot

        return HostedSlot(self.endpoint, connection, self._head, self._jobs)


class HttpSlot:
    def __init__(self, endpoint: Endpoint, connection: Connection, head: bytes) -> None:
        self._endpoint = endpoint
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
            return unreached(failure, started_at=started_at, ms=ms_since(start))
        return completed(reply, self._endpoint, call.request.output, started_at=started_at, ms=ms_since(start))

    async def aclose(self) -> None:
        await self._connection.aclose()


def open_http(endpoint: Endpoint, environ: Mapping[str, str], ca_bundle: str | None) -> HttpSurface:
    """Raises UsageError, NotRunError; see `open_surface`."""
    one_address(endpoint)
    what = endpoint.url_env or f"The url of endpoint {endpoint.name}"
    address = parse_url(value_of(endpoint.url_env, environ, endpoint) if endpoint.url_env else endpoint.url or "", what=what)
    key, secret = secret_headers(endpoint, environ, address)
    address = versioned(address, endpoint.api_version, what=what)
    proxy = proxy_for(address, environ)
    tls = tls_context(environ, ca_bundle) if address.secure or ca_bundle else None  # a wrong bundle is never ignored
    route = Route(address, proxy, tls if address.secure else None)
    lines = _headers(endpoint, key, secret)
    absolute = proxy is not None and not address.secure
    if proxy and absolute and proxy.authorization:
        lines["proxy-authorization"] = ("Proxy-Authorization", proxy.authorization)
    origin = f"http://{address.netloc}" if absolute else ""
    target = address.target(api_of(endpoint).path(address.path, endpoint))
    head = f"POST {origin}{target} HTTP/1.1\r\n{_lines(address, lines)}".encode("ascii")
    return HttpSurface(endpoint, route, head, _jobs(endpoint, address, origin, lines))


def _jobs(endpoint: Endpoint, address: Address, origin: str, lines: Mapping[str, tuple[str, str]]) -> Jobs | None:
    """How jobs are asked for, with the same headers at the same origin; None for an endpoint that answers at once."""
    if endpoint.poll is None:
        return None
    from evalaction.endpoints.jobs import open_jobs

    bodiless = {name: line for name, line in lines.items() if name != "content-type"}
    return open_jobs(endpoint, address, origin=origin, lines=_lines(address, bodiless))


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


def _lines(address: Address, lines: Mapping[str, tuple[str, str]]) -> str:
    """All headers but Content-Length, without the last line break."""
    return "\r\n".join([f"Host: {address.netloc}", *(f"{name}: {value}" for name, value in lines.values())])
