"""Pieces of bytes that come in any order and leave by their number; they wait in a file, not in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import IO


class Spool:
    """At most one piece for each of `size` numbers, in an open temporary `file`."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._places = array("Q", [0]) * (2 * size)
        self._end = 0

    def add(self, number: int, piece: bytes) -> None:
        self._file.write(piece)
        self._places[2 * number] = self._end
        self._places[2 * number + 1] = len(piece)
        self._end += len(piece)

    def length(self, number: int) -> int:
        """0: there is none."""
        return self._places[2 * number + 1]

    def get(self, number: int) -> bytes:
        """Empty where there is none. Nothing may be added afterwards."""
        length = self.length(number)
        if not length:
            return b""
        self._file.seek(self._places[2 * number])
        return self._file.read(length)

    def __iter__(self) -> Iterator[bytes]:
        """Every piece in the order of the numbers."""
        return (self.get(number) for number in range(len(self._places) // 2) if self.length(number))
