"""Rows of a journal as records, each checked against its place in the planned order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from evalaction.engine.folder import DRAWS
from evalaction.engine.grid import Grid
from evalaction.engine.readback import lines_of, refuse_inner_seal
from evalaction.errors import SourceError
from evalaction.method.counting.draw_json import Draw, draw_from_json
from evalaction.method.counting.row_json import row_from_json
from evalaction.method.counting.tally import GridError
from evalaction.method.records import Row

T = TypeVar("T")
_DECODER: Final = json.JSONDecoder()


def rows_of(path: Path, grid: Grid, *, end: int) -> Iterator[Row]:
    """Every row of the first `end` bytes of a journal; of `draws.jsonl` the rows as they stand before they are judged.

    Raises SourceError for a line that is no row, GridError for one that the grid has no place for or that is there twice,
    UnregisteredError when a seal is not the last line.
    """
    return (row for _, row in placed_rows(path, grid, end=end))


def placed_rows(path: Path, grid: Grid, *, end: int) -> Iterator[tuple[int, Row]]:
    """The same with the byte offset of each row's line."""
    if path.name == DRAWS:
        return ((offset, draw.row) for offset, _, draw in placed_draws(path, grid, end=end))
    return ((offset, row) for offset, _, row in placed_lines(path, grid, end=end))


def placed_lines(path: Path, grid: Grid, *, end: int) -> Iterator[tuple[int, bytes, Row]]:
    """Offset, line and row."""
    return _placed(path, grid, end, read_row, lambda row: row)


def placed_draws(path: Path, grid: Grid, *, end: int) -> Iterator[tuple[int, bytes, Draw]]:
    """The same of `draws.jsonl`."""
    return _placed(path, grid, end, read_draw, lambda draw: draw.row)


def _placed(
    path: Path, grid: Grid, end: int, read: Callable[[bytes], T], row_of: Callable[[T], Row]
) -> Iterator[tuple[int, bytes, T]]:
    seen = bytearray(len(grid))
    for number, (offset, line) in enumerate(lines_of(path, end=end), start=1):
        refuse_inner_seal(line, path)
        try:
            found = read(line)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            what = "draw" if path.name == DRAWS else "row"
            raise SourceError(f"This line is not a {what} of this tool: {error}.", file=str(path), line=number) from error
        _place(row_of(found), grid, seen)
        yield offset, line, found


def _place(row: Row, grid: Grid, seen: bytearray) -> None:
    if not 0 <= row.index < len(grid):
        raise GridError(f"row {row.index} is outside the grid of {len(grid)} draws", code="unknown_draw")
    planned = grid.at(row.index)
    if (row.item, row.arm, row.draw) != (grid.ids[planned.item], planned.arm, planned.draw):
        raise GridError(f"row {row.index} is not the draw that was planned there", code="wrong_index")
    if seen[row.index]:
        raise GridError(f"draw {row.index} is there twice; a draw is never replaced", code="duplicate_draw")
    seen[row.index] = 1


def read_row(line: bytes) -> Row:
    """The row of one line. Raises ValueError, TypeError, KeyError or RecursionError for anything else."""
    return row_from_json(_value(line))


def read_draw(line: bytes) -> Draw:
    """The same of `draws.jsonl`."""
    return draw_from_json(_value(line))


def _value(line: bytes) -> object:
    return _DECODER.decode(line.decode("utf-8", "surrogatepass"))  # json.loads would guess the encoding of every line anew
