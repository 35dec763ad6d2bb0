"""Intervals whose unit is the item. Draws of one item are not independent, so K draws never count as K observations.

Wilson (1927), two-sided 95 %. Floats here are shown and decide nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.numbers import Bounded, Rate

Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two shares between 0 and 1."""

    low: float
    high: float


def wilson(share: Fraction, items: int) -> Interval | None:
    """The interval around a share of `items` items; None without any.

    The share may be a mean of shares within the items (reach, pass^k): their variance is at most that of 0 and 1 with the same
    mean, so the interval is then wider than need be, never narrower.
    """
    if not items:
        return None
    center = float(share) + Z * Z / (2 * items)
    spread = Z * math.sqrt(float(share * (1 - share)) / items + Z * Z / (4 * items * items))
    scale = 1 + Z * Z / items
    low, high = (center - spread) / scale, (center + spread) / scale
    return Interval(0.0 if not share else max(low, 0.0), 1.0 if share == 1 else min(high, 1.0))


def of_items(count: Bounded | None) -> Interval | None:
    """From the lower end at the least that the items may be to the upper end at the most; None where nothing was counted."""
    if count is None or not count.total:
        return None
    low, high = (wilson(Fraction(end, count.total), count.total) for end in (count.low, count.high))
    return Interval(low.low, high.high) if low and high else None


def of_draws(rate: Rate, items: int) -> Interval | None:
    """A rate over draws, as if all draws of an item were one."""
    return None if rate.value is None else wilson(rate.value, items)
