"""Judging the sealed draws of another job: each text against its digest, then contract and check, in the order of the draws."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalaction import __version__
from evalaction.engine.apart import refuse_other_draw, sealed_draws, sealed_rows
from evalaction.engine.draws import kept_reply
from evalaction.engine.folder import DRAWS, JUDGING, ROWS, TEXTS, locked
from evalaction.engine.grid import Grid
from evalaction.engine.interruption import interruptible
from evalaction.engine.isolation import isolation_of
from evalaction.engine.journal import Journal
from evalaction.engine.judging import Judging, read_judging, write_judging
from evalaction.engine.manifest import read_manifest
from evalaction.engine.readback import Seal, Tail, cut_torn, tail_of
from evalaction.engine.reading import placed_draws, placed_lines
from evalaction.engine.resume import refuse_other
from evalaction.engine.session import Setting, confirmation, grid_of, judge_of, manifest_of, row_maker
from evalaction.errors import EvalactionError, Interrupted, UnregisteredError, UsageError
from evalaction.method.counting.draw_json import Draw
from evalaction.method.counting.row_json import row_to_json
from evalaction.method.records import Completion
from evalaction.method.report import Counts

if TYPE_CHECKING:
    from evalaction.checks.pool import Judge
    from evalaction.engine.manifest import Manifest
    from evalaction.engine.prepare import Prepared
    from evalaction.engine.rows import Judged, RowMaker
    from evalaction.sandbox.records import Rung

AT_ONCE = 256
"""Replies that are being judged at once: enough for full batches of both workers."""
ROOM = 32 << 20
"""Bytes of their texts, beyond which the next one waits."""
MAX_TEXT = 64 << 20
"""Bytes of a line of `texts.jsonl`: the longest reply, each character of it escaped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """Where a drawn run is judged."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)
    identity: Mapping[str, str]
    """What the runner says of itself."""


def refuse_undrawn(manifest: Manifest, folder: Path) -> None:
    """Raise UsageError for a run that is judged where it is drawn: there is nothing to judge again."""
    if not manifest.judged_apart:
        raise UsageError(
            f"The run in {folder} was judged when it was drawn; `evalaction score {folder}` derives its files again.",
            code="judged_already",
        )


def check_same(prepared: Prepared, manifest: Manifest, bench: Bench) -> None:
    """Raise UnregisteredError (`not_the_drawn`) where a frozen part of the prepared question is not the one that was drawn."""
    setting = Setting(
        folder=bench.folder,
        environ=bench.environ,
        identity=bench.identity,
        inputs=manifest.inputs,
        rehearsal=manifest.rehearsal,
        judged_apart=True,
        base=manifest.base,
    )
    refuse_other(manifest, manifest_of(prepared, setting))


async def judge_draws(prepared: Prepared, bench: Bench, rung: Rung | None, *, progress: Callable[[Counts], None]) -> int:
    """Judge what is not judged yet, write `rows.jsonl` and seal it; how many draws were judged in this sitting.

    Rows that are sealed already are compared with the draws and left as they are. Unsealed ones are gone on with on the same
    machine, and begun again on another. Raises UnregisteredError (draws, texts or rows that are not what was sealed, files of
    the exam that changed while programs ran), InconclusiveError (unfinished draws), UsageError (a second writer, a full disk),
    Interrupted when a signal ended it.
    """
    folder = bench.folder
    with locked(folder):
        manifest = read_manifest(folder)
        check_same(prepared, manifest, bench)
        draws, seal = sealed_draws(folder)
        grid = grid_of(prepared)
        if (folder / ROWS).exists() and tail_of(folder).seal:
            sealed_rows(folder)
            return 0
        here = Judging(tool_version=__version__, runner=bench.identity, isolation=isolation_of(prepared, rung))
        done = _begun(folder, here, grid, draws)
        confirm = confirmation(prepared) if rung else None
        maker = row_maker(prepared, bench.environ)
        with Journal(folder, written=done) as journal:
            async with judge_of(prepared, bench.environ, rung) as judge:
                sitting = _Sitting(prepared, maker, judge, journal, lambda written: progress(_counts(seal, written)))
                await _uninterrupted(sitting.drive(_replies(folder, grid, draws)), seal, journal)
            if confirm is not None:
                confirm()
            journal.seal(planned=seal.planned, sent=seal.sent, ended=seal.ended, ms=seal.ms)
        return seal.written - done


def _counts(seal: Seal, written: int) -> Counts:
    return Counts(planned=seal.planned, sent=seal.sent, written=written)


def _begun(folder: Path, here: Judging, grid: Grid, draws: Tail) -> int:
    """How many rows of an unfinished judging stand; those of another machine, version or box are taken away."""
    before = None
    with suppress(EvalactionError):
        before = read_judging(folder)
    if before != here:
        for name in (ROWS, JUDGING):
            (folder / name).unlink(missing_ok=True)
        write_judging(folder, here)
    if not (folder / ROWS).exists():
        return 0
    tail = tail_of(folder)
    cut_torn(folder / ROWS, tail.torn)
    of_rows = placed_lines(folder / ROWS, grid, end=tail.body)
    of_draws = placed_draws(folder / DRAWS, grid, end=draws.body)
    done = 0
    for done, ((_, line, row), (_, _, draw)) in enumerate(zip(of_rows, of_draws, strict=False), start=1):
        refuse_other_draw(done, line, row, draw)
    return done


async def _uninterrupted(work: Coroutine[Any, Any, None], seal: Seal, journal: Journal) -> None:
    """Raises Interrupted where a signal came before the end; whole rows stay."""
    with interruptible() as interruption:
        judging = asyncio.ensure_future(work)
        signal = asyncio.ensure_future(interruption.first.wait())
        try:
            await asyncio.wait((judging, signal), return_when=asyncio.FIRST_COMPLETED)
        finally:
            signal.cancel()
            if not judging.done():
                judging.cancel()
        with suppress(asyncio.CancelledError):
            await judging
            return
    raise Interrupted(f"{journal.written:,} of {seal.written:,} draws are judged; judge the run again to go on.")


def _replies(folder: Path, grid: Grid, draws: Tail) -> Iterator[tuple[Draw, Completion, int]]:
    """Every draw with its reply, and the length of its line.

    Raises UnregisteredError (`texts_differ`) for a text that is missing, or another one than was drawn.
    """
    path = folder / TEXTS
    with ExitStack() as stack:
        texts = stack.enter_context(path.open("rb")) if path.is_file() and not path.is_symlink() else io.BytesIO()
        for _, _, draw in placed_draws(folder / DRAWS, grid, end=draws.body):
            if draw.kept_sha256 is None:
                yield draw, Completion(reason=draw.row.columns.reach_reason), 0
                continue
            line = texts.readline(MAX_TEXT).removesuffix(b"\n")
            if hashlib.sha256(line).hexdigest() != draw.kept_sha256:
                raise _other_text(path, draw)
            try:
                reply = kept_reply(draw, json.loads(line))
            except (ValueError, RecursionError, AttributeError) as error:
                raise _other_text(path, draw) from error
            yield draw, reply, len(line)


def _other_text(path: Path, draw: Draw) -> UnregisteredError:
    return UnregisteredError(
        f"{path} does not hold the text that was drawn as draw {draw.row.index}: it was changed or is missing after the drawing.",
        code="texts_differ",
    )


class _Sitting:
    """Judges ahead, writes in order."""

    def __init__(
        self, prepared: Prepared, maker: RowMaker, judge: Judge, journal: Journal, progress: Callable[[int], None]
    ) -> None:
        self._items = prepared.exam.items
        self._grid = grid_of(prepared)
        self._maker = maker
        self._judge = judge
        self._journal = journal
        self._progress = progress
        self._pending: deque[tuple[Draw, Awaitable[Judged], int]] = deque()
        self._held = 0

    async def drive(self, replies: Iterator[tuple[Draw, Completion, int]]) -> None:
        """Every text is compared with its digest, those of rows that stand already too."""
        done = self._journal.written
        for number, (draw, reply, size) in enumerate(replies):
            if number < done:
                continue
            item = self._items[self._grid.at(draw.row.index).item]
            self._pending.append((draw, self._judge(item, reply), size))
            self._held += size
            while len(self._pending) >= AT_ONCE or self._held > ROOM:
                await self._write()
        while self._pending:
            await self._write()

    async def _write(self) -> None:
        draw, judging, size = self._pending.popleft()
        row = self._maker.judged(draw, await judging)
        self._journal.add(row_to_json(row))
        self._held -= size
        self._progress(self._journal.written)
