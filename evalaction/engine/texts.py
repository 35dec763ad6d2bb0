"""`texts.jsonl` read for a page: where each text lies is noted first, and only those that are shown are parsed."""

from __future__ import annotations

import json
import re
from array import array
from pathlib import Path
from typing import IO

from evalaction.engine.spool import Spool
from evalaction.method.records import ArmName
from evalaction.report.cells import Cells

_LINE = re.compile(rb'\{"index":(\d{1,15}),')
_LONGEST = 16 << 20
"""Bytes of a line; a text that is longer than any reply may be is no text of ours."""


class Texts:
    """The texts of a run by arm and place. What cannot be read is not there: a page never fails for want of a text.

    `places` is the planned index of each draw to its place among all arms (one too high, 0: no such draw); `heads` holds, by
    planned index, the beginnings that the rows themselves carry.
    """

    def __init__(self, path: Path, cells: Cells, places: array[int], heads: Spool) -> None:
        self._cells = cells
        self._heads = heads
        self._size = len(cells.ids) * cells.draws
        self._planned = array("Q", [0]) * len(cells)
        for index, place in enumerate(places):
            if place:
                self._planned[place - 1] = index
        self._offsets = array("Q", [0]) * len(cells)
        self._lengths = array("Q", [0]) * len(cells)
        self._file: IO[bytes] | None = path.open("rb") if path.is_file() and not path.is_symlink() else None
        if self._file:
            self._note(self._file, places)

    def close(self) -> None:
        if self._file:
            self._file.close()

    def size(self, arm: ArmName, cell: int, /) -> int:
        place = self._place(arm, cell)
        return self._lengths[place] or self._heads.length(self._planned[place])

    def text(self, arm: ArmName, cell: int, /) -> str | None:
        place = self._place(arm, cell)
        if not self._lengths[place] or self._file is None:
            return self._heads.get(self._planned[place]).decode("utf-8", "surrogatepass") or None
        self._file.seek(self._offsets[place])
        try:
            held = json.loads(self._file.read(self._lengths[place]))
        except (ValueError, RecursionError):
            return None
        draw = (self._cells.ids[cell // self._cells.draws], arm, cell % self._cells.draws)
        said = (held.get("item"), held.get("arm"), held.get("draw")) if isinstance(held, dict) else ()
        text = held.get("text") if said == draw else None
        return text if isinstance(text, str) else None

    def _place(self, arm: ArmName, cell: int) -> int:
        return self._cells.arms.index(arm) * self._size + cell

    def _note(self, file: IO[bytes], places: array[int]) -> None:
        """Where the lines of the draws lie; of two for one draw the later one belongs to its row."""
        offset = 0
        while line := file.readline(_LONGEST):
            found = _LINE.match(line)
            index = int(found[1]) if found else len(places)
            if line.endswith(b"\n") and index < len(places) and (place := places[index]):
                self._offsets[place - 1] = offset
                self._lengths[place - 1] = len(line)
            offset += len(line)
