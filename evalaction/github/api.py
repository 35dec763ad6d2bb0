"""The only module that talks to GitHub's API: one request at a time, waits led by headers, every failure a value.

GET, PATCH, PUT and DELETE are tried again after 5xx and broken connections. A POST never is: what it should have made may exist.
The token stands in one header; it is in no repr, sentence or detail.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias
from urllib.parse import urlencode

from evalaction import __version__
from evalaction.errors import UsageError
from evalaction.github.refusals import message_of, refused
from evalaction.github.replies import Ok, Refused
from evalaction.github.waits import limited, retry_after_s, wait_s
from evalaction.github.wire import Reply, Wire
from evalaction.redaction import Redactor

if TYPE_CHECKING:
    import httpx

Method: TypeAlias = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
Result: TypeAlias = "Ok[Any] | Refused"

WAIT_CAP_S = 180.0
"""All waiting of one run together; then there is no comment, and the verdict stands."""
WRITE_GAP_S = 1.0
MAX_PAGES = 100
_MAX_RATE_WAITS = 5
_RETRY_S = (1.0, 2.0, 4.0)
_TOKEN = re.compile(r"[!-~]{1,4096}", re.ASCII)


class Clock(Protocol):
    """Time as the client needs it; tests bring their own."""

    def time(self) -> float:
        """Seconds since 1970."""

    def sleep(self, seconds: float, /) -> None: ...


class SystemClock:
    def time(self) -> float:
        return time.time()

    def sleep(self, seconds: float, /) -> None:
        time.sleep(seconds)


class Api:
    """GitHub's REST API at `base_url` (GITHUB_API_URL).

    `graphql_url` (GITHUB_GRAPHQL_URL) counts only on the same origin; it says whom an app's token belongs to.
    `environ` names proxies and certificates, `ca_bundle` a file of PEM certificates; `transport` replaces the network.
    Raises UsageError for an address or token that cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        graphql_url: str | None = None,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        ca_bundle: str | None = None,
        wait_cap_s: float = WAIT_CAP_S,
        timeout_s: float = 20.0,
    ) -> None:
        if not _TOKEN.fullmatch(token):
            raise UsageError("The github-token is empty or holds characters that no token has; store it without line breaks.")
        self._token = token
        self._clock = clock or SystemClock()
        self._cap_s = wait_cap_s
        self._waited_s = 0.0
        self._last_write: float | None = None
        headers = {
            "Accept": "application/vnd.github+json",
            "Accept-Encoding": "identity",
            "Authorization": f"Bearer {token}",
            "User-Agent": f"evalaction/{__version__}",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self._graphql_url = graphql_url
        self._wire = Wire(
            base_url, headers=headers, environ=environ or {}, ca_bundle=ca_bundle, transport=transport, timeout_s=timeout_s
        )

    def __repr__(self) -> str:
        return f"Api({self._wire.base!r})"

    def close(self) -> None:
        self._wire.close()

    def request(
        self,
        method: Method,
        path: str,
        *,
        doing: str,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, str | int] | None = None,
        needs: tuple[str, ...] = (),
    ) -> Result:
        """One call; the parsed JSON of a 2xx reply (None where it has no body).

        `doing` completes "GitHub did not …" in a refusal; `needs` are the `permissions:` lines that the call takes.
        """
        reply = self._settled(method, self._url(path, params), body)
        return self._value(reply, doing, needs)

    def viewer(self) -> str | None:
        """The login that the token writes as, from GraphQL, which tells it to apps too; None where it does not say."""
        if self._graphql_url is None or not self._wire.own(self._graphql_url):
            return None
        reply = self._wire.send("POST", self._graphql_url, {"query": "query { viewer { login } }"})
        answer = self._value(reply, "say whom the token belongs to", ())
        value = answer.data if isinstance(answer, Ok) else None
        for name in ("data", "viewer", "login"):
            value = value.get(name) if isinstance(value, dict) else None
        return value if isinstance(value, str) and value else None

    def pages(
        self, path: str, *, doing: str, params: Mapping[str, str | int] | None = None, needs: tuple[str, ...] = ()
    ) -> Ok[list[Any]] | Refused:
        """All entries of a list, following the Link header on the API's own origin. Part of a list is no list."""
        url: str | None = self._url(path, {"per_page": 100, **(params or {})})
        entries: list[Any] = []
        seen: set[str] = set()
        while url is not None:
            if url in seen or len(seen) == MAX_PAGES or not self._wire.own(url):
                return _unreadable(doing, "its list of pages leads elsewhere or does not end")
            seen.add(url)
            reply = self._settled("GET", url, None)
            value = self._value(reply, doing, needs)
            if isinstance(value, Refused):
                return value
            if not isinstance(value.data, list):
                return _unreadable(doing, "its answer is not a list")
            entries += value.data
            url = reply.next_url
        return Ok(entries)

    def pause(self, seconds: float) -> bool:
        """Wait, within the cap on all waiting. False: the cap is reached and nothing was waited for."""
        if self._waited_s + seconds > self._cap_s:
            return False
        self._waited_s += seconds
        self._clock.sleep(seconds)
        return True

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor({"github-token": self._token})

    def _url(self, path: str, params: Mapping[str, str | int] | None) -> str:
        if not path.startswith("/"):
            raise ValueError("paths begin with /")
        return f"{self._wire.base}{path}" + (f"?{urlencode(params)}" if params else "")

    def _settled(self, method: Method, url: str, body: Mapping[str, Any] | None) -> Reply:
        """The reply after all the waiting that is worth it."""
        waits = failures = 0
        while True:
            reply = self._sent(method, url, body)
            if limited(reply.status, reply.headers, message_of(reply.body) if reply.status in {403, 422} else ""):
                waits += 1
                delay = wait_s(reply.headers, now=self._clock.time(), earlier=waits - 1)
                if waits > _MAX_RATE_WAITS or not self.pause(delay):
                    return reply
            elif method != "POST" and (reply.status == 0 or reply.status >= 500) and failures < len(_RETRY_S):
                asked = retry_after_s(reply.headers, now=self._clock.time())
                if not self.pause(max(_RETRY_S[failures], asked or 0.0)):
                    return reply
                failures += 1
            else:
                return reply

    def _sent(self, method: Method, url: str, body: Mapping[str, Any] | None) -> Reply:
        """Writes keep their distance from each other; that is courtesy, and not counted as waiting."""
        if method == "GET":
            return self._wire.send(method, url, body)
        if self._last_write is not None:
            gap = self._last_write + WRITE_GAP_S - self._clock.time()
            if gap > 0:
                self._clock.sleep(min(gap, WRITE_GAP_S))
        try:
            return self._wire.send(method, url, body)
        finally:
            self._last_write = self._clock.time()

    def _value(self, reply: Reply, doing: str, needs: tuple[str, ...]) -> Result:
        if reply.status == 0:
            sentence = f"GitHub did not {doing}: {reply.body.decode()}; check the network, proxy and ca-bundle, or run again."
            return Refused(status=None, kind="network", sentence=sentence)
        if not 200 <= reply.status < 300:
            return refused(reply.status, reply.headers, reply.body, doing=doing, needs=needs, redact=self._redactor.redact)
        if not reply.body:
            return Ok(None)
        try:
            return Ok(json.loads(reply.body))
        except (ValueError, RecursionError):
            return _unreadable(doing, "its answer is not JSON")


def repo_path(repository: str) -> str | None:
    """`/repos/owner/name`; None for anything that is not a repository's full name."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}", repository, re.ASCII):
        return None
    return None if {".", ".."} & set(repository.split("/")) else f"/repos/{repository}"


def _unreadable(doing: str, why: str) -> Refused:
    return Refused(status=None, kind="server", sentence=f"GitHub did not {doing}: {why}; run again later.")
