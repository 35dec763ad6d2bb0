"""One HTTP exchange with GitHub's API: our own origin only, sizes bounded, a broken connection is a value."""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from evalaction.endpoints.address import parse_url, proxy_for
from evalaction.endpoints.transport import tls_context
from evalaction.errors import UsageError

MAX_BODY_BYTES = 32 * 1024 * 1024
_DEADLINE = 3.0
"""A whole answer takes at most so many times the timeout of one read: a slow drip is cut too."""
_MAX_REDIRECTS = 5
_REDIRECTS = {301, 302, 307, 308}
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Reply:
    """A response; or, with status 0, why there is none (`body` holds our own words)."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""
    next_url: str | None = None
    """Where the Link header has the next page."""


class Wire:
    """Requests to one origin. `base` is its address without a trailing slash. Raises UsageError for one that cannot be used."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        environ: Mapping[str, str],
        ca_bundle: str | None,
        transport: httpx.BaseTransport | None,
        timeout_s: float,
    ) -> None:
        address = parse_url(base_url, what="GITHUB_API_URL")
        if address.query:
            raise UsageError("GITHUB_API_URL has a ? query; give the bare address of the API.")
        if not address.secure and not address.loopback:
            raise UsageError("GITHUB_API_URL must begin with https://, or the token would travel in the open.")
        self.base = f"{'https' if address.secure else 'http'}://{address.netloc}{address.path}"
        self._origin = _origin(self.base)
        self._deadline_s = timeout_s * _DEADLINE
        if transport is None:
            proxy = proxy_for(address, environ)
            through = {"Proxy-Authorization": proxy.authorization} if proxy and proxy.authorization else None
            transport = httpx.HTTPTransport(
                verify=tls_context(environ, ca_bundle) if address.secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                proxy=httpx.Proxy(f"http://{_bracketed(proxy.host)}:{proxy.port}", headers=through) if proxy else None,
            )
        self._client = httpx.Client(
            transport=transport, headers=dict(headers), timeout=timeout_s, follow_redirects=False, trust_env=False
        )

    def close(self) -> None:
        self._client.close()

    def own(self, url: str) -> bool:
        """Is it an address of our origin, without credentials in it?"""
        return _origin(url) == self._origin

    def send(self, method: str, url: str, body: Mapping[str, Any] | None) -> Reply:
        """The same request wherever a renamed repository has gone; a redirect to another origin is not followed."""
        reply = self._once(method, url, body)
        for _ in range(_MAX_REDIRECTS):
            if reply.status not in _REDIRECTS:
                break
            url = urljoin(url, reply.headers.get("location", ""))
            if not self.own(url):
                break
            reply = self._once(method, url, body)
        return reply

    def _once(self, method: str, url: str, body: Mapping[str, Any] | None) -> Reply:
        content = None if body is None else _encoded(body)
        headers = {} if content is None else {"Content-Type": "application/json"}
        until = time.monotonic() + self._deadline_s
        try:
            with self._client.stream(method, url, content=content, headers=headers) as response:
                return _read(response, url, until)
        except httpx.TimeoutException:
            return Reply(0, body=b"it did not answer in time")
        except (httpx.ConnectError, httpx.ProxyError):
            return Reply(0, body=b"it cannot be reached")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError):
            return Reply(0, body=b"the connection broke")


def _read(response: httpx.Response, url: str, until: float) -> Reply:
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > MAX_BODY_BYTES:
            return Reply(0, body=b"its answer is too large")
        if time.monotonic() > until:
            return Reply(0, body=b"it did not answer in time")
    following = response.links.get("next", {}).get("url")
    return Reply(
        status=response.status_code,
        headers={name.lower(): value for name, value in response.headers.items()},
        body=bytes(data),
        next_url=urljoin(url, following) if following else None,
    )


def _origin(url: str) -> tuple[str, str, int] | None:
    """(scheme, host, port); None for an address with credentials or without a host."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    except ValueError:
        return None
    if not parts.hostname or parts.username is not None or parts.password is not None or "\\" in url:
        return None
    return parts.scheme, parts.hostname.lower(), port


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _encoded(body: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8; half characters, which no JSON text may hold, are replaced rather than letting the whole call fail."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    return _LONE.sub("\ufffd", text).encode()
