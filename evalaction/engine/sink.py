"""What happens to a draw after its reply: judged as it comes, then written, the draws of one turn of the loop in one go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from evalaction.engine.grid import Planned
from evalaction.engine.journal import Journal
from evalaction.engine.pace import Clock
from evalaction.engine.rows import Judged, RowMaker
from evalaction.method.records import Completion, Item

if TYPE_CHECKING:
    Verdict = asyncio.Future[Judged]

SYNC_S = 5.0


class Sink:
    """Callbacks instead of a task for each draw: thousands of draws a second pass over it.

    Nothing is raised to whoever hands in a draw: what goes wrong is raised by `tend`.
    """

    def __init__(
        self,
        items: Sequence[Item],
        judge: Callable[[Item, Completion], Awaitable[Judged]],
        rows: RowMaker,
        journal: Journal,
        *,
        clock: Clock,
        written: Callable[[], None],
    ) -> None:
        """`written` is called after each write."""
        self._items = items
        self._judge = judge
        self._rows = rows
        self._journal = journal
        self._clock = clock
        self._written = written
        self._loop = asyncio.get_running_loop()
        self._lying = 0
        self._judging: set[Verdict] = set()
        self._ready: list[tuple[bytes, bytes]] = []
        self._moved = asyncio.Event()
        self._due = asyncio.Event()
        self._synced = clock.now()
        self._error: BaseException | None = None
        self._closed = False

    def take(self, planned: Planned, completion: Completion) -> None:
        """Take in one finished draw."""
        self._lying += 1
        if completion.reason is not None:
            self._file(planned, completion, None)
            return
        verdict = asyncio.ensure_future(self._judge(self._items[planned.item], completion))
        self._judging.add(verdict)
        verdict.add_done_callback(partial(self._judged, planned, completion))

    async def tend(self) -> None:
        """Force what is written to the disk now and then, until cancelled. Raises what went wrong with any draw."""
        while True:
            await self._due.wait()
            self._due.clear()
            if self._error is not None:
                raise self._error
            await asyncio.to_thread(self._journal.sync)

    async def below(self, count: int) -> None:
        """Wait until fewer than `count` draws lie here unwritten."""
        while self._lying >= count:
            self._moved.clear()
            await self._moved.wait()

    def close(self) -> None:
        """Write what is ready and drop the draws that are still being judged."""
        if self._ready and not self._closed:
            self._write()
        self._closed = True
        for verdict in self._judging:
            verdict.cancel()

    def _judged(self, planned: Planned, completion: Completion, verdict: Verdict) -> None:
        self._judging.discard(verdict)
        if self._closed or verdict.cancelled():
            return
        error = verdict.exception()
        if error is not None:
            self._fail(error)
        else:
            self._file(planned, completion, verdict.result())

    def _file(self, planned: Planned, completion: Completion, judged: Judged | None) -> None:
        try:
            self._ready.append(self._rows.lines(planned, completion, judged))
        except Exception as error:  # noqa: BLE001 - this runs as a callback: raised here it would only be logged
            self._fail(error)
            return
        if len(self._ready) == 1:
            self._loop.call_soon(self._write)

    def _write(self) -> None:
        if self._closed or not self._ready:
            return
        ready, self._ready = self._ready, []
        try:
            self._journal.add_lines(ready)
        except Exception as error:  # noqa: BLE001 - see above
            self._fail(error)
            return
        self._lying -= len(ready)
        self._moved.set()
        self._written()
        if self._clock.now() - self._synced > SYNC_S:
            self._synced = self._clock.now()
            self._due.set()

    def _fail(self, error: BaseException) -> None:
        if not self._closed:
            self._closed = True
            self._error = error
            self._due.set()
