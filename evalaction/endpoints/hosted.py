"""The slot of a hosted runner: one submission, then polls until the job is done, all within the draw's one deadline.

A failed submission or poll ends the draw: neither is sent again. A poll's `Retry-After` delays the next one.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evalaction.endpoints import headers, http, reading
from evalaction.endpoints.completing import completed, refused, unreached
from evalaction.endpoints.connect import Unreached
from evalaction.endpoints.jobs import POLLED, SUBMITTED, Jobs
from evalaction.endpoints.reading import Malformed
from evalaction.endpoints.surface import Call, body_limit, ms_since, now
from evalaction.endpoints.transport import Connection, Reply
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion


class HostedSlot:
    def __init__(self, endpoint: Endpoint, connection: Connection, head: bytes, jobs: Jobs) -> None:
        self._endpoint = endpoint
        self._connection = connection
        self._head = head
        self._jobs = jobs

    async def send(self, call: Call) -> Completion:
        await self._connection.ready()
        job = _Job(endpoint=self._endpoint, jobs=self._jobs, connection=self._connection, call=call)
        return await job.draw(self._head)

    async def aclose(self) -> None:
        await self._connection.aclose()


@dataclass(kw_only=True, slots=True)
class _Job:
    """One draw: its clock, and what was sent so far."""

    endpoint: Endpoint
    jobs: Jobs
    connection: Connection
    call: Call
    started_at: str = ""
    start: float = 0.0
    polls: int = 0
    retries: int = 0
    """Of the submission: a poll that was repeated asked for no second answer."""
    cache_hit: str | None = None
    """Of the submission too: a stored state is still the state of our own job."""

    async def draw(self, head: bytes) -> Completion:
        self.started_at, self.start = now(), time.perf_counter()
        body = self.call.request.body
        try:
            submitted = await self._exchange(b"%b\r\nContent-Length: %d" % (head, len(body)), body, SUBMITTED)
        except Unreached as failure:
            return unreached(failure, started_at=self.started_at, ms=ms_since(self.start))
        if submitted.status not in SUBMITTED:
            return self._refused(submitted, f"status:{submitted.status}")
        self.retries = headers.hidden_retries(submitted.headers)
        self.cache_hit = headers.cache_hit(submitted.headers)
        try:
            asking = self.jobs.head(reading.parse(submitted.body))
        except Malformed as error:
            return self._refused(submitted, "malformed", detail=str(error))
        found = await self._wait_for(asking)
        return replace(found, polls=self.polls, retries=self.retries, cache_hit=self.cache_hit)

    async def _wait_for(self, asking: bytes) -> Completion:
        """Poll until the job is done, has failed, or cannot be asked for any more."""
        wait = self.jobs.every_s
        try:
            while True:
                await self._pause(wait)
                await self.connection.ready()
                self.polls += 1
                reply = await self._exchange(asking, b"", POLLED)
                found = self._ended(reply)
                if found is not None:
                    return found
                wait = max(self.jobs.every_s, _retry_after_s(reply))
        except Unreached as failure:
            found = unreached(failure, started_at=self.started_at, ms=ms_since(self.start))
            late = failure.reason == "timeout"  # the poll had only what was left of the deadline
            return replace(found, reason=f"poll:{found.reason}", error=self._late() if late else found.error)

    def _ended(self, reply: Reply) -> Completion | None:
        """None while the job goes on."""
        if reply.status not in POLLED:
            return self._refused(reply, f"poll:status:{reply.status}")
        try:
            value = None if reply.status == 202 else reading.parse(reply.body)
            state = self.jobs.state(reply.status, value)
        except Malformed as error:
            return self._refused(reply, "poll:malformed", detail=str(error))
        if state == "pending":
            return None
        if state != "done":
            trace, counters = http.traced(value, self.endpoint)
            reason = "poll:failed" if state == "failed" else "poll:unknown_state"
            return replace(self._refused(reply, reason), trace=trace, counters=counters)
        output = self.call.request.output
        found = completed(reply, self.endpoint, output, started_at=self.started_at, ms=ms_since(self.start))
        return replace(found, reason="poll:malformed") if found.reason == "malformed" else found

    async def _exchange(self, head: bytes, body: bytes, wanted: frozenset[int]) -> Reply:
        return await self.connection.exchange(
            head, body, timeout_s=max(0.0, self._left_s()), limit=body_limit(self.call), wanted=wanted
        )

    async def _pause(self, seconds: float) -> None:
        """Raises Unreached where the deadline comes before the next poll could be sent."""
        if seconds >= self._left_s():
            raise Unreached("timeout", self._late())
        await asyncio.sleep(seconds)

    def _late(self) -> str:
        return f"the job was not done within {self.call.timeout_ms} ms"

    def _left_s(self) -> float:
        return self.call.timeout_ms / 1000 - (time.perf_counter() - self.start)

    def _refused(self, reply: Reply, reason: str, *, detail: str = "") -> Completion:
        return refused(reply, reason, started_at=self.started_at, ms=ms_since(self.start), detail=detail)


def _retry_after_s(reply: Reply) -> float:
    raw = headers.retry_after(reply.headers)
    wait = None if raw is None else headers.retry_after_ms(raw, datetime.now(UTC))
    return 0.0 if wait is None else wait / 1000
