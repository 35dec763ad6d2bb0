"""Runs that one job draws and another judges: what of them may be scored, and that judging added nothing but its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import NoReturn

from evalaction.engine.folder import DRAWS, ROWS
from evalaction.engine.grid import Grid
from evalaction.engine.journal import line_of
from evalaction.engine.readback import Seal, Tail, tail_of
from evalaction.engine.reading import placed_draws, placed_lines
from evalaction.errors import InconclusiveError, UnregisteredError, UsageError
from evalaction.method.counting.draw_json import Draw, difference
from evalaction.method.counting.row_json import row_to_json
from evalaction.method.records import Row


def sealed_draws(folder: Path) -> tuple[Tail, Seal]:
    """How the draws end. Raises InconclusiveError (`partial_grid`) where they were not finished; else as `tail_of` does."""
    tail = tail_of(folder, DRAWS) if (folder / DRAWS).exists() else Tail(body=0, seal=None, torn=0)
    if tail.seal is None:
        raise InconclusiveError(
            f"The draws in {folder} are not finished, so nothing is judged; finish them with `run --draw-only --resume`.",
            code="partial_grid",
        )
    return tail, tail.seal


def sealed_rows(folder: Path) -> Tail:
    """How the rows end that were judged of the draws.

    Raises UsageError (`not_judged`) where they are missing or unfinished, UnregisteredError (`draws_differ`) where they count
    otherwise than the draws; else as `sealed_draws` does.
    """
    _, drawn = sealed_draws(folder)
    tail = tail_of(folder) if (folder / ROWS).exists() else Tail(body=0, seal=None, torn=0)
    if tail.seal is None:
        raise UsageError(
            f"The run in {folder} is drawn and not judged yet; judge it in a checkout of its commit with `evalaction judge`, or "
            "in a workflow with `mode: judge`.",
            code="not_judged",
        )
    if replace(tail.seal, sha256=drawn.sha256) != drawn:
        _differ("the seal of the rows counts otherwise than that of the draws")
    return tail


def judged_rows(folder: Path, grid: Grid, rows: Tail) -> Iterator[tuple[int, Row]]:
    """Offset and row of each row of a judged run, line by line beside its draw.

    Raises UnregisteredError (`draws_differ`) at the first row that is not, to the byte, what judging can write of its draw.
    """
    draws, _ = sealed_draws(folder)
    of_rows = placed_lines(folder / ROWS, grid, end=rows.body)
    of_draws = placed_draws(folder / DRAWS, grid, end=draws.body)
    for number, pair in enumerate(zip_longest(of_rows, of_draws), start=1):
        if None in pair:
            _differ(f"one of them ends at line {number:,}")
        (offset, line, row), (_, _, draw) = pair
        refuse_other_draw(number, line, row, draw)
        yield offset, row


def refuse_other_draw(number: int, line: bytes, row: Row, draw: Draw) -> None:
    """Raises UnregisteredError (`draws_differ`)."""
    name = difference(draw, row)
    if name is None and line_of(row_to_json(row)) != line + b"\n":
        name = "form"
    if name:
        _differ(f"line {number:,} has another {name}")


def _differ(where: str) -> NoReturn:
    raise UnregisteredError(
        f"The rows differ from the draws in more than what judging adds: {where}. Nothing of them counts; judge the draws again.",
        code="draws_differ",
    )
