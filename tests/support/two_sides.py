"""Both sides of a split check in one process: the candidate answers in a thread. Only for candidates that a test wrote itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from evalaction.checks.inside.board import SIZE, Board
from evalaction.checks.inside.candidate import Candidate
from evalaction.checks.inside.channel import Channel, Gone
from evalaction.checks.inside.remote import Remote
from evalaction.checks.inside.standin import StandIn, fill
from evalaction.checks.inside.star import Star
from evalaction.checks.inside.verdict import Verdict, Word


class Ended(BaseException):
    """In place of the end of the process."""

    def __init__(self, word: Word, reason: str) -> None:
        super().__init__(f"{word} {reason}")
        self.word = word
        self.reason = reason


class Telling(Verdict):
    """Raises instead of ending the process."""

    def __init__(self) -> None:
        super().__init__(-1, "")

    def end(self, word: Word, reason: str = "") -> NoReturn:
        raise Ended(word, reason)


class Sides:
    """The check's side at hand, the candidate's side behind two pipes."""

    def __init__(self) -> None:
        self.requests, self.replies = os.pipe(), os.pipe()
        page = os.memfd_create("board")
        os.ftruncate(page, SIZE)
        self.board = Board(page)
        os.close(page)
        self.remote = Remote(Channel(self.replies[0], self.requests[1]), self.board, Telling())
        self.candidate = Channel(self.requests[0], self.replies[1])

    def stand_in(self, source: str, check: str = "") -> StandIn:
        """The stand-in, its names taken in."""
        module = StandIn(self.remote, source, Star(check))
        fill(module)
        return module

    def close(self) -> None:
        for end in (*self.requests, *self.replies):
            os.close(end)


@contextmanager
def candidate(source: str, check: str = "") -> Iterator[StandIn]:
    """The stand-in for a candidate that a thread runs; `check` is the text of the check that imports it."""
    sides = Sides()
    serving = threading.Thread(target=_serve, args=(sides.candidate, source))
    serving.start()
    try:
        yield sides.stand_in(source, check)
    finally:
        os.close(sides.requests[1])
        serving.join()
        for end in (sides.requests[0], *sides.replies):
            os.close(end)


@contextmanager
def hostile(*messages: bytes) -> Iterator[Sides]:
    """The check's side before a candidate's side that has already sent these bytes and gone."""
    sides = Sides()
    for message in messages:
        os.write(sides.replies[1], message)
    os.close(sides.replies[1])
    try:
        yield sides
    finally:
        for end in (*sides.requests, sides.replies[0]):
            os.close(end)


def _serve(channel: Channel, source: str) -> None:
    with suppress(Gone):
        Candidate(channel).serve(source)
