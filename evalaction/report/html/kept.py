"""Which texts of the replies go into the page: a page of every size opens at once, so their total has a limit.

Whole texts first, those of draws that did not pass and of items that moved before all others; then beginnings; then none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from evalaction.method.records import ArmName
from evalaction.report.cells import MISSING, Cells

BUDGET = 6 << 20
"""Bytes of text in one page."""
HEAD = 240
"""Characters of a text that is not kept whole."""
_FOR_HEADS = 4  # a quarter of the budget is left for beginnings
_HEAD_BYTES = 2 * HEAD


class Source(Protocol):
    """The kept texts of a run, by arm and place within the arm."""

    def size(self, arm: ArmName, cell: int, /) -> int:
        """About how many bytes; 0: none is kept."""
        ...

    def text(self, arm: ArmName, cell: int, /) -> str | None:
        """None where it cannot be read after all."""
        ...


class NoTexts:
    """Of a run that kept none."""

    def size(self, _arm: ArmName, _cell: int, /) -> int:
        return 0

    def text(self, _arm: ArmName, _cell: int, /) -> str | None:
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What is shown of the texts, in the order in which it is written."""

    whole: tuple[tuple[ArmName, int], ...]
    heads: tuple[tuple[ArmName, int], ...]
    left_out: int


def choose(cells: Cells, source: Source, moved: Mapping[str, set[str]], *, budget: int = BUDGET) -> Kept:
    """`moved` names the items whose texts come first."""
    for_heads = budget // _FOR_HEADS
    for_whole = budget - for_heads
    whole: list[tuple[ArmName, int]] = []
    heads: list[tuple[ArmName, int]] = []
    left_out = 0
    for arm, cell in _worst_first(cells, moved):
        size = source.size(arm, cell)
        if not size:
            continue
        if size <= for_whole:
            for_whole -= size
            whole.append((arm, cell))
        elif for_heads >= _HEAD_BYTES:
            for_heads -= min(size, _HEAD_BYTES)
            heads.append((arm, cell))
        else:
            left_out += 1
    return Kept(whole=tuple(whole), heads=tuple(heads), left_out=left_out)


def _worst_first(cells: Cells, moved: Mapping[str, set[str]]) -> Iterator[tuple[ArmName, int]]:
    for quiet in (False, True):
        for item, name in enumerate(cells.ids):
            for arm in cells.arms:
                strip = cells.strip(arm, item)
                for draw, letter in enumerate(strip):
                    if letter != MISSING and (letter == "p" and name not in moved) == quiet:
                        yield arm, item * cells.draws + draw
