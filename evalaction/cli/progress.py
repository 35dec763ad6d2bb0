"""Progress of a run: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from evalaction.cli.world import World
from evalaction.method.report import Counts

LOG_EVERY_S = 15.0


class Progress(Protocol):
    def __call__(self, counts: Counts, /) -> None: ...


@contextmanager
def progress(world: World, *, quiet: bool, planned: int) -> Iterator[Progress]:
    """A function that is told the counts whenever finished draws were written."""
    if quiet:
        yield lambda _counts: None
    elif world.err.isatty():
        yield from _bar(world, planned)
    else:
        yield _log(world)


def _bar(world: World, planned: int) -> Iterator[Progress]:
    from tqdm import tqdm

    with tqdm(total=planned, unit=" draws", file=world.err, mininterval=0.2, dynamic_ncols=True, leave=False) as bar:

        def show(counts: Counts) -> None:
            bar.update(counts.written - bar.n)

        yield show


def _log(world: World) -> Progress:
    start = last = time.monotonic()

    def show(counts: Counts) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LOG_EVERY_S or counts.written == counts.planned:
            last = now
            world.warn(f"{counts.written:,} of {counts.planned:,} draws written, {counts.sent:,} sent, {now - start:.0f} s")

    return show
