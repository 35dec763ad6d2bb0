"""The counters of an arm, draw by draw, and their spread: what a runner tells of hops and retries behind one answer."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

_MISSING = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Of the draws that have a counter; `missing` counts the others, unreached ones among them."""

    draws: int
    missing: int
    low: int | None
    median: Fraction | None
    """The mean of the two in the middle where their number is even; None without a draw that has the counter."""
    high: int | None


class Counters:
    """The values of the named counters in a grid of `cells` draws. What a row holds beside them is not kept."""

    def __init__(self, names: Iterable[str], cells: int) -> None:
        self._values = {name: array("q", [_MISSING]) * cells for name in names}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def add(self, cell: int, told: Mapping[str, int]) -> None:
        for name, values in self._values.items():
            values[cell] = told.get(name, _MISSING)

    def told(self, name: str, cells: Iterable[int]) -> list[int]:
        """The values in these cells that are there, smallest first. A counter that was not named is missing everywhere."""
        values = self._values.get(name)
        return sorted(value for cell in cells if values is not None and (value := values[cell]) != _MISSING)

    def spread(self, name: str, cells: Sequence[int]) -> Spread:
        found = self.told(name, cells)
        middle = len(found) // 2
        return Spread(
            draws=len(found),
            missing=len(cells) - len(found),
            low=found[0] if found else None,
            median=Fraction(found[middle] + found[~middle], 2) if found else None,
            high=found[-1] if found else None,
        )
