"""One sitting of a run from the empty folder, or from an unsealed one, to its seal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from evalaction.engine.folder import REQUESTS, clear, create, locked, write_whole
from evalaction.engine.interruption import interruptible
from evalaction.engine.journal import Journal
from evalaction.engine.manifest import Manifest, read_manifest, write_manifest
from evalaction.engine.pace import Clock
from evalaction.engine.pause import Pause, read_pause, remove_pause, write_pause
from evalaction.engine.readback import tail_of
from evalaction.engine.resume import refuse_changed, repair
from evalaction.engine.run import Drawn, Job, run_draws
from evalaction.errors import UsageError
from evalaction.method.report import Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class Sitting:
    """A run folder and what is to be drawn into it."""

    folder: Path
    manifest: Manifest
    job: Job
    resume: bool = False
    requests: Iterable[bytes] = ()
    """Lines of `requests.jsonl`; without any there is no such file."""
    confirm: Callable[[], None] | None = None
    """Asked before the seal whether what was frozen still stands; raises where it does not."""


async def conduct(sitting: Sitting, *, clock: Clock, progress: Callable[[Counts], None]) -> Drawn:
    """Draw and seal; a rehearsal, and a run that a deadline or a signal ended, stays unsealed and can be resumed.

    Raises UsageError (folder in use, second writer, full disk) and UnregisteredError (a resumed run whose inputs differ).
    """
    folder = sitting.folder
    if not sitting.resume:
        create(folder)
    with locked(folder):
        if sitting.resume:
            held = read_manifest(folder)
            refuse_changed(held, sitting.manifest)
            name = held.journal
            if (folder / name).exists() and (seal := tail_of(folder, name).seal):
                counts = Counts(planned=seal.planned, sent=seal.sent, written=seal.written)
                return Drawn(ended=seal.ended, counts=counts, added=0, too_long_ms=0)
            done = repair(folder, sitting.job.grid, name) if (folder / name).exists() else []
            before = read_pause(folder)
            sent = max(len(done), before.sent if before else 0)
            sitting = replace(sitting, job=replace(sitting.job, done=done, sent_before=sent))
            return await _draw(sitting, before.ms if before else 0, clock, progress)
        clear(folder)
        write_manifest(folder, sitting.manifest)
        _write_requests(folder, sitting.requests)
        return await _draw(sitting, 0, clock, progress)


def leave_refusal(folder: Path, manifest: Manifest, requests: Iterable[bytes] = ()) -> None:
    """Write the manifest of a run that was refused before its first call; `derive` adds the rest. Raises UsageError."""
    create(folder)
    with locked(folder):
        clear(folder)
        write_manifest(folder, manifest)
        _write_requests(folder, requests)


def _write_requests(folder: Path, lines: Iterable[bytes]) -> None:
    """Nothing at all where there are none."""
    rest = iter(lines)
    first = next(rest, None)
    if first is not None:
        write_whole(folder / REQUESTS, chain((first,), rest))


async def _draw(sitting: Sitting, ms_before: int, clock: Clock, progress: Callable[[Counts], None]) -> Drawn:
    folder, job, rehearsal = sitting.folder, sitting.job, sitting.manifest.rehearsal
    start = clock.now()

    def spent() -> int:
        return ms_before + round((clock.now() - start) * 1000)

    name = sitting.manifest.journal
    with Journal(folder, written=len(job.done), name=name) as journal, interruptible() as interruption:
        try:
            drawn = await run_draws(job, journal, clock=clock, interruption=interruption, progress=progress)
            if drawn.ended in {"complete", "unreachable"}:
                if sitting.confirm is not None:
                    sitting.confirm()
                counts = drawn.counts
                if not rehearsal:
                    journal.seal(planned=counts.planned, sent=counts.sent, ended=drawn.ended, ms=spent())
                remove_pause(folder)
            else:
                journal.sync()
                write_pause(folder, Pause(ended=drawn.ended, sent=drawn.counts.sent, ms=spent()))
        except UsageError as error:
            if error.code == "disk":
                write_pause(folder, Pause(ended="disk", sent=journal.written, ms=spent()), strict=False)
            raise
    return drawn
