"""The event loop's side of one worker: a batch goes out, messages come back, a clock runs, a death is told."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import Any, Literal, Protocol, TypeAlias

from evalaction.checks.process import Child, Death
from evalaction.checks.spot import NOBODY
from evalaction.checks.wire import Garbled, Inbox, Oversized, frame

READ_SIZE = 262_144
START_S = 60.0
_BURIAL_S = 0.005

# Why the parent ended a worker; None when it died by itself.
Cause: TypeAlias = Literal["timeout", "output", "protocol"]


class Owner(Protocol):
    """Whom a link tells what happened; each call may send the next batch."""

    def answered(self, link: Link, answers: list[Any]) -> None: ...

    def ready(self) -> None: ...

    def died(self, link: Link, death: Death) -> None: ...


class Link:
    """One worker: starting, idle, busy with one batch, or dead."""

    def __init__(self, child: Child, owner: Owner, *, timeout_s: float, output_bytes: int) -> None:
        self.child = child
        self.idle = False
        self.started = False
        self.cause: Cause | None = None
        self.known: set[int] = set()
        self.known_schemas: set[int] = set()
        self.known_bytes = 0
        self._owner = owner
        self._timeout_s = timeout_s
        self._inbox = Inbox(output_bytes)
        self._unsent = memoryview(b"")
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(child.reader, self._read)
        self._clock = self._loop.call_later(START_S, self.end, "timeout")

    def send(self, message: dict[str, Any]) -> None:
        """Give an idle worker its batch; the clock of the batch starts."""
        self.idle = False
        self.child.spot.clear()
        self._clock = self._loop.call_later(self._timeout_s, self._look)
        self._unsent = memoryview(frame(message))
        self._write()

    def _look(self) -> None:
        """The clock of a batch has run down: the job at hand has had its time, or began later and gets the rest of it."""
        noted = self.child.spot.read()
        left = noted.began + self._timeout_s - time.monotonic() if noted.job != NOBODY else 0.0
        if left > 0:
            self._clock = self._loop.call_later(left, self._look)
        else:
            self.end("timeout")

    def end(self, cause: Cause) -> None:
        """Kill the worker; its death is told as soon as it is buried."""
        self.idle = False
        self.cause = self.cause or cause
        self.child.kill()

    def close(self) -> None:
        """Kill and bury at once, telling nobody."""
        self._let_go()
        self.child.kill()
        self.child.bury(wait=True)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self.child.writer, self._unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # the reader will see its end
            self._unsent = memoryview(b"")
        if self._unsent:
            self._loop.add_writer(self.child.writer, self._write)
        else:
            self._loop.remove_writer(self.child.writer)

    def _read(self) -> None:
        data = os.read(self.child.reader, READ_SIZE)
        if not data:
            self._let_go()
            self._bury()
            return
        if self.cause is not None:  # already killed: nothing it says counts any more
            return
        try:
            for message in self._inbox.add(data):
                self._take(message)
        except Oversized:
            self.end("output")
        except (Garbled, TypeError, ValueError, KeyError, IndexError):
            self.end("protocol")

    def _take(self, message: Any) -> None:
        kind = message[0]
        if kind == "done" and not self.idle and self.started:
            _, spent, answers = message
            self._clock.cancel()
            self.idle = not spent
            self._owner.answered(self, answers)
        elif kind == "ready" and not self.started:
            self.started = self.idle = True
            self._clock.cancel()
            self._owner.ready()
        else:
            raise Garbled("a message out of turn")

    def _let_go(self) -> None:
        self.idle = False
        self._clock.cancel()
        for remove, pipe in ((self._loop.remove_reader, self.child.reader), (self._loop.remove_writer, self.child.writer)):
            with contextlib.suppress(ValueError, OSError):
                remove(pipe)

    def _bury(self) -> None:
        death = self.child.bury(wait=False)
        if death is None:
            self._loop.call_later(_BURIAL_S, self._insist)
        else:
            self._owner.died(self, death)

    def _insist(self) -> None:
        self.child.kill()
        self._bury()
