"""When the next draw may be sent: slots that open one after another, even spacing by the minute, Retry-After, the deadline."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from evalaction.method.card import Pace

OPENING_S = 0.002  # a small listen backlog answers a burst of connections with resets that would be ours
MINUTE_S = 60.5  # n + 1 draws never fall into one minute of the server, even if one was half a second under way


class Clock(Protocol):
    """Monotonic seconds, and a sleep on the same scale."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Pacer:
    """Gives turns to the slots of one run. A draw is paced, never retried."""

    def __init__(self, pace: Pace, clock: Clock) -> None:
        self._clock = clock
        self._max_wait_ms = pace.max_wait_ms
        self._interval = MINUTE_S / pace.per_minute if pace.per_minute else 0.0
        self._open_at = self._next_at = clock.now()
        self._deadline = self._open_at + pace.deadline_ms / 1000
        self._sent_at = self._open_at - self._interval
        self._holds = 0
        self.too_long_ms = 0
        """The longest Retry-After that was reported instead of waited for, in milliseconds."""

    async def turn(self, slot: int) -> bool:
        """Wait until the slot (0-based) may send one draw; False when the deadline comes first."""
        seen, at = -1, 0.0
        while True:
            now = self._clock.now()
            if now >= self._deadline:
                return False
            if seen != self._holds:  # a hold moves every draw not yet sent: its place in the minute is given anew
                seen, at = self._holds, max(self._open_at + slot * OPENING_S, self._next_at)
                if self._interval:
                    self._next_at = max(at, now) + self._interval
            if at <= now:
                self._sent_at = now
                return True
            await self._clock.sleep(min(at, self._deadline) - now)

    def hold(self, retry_after_ms: int) -> None:
        """Delay every draw not yet sent, of both arms; a wait above `max_wait_ms` is noted, not waited for."""
        if retry_after_ms > self._max_wait_ms:
            self.too_long_ms = max(self.too_long_ms, retry_after_ms)
            return
        until = self._clock.now() + retry_after_ms / 1000
        if retry_after_ms > 0 and until > self._open_at:
            self._holds += 1
            self._open_at = until
            self._next_at = self._sent_at + self._interval
