"""What a process writes to its standard output and error, read as it comes and cut off at a cap."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

_PART = 65_536


class Capture:
    """Reads some pipes of one process together, up to `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = limit
        self._too_much: Callable[[], None] = lambda: None
        self._parts: dict[int, bytearray] = {}
        self._numbers: dict[int, int] = {}
        self._all_read = asyncio.Event()
        self._all_read.set()

    def on_too_much(self, tell: Callable[[], None]) -> None:
        """`tell` is called once, when more than the limit has come."""
        self._too_much = tell

    def pipe(self, number: int) -> int:
        """A pipe for the descriptor `number` of the process; returns the end to hand over."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self._parts[number] = bytearray()
        self._numbers[reader] = number
        self._all_read.clear()
        self._loop.add_reader(reader, self._read, reader)
        return writer

    def text(self, number: int) -> bytes:
        return bytes(self._parts.get(number, b""))

    async def finished(self, patience_s: float) -> None:
        """Wait for the ends of the pipes, though not for ever: a descriptor may have been handed on."""
        try:
            async with asyncio.timeout(patience_s):
                await self._all_read.wait()
        except TimeoutError:
            self.close()

    def close(self) -> None:
        for reader in list(self._numbers):
            self._let_go(reader)

    def _read(self, reader: int) -> None:
        try:
            data = os.read(reader, _PART)
        except BlockingIOError:
            return
        if not data:
            self._let_go(reader)
            return
        before = self._left
        self._parts[self._numbers[reader]] += data[: max(0, before)]
        self._left -= len(data)
        if self._left < 0 <= before:
            self._too_much()

    def _let_go(self, reader: int) -> None:
        self._loop.remove_reader(reader)
        os.close(reader)
        del self._numbers[reader]
        if not self._numbers:
            self._all_read.set()
