"""Hosted runners: where a submitted job is asked for, and what the reply says of it. Free of I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import quote

from evalaction.endpoints.address import Address, parse_url
from evalaction.endpoints.pointer import Missing, refuse_bad, resolve
from evalaction.endpoints.reading import Malformed
from evalaction.errors import UsageError
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint, Poll

State: TypeAlias = Literal["pending", "done", "failed", "unknown"]

SUBMITTED = frozenset({200, 201, 202})
"""Statuses of a submission: its reply is not graded, it only names the job."""
POLLED = frozenset({200, 202})
"""Statuses of a poll: 202 is the server's own word for a job that goes on, whatever the body says."""
MAX_SEGMENT = 1_000
"""Characters of a value that may enter an address."""
_PLACE = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Jobs:
    """How the jobs of one endpoint are asked for. Its repr shows neither address nor key."""

    take: Mapping[str, str]
    target: str = field(repr=False)
    """Path and query with places, after the origin where a proxy needs the whole address."""
    lines: str = field(repr=False)
    """All headers of a poll."""
    every_s: float
    done: str
    pending: frozenset[str]
    """Canonical JSON of the values that mean: not yet."""
    failed: frozenset[str]
    succeeded: frozenset[str]
    """Empty: every state that is neither."""

    def head(self, submitted: Json) -> bytes:
        """Request line and headers of the polls for the job that `submitted` names. Raises Malformed.

        Each value enters as one percent-encoded segment of the path: it can reach neither another place of the server nor its
        query.
        """
        values = {name: _segment(submitted, pointer) for name, pointer in self.take.items()}
        target = _PLACE.sub(lambda place: values[place[1]], self.target)
        return f"GET {target} HTTP/1.1\r\n{self.lines}".encode("ascii")

    def state(self, status: int, reply: Json) -> State:
        """Raises Malformed for a reply 200 that does not tell the state as a text, a number, true, false or null."""
        if status == 202:
            return "pending"
        try:
            found = resolve(reply, self.done)
        except Missing:
            raise Malformed(f"the reply has nothing at {self.done}") from None
        if isinstance(found, (list, Mapping)):
            raise Malformed(f"the value at {self.done} is no state")
        word = canonical.dumps(found)
        if word in self.pending:
            return "pending"
        if word in self.failed:
            return "failed"
        return "done" if not self.succeeded or word in self.succeeded else "unknown"


def open_jobs(endpoint: Endpoint, address: Address, *, origin: str, lines: str) -> Jobs:
    """How to ask for jobs submitted at `address`. Raises UsageError for a poll address elsewhere or a bad place or pointer."""
    poll = endpoint.poll
    assert poll is not None
    for pointer in (*poll.take.values(), poll.done):
        refuse_bad(pointer, what=f"Endpoint {endpoint.name}: {pointer}")
    return Jobs(
        take=poll.take,
        target=origin + _target(poll, address, f"The poll.url of endpoint {endpoint.name}"),
        lines=lines,
        every_s=poll.every_ms / 1000,
        done=poll.done,
        pending=frozenset(map(canonical.dumps, poll.pending)),
        failed=frozenset(map(canonical.dumps, poll.failed)),
        succeeded=frozenset(map(canonical.dumps, poll.succeeded)),
    )


def _target(poll: Poll, address: Address, what: str) -> str:
    """Path and query of the polls, with their places."""
    path = poll.url if poll.url.startswith("/") and not poll.url.startswith("//") else None
    filled = parse_url(_PLACE.sub("x", f"http://{address.netloc}{path}" if path else poll.url), what=what)
    if path is None:
        if (filled.secure, filled.host.lower(), filled.port) != (address.secure, address.host.lower(), address.port):
            raise UsageError(f"{what} is at another origin than its address; a key goes only to its own.")
        path = "/" + poll.url.partition("://")[2].partition("/")[2]
    place, _, query = path.partition("?")
    names = {found[1] for part in place.split("/") if (found := _PLACE.fullmatch(part))}
    if names != set(poll.take) or len(_PLACE.findall(path)) != len(names) or "{" in query:
        raise UsageError(f"{what} needs each name of poll.take once, as a whole segment of its path.")
    return path


def _segment(submitted: Json, pointer: str) -> str:
    try:
        value = resolve(submitted, pointer)
    except Missing:
        raise Malformed(f"the reply to the submission has nothing at {pointer}") from None
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or text in {"", ".", ".."} or len(text) > MAX_SEGMENT:
        raise Malformed(f"the value at {pointer} of the reply to the submission names no job")
    return quote(text, safe="")
