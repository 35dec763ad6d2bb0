"""Time for tests of the API client: it passes only by sleeping."""

from __future__ import annotations

import time


class FakeClock:
    def __init__(self) -> None:
        self.now = time.time()
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        self.now += seconds
