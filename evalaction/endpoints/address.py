"""Addresses: what an endpoint's `url` may be, where its API answers, and which proxy lies between."""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, quote, unquote, urlsplit

from evalaction.errors import UsageError

_ALLOWED = re.compile(r"[!-~]+")
_HOST = re.compile(r"[A-Za-z0-9._:-]+")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True, slots=True)
class Proxy:
    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)
    """Value of Proxy-Authorization, from user and password in the variable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Where requests of one endpoint go. Never shown: the address may be a secret."""

    secure: bool
    host: str = field(repr=False)
    port: int = field(repr=False)
    path: str = field(repr=False)
    """Path without a trailing slash; empty for a bare host."""
    query: str = field(default="", repr=False)

    @property
    def loopback(self) -> bool:
        """Only `localhost` and loopback IP addresses: names may resolve to anything."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def netloc(self) -> str:
        """Value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.secure else "http"] else f"{host}:{self.port}"

    def target(self, path: str) -> str:
        return f"{path or '/'}?{self.query}" if self.query else path or "/"


def parse_url(url: str, *, what: str) -> Address:
    """The address in `url`. Raises UsageError that names `what` and never shows the value."""
    parts = _split(url, what)
    if parts.scheme not in _PORTS:
        raise UsageError(f"{what} must begin with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"{what} has credentials in it; put the key into a variable and name it as key_env.")
    if "#" in url:
        raise UsageError(f"{what} has a # fragment; remove it.")
    host, port = _host_and_port(parts, what)
    return Address(secure=parts.scheme == "https", host=host, port=port, path=parts.path.rstrip("/"), query=parts.query)


def versioned(address: Address, version: str | None, *, what: str) -> Address:
    """The address with `api-version` in its query. Raises UsageError, naming `what`, if it holds another one."""
    pairs = [pair for pair in address.query.split("&") if pair]
    held = [unquote(value) for name, _, value in (pair.partition("=") for pair in pairs) if name == "api-version"]
    if held and held != [version]:
        raise UsageError(f"{what} holds another api-version than the card; write that one as api_version.")
    if held or version is None:
        return address
    return replace(address, query="&".join([*pairs, f"api-version={quote(version, safe='')}"]))


def proxy_for(address: Address, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY (lower case first) name for an address; None: go directly.

    Loopback is never proxied. NO_PROXY is a comma-separated list of `*`, names with all names below them, IP addresses and
    networks, each with an optional port. Raises UsageError for a proxy that is not http://.
    """
    name = "https_proxy" if address.secure else "http_proxy"
    for variable in (name, name.upper(), "all_proxy", "ALL_PROXY"):
        if value := environ.get(variable, "").strip():
            break
    else:
        return None
    if address.loopback or _excluded(address, environ.get("no_proxy") or environ.get("NO_PROXY") or ""):
        return None
    parts = _split(value if "://" in value else f"http://{value}", variable)
    if parts.scheme != "http":
        raise UsageError(f"{variable} must be an http:// proxy; other kinds are not supported.")
    host, port = _host_and_port(parts, variable)
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode()
    return Proxy(host=host, port=port, authorization=authorization)


def _split(url: str, what: str) -> SplitResult:
    if url != url.strip():
        ends = "ends with a line break" if url.endswith("\n") else "has white space around it"
        raise UsageError(f"{what} {ends}; store it without.")
    if not _ALLOWED.fullmatch(url) or "\\" in url:
        raise UsageError(f"{what} has spaces, backslashes, control or non-ASCII characters in it; write it percent-encoded.")
    try:
        return urlsplit(url)
    except ValueError:
        raise UsageError(f"{what} is not an address.") from None


def _host_and_port(parts: SplitResult, what: str) -> tuple[str, int]:
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"{what} has a port that is not one.") from None
    if not host or not _HOST.fullmatch(host):
        raise UsageError(f"{what} has no valid host name.")
    if port == 0:
        raise UsageError(f"{what} has a port that is not one.")
    return host, port or _PORTS[parts.scheme]


def _excluded(address: Address, listed: str) -> bool:
    return any(_covers(entry.strip().lower(), address) for entry in listed.split(",") if entry.strip())


def _covers(entry: str, address: Address) -> bool:
    if entry == "*":
        return True
    host = address.host.lower()
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # a name, or an address with a port
    entry, _, port = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
    if port and port != str(address.port):
        return False
    entry = entry.removeprefix("*").lstrip(".")
    return host == entry or host.endswith(f".{entry}")
