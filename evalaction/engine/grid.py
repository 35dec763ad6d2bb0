"""The planned order: every item × arm × draw index exactly once, fixed by the seed before the first call."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalaction.method.records import ArmName


@dataclass(frozen=True, slots=True)
class Planned:
    """One draw of the plan; `index` is its place in the planned order, `item` the 0-based position in the exam."""

    index: int
    item: int
    arm: ArmName
    draw: int


class Grid:
    """Draw index outermost, then the items in a seed-fixed shuffle, then the arms back to back, so that an outage hits both.

    Memory grows with the items, never with the draws: places are computed.
    """

    def __init__(self, ids: Sequence[str], *, arms: Sequence[ArmName], draws: int, seed: str) -> None:
        if not ids or not arms or draws < 1 or len(set(ids)) != len(ids):
            raise ValueError("a grid needs unique items, arms and draws")
        self.ids = tuple(ids)
        self.arms = tuple(arms)
        self.draws = draws
        self.seed = seed
        self.per_draw = len(self.ids) * len(self.arms)
        """Planned draws of one draw index: items × arms."""
        self.order = tuple(sorted(range(len(ids)), key=lambda item: (_hash("order", seed, ids[item]), item)))

    def __len__(self) -> int:
        return self.per_draw * self.draws

    def __iter__(self) -> Iterator[Planned]:
        return map(self.at, range(len(self)))

    def at(self, index: int) -> Planned:
        """The draw planned at `index`. Raises IndexError outside the grid."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        draw, rest = divmod(index, self.per_draw)
        place, turn = divmod(rest, len(self.arms))
        item = self.order[place]
        return Planned(index, item, self.arms[(turn + self._lead(item, draw)) % len(self.arms)], draw)

    def _lead(self, item: int, draw: int) -> int:
        """Which arm is asked first: by hash parity, independent of the item's half."""
        return _hash("first", self.seed, str(draw), self.ids[item])[-1] % 2 if len(self.arms) == 2 else 0


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).digest()
