"""The bound behind `claim: not_behind`: how far behind the treatment may be, over all items.

Two pseudo-items are added, one lost and one gained, so that the bound never degenerates. For 0/1 scores this is the interval of
Bonett and Price (2012) for paired proportions, one-sided 95 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.card import Metric
from evalaction.method.counting.tally import CHECKER_ERROR, PASS, UNREACHED, Tally
from evalaction.method.numbers import Threshold
from evalaction.method.report import MarginBound

Z = Fraction("1.6448536")  # 95 % quantile of the normal distribution
Z_FOUR_IN_FIVE = Fraction("0.8416212")  # its 80 % quantile


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Treatment − control over `items` items and the two pseudo-items; exact."""

    items: int
    mean: Fraction
    variance: Fraction

    @property
    def lower(self) -> float:
        return float(self.mean) - float(Z) * math.sqrt(self.variance / (self.items + 2))

    def within(self, margin: Fraction) -> bool:
        """Whether the lower bound is at least −margin, without a float: slack ≥ z·sqrt(v / (N + 2))."""
        slack = self.mean + margin
        return slack >= 0 and slack * slack * (self.items + 2) >= Z * Z * self.variance

    def missed(self, margin: Fraction) -> float:
        """The loss under which the bound holds with probability 1/5: the mean is then normal around −loss with this spread.

        loss + z₀.₉₅ · s − margin = z₀.₈ · s, with s = sqrt(v / (N + 2)); at least 0.
        """
        spread = math.sqrt(self.variance / (self.items + 2))
        return max(0.0, float(margin) - float(Z - Z_FOUR_IN_FIVE) * spread)

    def enough_items(self, margin: Fraction) -> int | None:
        """The least N at which the bound would hold with the same mean and variance; None: no number would."""
        slack = self.mean + margin
        if slack <= 0:
            return None
        return max(1, math.ceil(Z * Z * self.variance / (slack * slack)) - 2)


def difference(tally: Tally, metric: Metric) -> Difference:
    """d of each item = treatment score − control score; a draw without a verdict fails the treatment and passes the control."""
    unit = tally.draws if metric == "mean" else 1
    total = squares = 0
    treatment, control = tally.sides["treatment"], tally.sides["control"]
    for item in range(len(tally.ids)):
        ours = _score(treatment.strip(item), metric, lost=0)
        theirs = _score(control.strip(item), metric, lost=1)
        total += ours - theirs
        squares += (ours - theirs) ** 2
    items = len(tally.ids)
    mean = Fraction(total, unit * (items + 2))
    return Difference(items=items, mean=mean, variance=(Fraction(squares, unit * unit) + 2) / (items + 2) - mean * mean)


def _score(strip: bytes, metric: Metric, *, lost: int) -> int:
    read = strip[:1] if metric == "first" else strip
    passes = read.count(PASS) + lost * (read.count(UNREACHED) + read.count(CHECKER_ERROR))
    return passes if metric == "mean" else int(passes == len(read))


def margin_bound(found: Difference, margin: Threshold) -> MarginBound:
    return MarginBound(
        lower=found.lower,
        mean=float(found.mean),
        variance=float(found.variance),
        items=found.items,
        margin=margin.text,
        enough_items=found.enough_items(margin.value),
        missed=found.missed(margin.value) if found.within(margin.value) else None,
    )
