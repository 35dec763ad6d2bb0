"""Drawing: every planned draw once, by slots with one connection each; finished draws are handed to the sink."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evalaction.engine.gate import FirstDraws
from evalaction.engine.grid import Grid, Planned
from evalaction.engine.interruption import Interruption
from evalaction.engine.journal import Journal
from evalaction.engine.pace import Clock, Pacer
from evalaction.engine.rows import Judged, RowMaker
from evalaction.engine.sink import Sink
from evalaction.errors import Interrupted
from evalaction.method.card import Pace
from evalaction.method.judging.facts import Ended
from evalaction.method.records import ArmName, Completion, Item
from evalaction.method.report import Counts

GRACE_S = 5.0  # a cancelled workflow kills the process 7.5 seconds after its first signal
BACKLOG = 16  # draws that may lie unwritten besides one for each slot; more, and the slots wait


class Slot(Protocol):
    """One connection of one endpoint; sends one request at a time."""

    async def send(self, call: Any, /) -> Completion: ...

    async def aclose(self) -> None: ...


class Surface(Protocol):
    """An endpoint that can open slots."""

    def slot(self) -> Slot: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """Where one arm's draws go: per item the key of the surface, and what is sent for (item position, draw index)."""

    surface: Sequence[str]
    call: Callable[[int, int], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Everything a run needs to draw. `done` holds the rows a resumed run already has: (index, reached)."""

    grid: Grid
    items: Sequence[Item]
    lanes: Mapping[ArmName, Lane]
    surfaces: Mapping[str, Surface]
    judge: Callable[[Item, Completion], Awaitable[Judged]]
    rows: RowMaker
    pace: Pace
    done: Collection[tuple[int, bool]] = ()
    sent_before: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """How the drawing ended; only `complete` and `unreachable` may be sealed."""

    ended: Ended
    counts: Counts
    added: int
    """Draws written in this sitting."""
    too_long_ms: int
    """The longest Retry-After that was not waited for; 0: none."""


async def run_draws(
    job: Job, journal: Journal, *, clock: Clock, interruption: Interruption, progress: Callable[[Counts], None]
) -> Drawn:
    """Draw what the grid still lacks and append each finished draw to the journal.

    Raises UsageError when the disk refuses a row. An interruption ends it with `interrupted`: draws that finish within the
    grace are written, the others are dropped unrecorded.
    """
    return await _Run(job, journal, clock, interruption, progress).drive()


def refuse_interrupted(drawn: Drawn, resume: str) -> None:
    """Raise Interrupted where a signal ended the drawing; `resume` is the run folder to name."""
    if drawn.ended == "interrupted":
        counts = drawn.counts
        raise Interrupted(
            f"{counts.written:,} of {counts.planned:,} draws are on disk and the run is unsealed; "
            f"finish it with --resume --run-dir {resume}."
        )


class _Run:
    def __init__(
        self, job: Job, journal: Journal, clock: Clock, interruption: Interruption, progress: Callable[[Counts], None]
    ) -> None:
        self._job = job
        self._journal = journal
        self._clock = clock
        self._interruption = interruption
        self._progress = progress
        self._pacer = Pacer(job.pace, clock)
        self._gate = FirstDraws(job.grid.arms, len(job.grid.ids))
        self._opened = asyncio.Event()
        self._claims = self._missing()
        self._sent = job.sent_before
        self._ended: Ended = "complete"
        self._stopping = False
        self._waiting: set[asyncio.Task[None]] = set()
        self._sink: Sink

    def _missing(self) -> Iterator[Planned]:
        held = bytearray(len(self._job.grid))
        for index, reached in self._job.done:
            held[index] = 1
            planned = self._job.grid.at(index)
            self._gate.finished(planned.arm, planned.draw, reached=reached)
        return (self._job.grid.at(index) for index in range(len(held)) if not held[index])

    def _counts(self) -> Counts:
        return Counts(planned=len(self._job.grid), sent=self._sent, written=self._journal.written)

    async def drive(self) -> Drawn:
        self._look_at_gate()
        slots = min(self._job.pace.concurrency, len(self._job.grid))
        try:
            async with asyncio.TaskGroup() as group:
                sink = self._sink = self._open_sink()
                tend = group.create_task(sink.tend())
                workers = [group.create_task(self._slot(number, slots + BACKLOG)) for number in range(slots)]
                watch = group.create_task(self._watch(workers))
                try:
                    await asyncio.wait(workers)
                    written = group.create_task(sink.below(1))
                    await asyncio.wait((written, watch), return_when=asyncio.FIRST_COMPLETED)
                    for task in (written, watch, tend):
                        task.cancel()
                finally:
                    sink.close()
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        counts = self._counts()
        if counts.written == counts.planned:  # the signal came too late to change anything
            self._ended = "complete" if self._gate.open else "unreachable"
        added = counts.written - len(self._job.done)
        return Drawn(ended=self._ended, counts=counts, added=added, too_long_ms=self._pacer.too_long_ms)

    def _open_sink(self) -> Sink:
        job = self._job
        return Sink(
            job.items,
            job.judge,
            job.rows,
            self._journal,
            clock=self._clock,
            written=lambda: self._progress(self._counts()),
        )

    async def _slot(self, number: int, room: int) -> None:
        """Claim the next draw, wait for its turn, send it, hand it on; until there is none or the run stops."""
        slots: dict[str, Slot] = {}
        me = asyncio.current_task()
        assert me is not None
        try:
            for planned in self._claims:
                if self._over():
                    return
                self._waiting.add(me)
                if planned.draw and not self._opened.is_set():
                    await self._opened.wait()
                in_time = await self._pacer.turn(number)
                self._waiting.discard(me)
                if not in_time:
                    self._stop("deadline")
                if self._over():
                    return
                lane = self._job.lanes[planned.arm]
                key = lane.surface[planned.item]
                slot = slots.get(key)
                if slot is None:
                    slot = slots[key] = self._job.surfaces[key].slot()
                self._sent += 1
                completion = await slot.send(lane.call(planned.item, planned.draw))
                self._arrived(planned, completion)
                self._sink.take(planned, completion)
                await self._sink.below(room)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        finally:
            for slot in slots.values():
                await slot.aclose()

    def _over(self) -> bool:
        return self._stopping

    def _arrived(self, planned: Planned, completion: Completion) -> None:
        if completion.retry_after_ms is not None and completion.reason is not None:
            self._pacer.hold(completion.retry_after_ms)
        if planned.draw == 0 or not self._gate.open:
            self._gate.finished(planned.arm, planned.draw, reached=completion.reason is None)
            self._look_at_gate()

    def _look_at_gate(self) -> None:
        if self._gate.dead:
            self._stop("unreachable")
        if self._gate.open:
            self._opened.set()

    def _stop(self, ended: Ended) -> None:
        """Send nothing more; the first reason stands. Draws in flight may finish."""
        if not self._stopping:
            self._stopping = True
            self._ended = ended
            for task in self._waiting:
                task.cancel()

    async def _watch(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """After the first signal nothing is sent; after the grace, or at the second signal, what is left is dropped."""
        await self._interruption.first.wait()
        self._stop("interrupted")
        self._ended = "interrupted"
        try:
            async with asyncio.timeout(GRACE_S):
                await self._interruption.second.wait()
        except TimeoutError:
            pass
        for task in tasks:
            task.cancel()
