"""A page of shared memory on which the check's side notes what it is at, so that the runner knows who held it up at a limit."""

from __future__ import annotations

import mmap
import struct
from typing import Literal, NamedTuple, TypeAlias, get_args

Phase: TypeAlias = Literal["starting", "own", "waiting", "reading"]
PHASES: tuple[Phase, ...] = get_args(Phase)
HEAVY = 16_384
"""Bytes of a reply beyond which what the check does with it may be what used up its limits."""
_NOTE = struct.Struct("<BIQ")  # phase, replies read, bytes of the longest one
SIZE = _NOTE.size


class Note(NamedTuple):
    phase: Phase
    replies: int
    weight: int

    @property
    def candidate_holds(self) -> bool:
        """Whether a limit that the check's side reaches now is the candidate's doing."""
        return self.phase in ("waiting", "reading") or self.weight > HEAVY


class Board:
    """The writing side, over a descriptor of at least `SIZE` bytes."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, SIZE)
        self._replies = 0
        self._weight = 0
        self.enter("starting")

    @property
    def note(self) -> Note:
        return read_note(self._page[:])

    def enter(self, phase: Phase) -> None:
        _NOTE.pack_into(self._page, 0, PHASES.index(phase), self._replies, self._weight)

    def received(self, weight: int) -> None:
        """A reply of `weight` bytes is about to be read."""
        self._replies += 1
        self._weight = max(self._weight, weight)
        self.enter("reading")


def read_note(data: bytes) -> Note:
    """What a page says."""
    phase, replies, weight = _NOTE.unpack_from(data)
    return Note(PHASES[phase], replies, weight)
