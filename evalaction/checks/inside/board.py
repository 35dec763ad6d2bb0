"""A page of shared memory on which the check's side notes what it is at, so that the runner knows who held it up at a limit."""

from __future__ import annotations

import mmap
import re
import struct
import time
from typing import Literal, NamedTuple, TypeAlias, get_args

Phase: TypeAlias = Literal["starting", "own", "waiting", "reading"]
PHASES: tuple[Phase, ...] = get_args(Phase)
HEAVY = 16_384
"""Bytes of a reply beyond which what the check does with it may be what used up its limits."""
ALL_HEAVY = 2**20
"""The same of all replies together."""
MANY = 1_000
"""Values taken from one of the candidate's iterators, or replies at all, beyond which it may be what goes on for ever."""
_NOTE = struct.Struct("<B?IQQQ")  # phase, larger than they look, replies read, bytes of the longest and of all, time waited (ns)
# A range, a number of eight digits or more, infinity: small to send, and endless to whoever counts up to it.
_LARGER = re.compile(rb'\["[rif]",|(?<![0-9.])[0-9]{8}|[0-9]e\+')
SIZE = _NOTE.size


class Note(NamedTuple):
    phase: Phase
    replies: int
    weight: int
    larger: bool = False
    """Whether a reply may be larger than its bytes."""
    total: int = 0
    """Bytes of all replies."""
    waited_ms: int = 0
    """Time until replies had come and were read."""

    @property
    def heavy(self) -> bool:
        """Whether what the check holds of the candidate may be what used up its limits."""
        return self.weight > HEAVY or self.larger or self.total > ALL_HEAVY or self.replies > MANY

    @property
    def candidate_holds(self) -> bool:
        """Whether a limit that the check's side reaches now is the candidate's doing."""
        return self.phase in ("waiting", "reading") or self.heavy


class Board:
    """The writing side, over a descriptor of at least `SIZE` bytes."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, SIZE)
        self._replies = 0
        self._weight = 0
        self._larger = False
        self._total = 0
        self._waited_ns = 0
        self._phase: Phase = "starting"
        self._since_ns = time.monotonic_ns()
        self.enter("starting")

    @property
    def note(self) -> Note:
        return read_note(self._page[:])

    def enter(self, phase: Phase) -> None:
        now_ns = time.monotonic_ns()
        if self._phase in ("waiting", "reading"):
            self._waited_ns += now_ns - self._since_ns
        self._phase, self._since_ns = phase, now_ns
        kept = (self._larger, self._replies, self._weight, self._total, self._waited_ns)
        _NOTE.pack_into(self._page, 0, PHASES.index(phase), *kept)

    def received(self, reply: bytes) -> None:
        """A reply is about to be read."""
        self._replies += 1
        self._weight = max(self._weight, len(reply))
        self._total += len(reply)
        self._larger = self._larger or _LARGER.search(reply) is not None
        self.enter("reading")

    def read_source(self) -> None:
        """The check has looked at the candidate's text, which is an answer too."""
        self._replies += 1
        self.enter("own")

    def goes_on(self) -> None:
        """One of the candidate's iterators has given many values."""
        self._larger = True


def read_note(data: bytes) -> Note:
    """What a page says."""
    phase, larger, replies, weight, total, waited_ns = _NOTE.unpack_from(data)
    return Note(PHASES[phase], replies, weight, larger, total, waited_ns // 1_000_000)
