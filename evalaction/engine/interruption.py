"""Signals as two events: the first asks the run to come to an end, the second ends it at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    def __init__(self) -> None:
        self.first = asyncio.Event()
        self.second = asyncio.Event()

    def strike(self) -> None:
        (self.second if self.first.is_set() else self.first).set()


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Within a running loop: SIGINT and SIGTERM strike the interruption that is handed out."""
    loop = asyncio.get_running_loop()
    interruption = Interruption()
    for number in SIGNALS:
        loop.add_signal_handler(number, interruption.strike)
    try:
        yield interruption
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
