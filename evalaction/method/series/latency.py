"""The 95th percentile of the wall times with an interval whose unit is the item (Woodruff 1952).

The interval of the share 0.95 over the items is turned into times: the quantiles at its two ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.series.intervals import wilson

SHARE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds; None: so many draws never arrived that it is for ever."""

    low: int | None
    p95: int | None
    high: int | None

    def __post_init__(self) -> None:
        ends = [math.inf if one is None else one for one in (self.low, self.p95, self.high)]
        if ends != sorted(ends) or ends[0] < 0:
            raise ValueError(f"not an interval of times: {self.low}, {self.p95}, {self.high}")


def latency(times: Mapping[int, int], lost: int, items: int) -> Latency:
    """`times` counts the draws that arrived by their wall time in ms, `lost` those that never did."""
    interval = wilson(SHARE, items)
    if interval is None:
        return Latency(None, None, None)
    total = sum(times.values()) + lost
    return Latency(*(_quantile(times, total, share) for share in (interval.low, SHARE, interval.high)))


def _quantile(times: Mapping[int, int], total: int, share: Fraction | float) -> int | None:
    """Nearest rank."""
    rank, seen = math.ceil(total * share), 0
    for ms in sorted(times):
        seen += times[ms]
        if seen >= rank:
            return ms
    return None
