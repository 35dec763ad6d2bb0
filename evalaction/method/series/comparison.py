"""Two runs of one question, item by item: what was lost and gained since. Measured, never judged.

The runs were drawn at different times, so what moved between them may be the day and not the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from evalaction.errors import UsageError
from evalaction.method.counting.paired import discordant, moved_column, pairs
from evalaction.method.counting.rates import rates_of
from evalaction.method.counting.tally import CHECKER_ERROR, PASS, UNREACHED, ArmTally, Tally
from evalaction.method.records import ArmName
from evalaction.method.report import ColumnName, Pair
from evalaction.method.series.entry import Comparable
from evalaction.method.series.evidence import mcnemar, mid_p, pass_hat_k
from evalaction.method.series.intervals import Interval, of_draws, of_items, wilson
from evalaction.method.series.trend import Measured
from evalaction.method.telling.words import listed


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """One run's share of a comparison."""

    first: Measured
    stable: Measured
    flip: Measured | None
    reach: Measured


@dataclass(frozen=True, slots=True)
class PassHatK:
    """Mean of pass^k over all items; `low` counts a draw without a verdict as a fail, `high` as a pass."""

    low: Fraction
    high: Fraction
    interval: Interval


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One arm of both runs. `then` is the first that was named, `now` the second."""

    arm: ArmName
    items: int
    then: Rates
    now: Rates
    pairs: tuple[Pair, ...]
    """`control` is then, `treatment` now; empty where K differs."""
    discordant: Mapping[ColumnName, tuple[int, int]]
    moved: ColumnName | None
    lost: int
    """By draw 0, like `gained`."""
    gained: int
    exact_p: Fraction
    """McNemar, two-sided."""
    mid_p: Fraction


@dataclass(frozen=True, kw_only=True, slots=True)
class AcrossK:
    """One arm of two runs whose K differs: nothing else of them compares."""

    arm: ArmName
    items: int
    draws: tuple[int, int]
    k: int
    """The smaller K."""
    then: PassHatK
    now: PassHatK


def refuse_incomparable(then: Comparable, now: Comparable) -> None:
    """Raise UsageError (`not_comparable`) naming what differs, K apart."""
    differ = [name for name in then.differences(now) if name != "draws.count"]
    if differ:
        verb = "differs" if len(differ) == 1 else "differ"
        raise UsageError(
            f"These runs cannot be compared: {listed(differ)} {verb}. Compare runs of one exam, asked in the same way.",
            code="not_comparable",
        )


def compare(then: Tally, now: Tally, arm: ArmName) -> Compared | AcrossK:
    """Pair the items of two complete grids over the same ids in the same order. Raises ValueError for other grids."""
    if then.ids != now.ids or not (then.complete and now.complete):
        raise ValueError("two complete grids over the same items can be compared")
    theirs, ours = then.sides[arm], now.sides[arm]
    if then.draws != now.draws:
        return _across(arm, theirs, ours)
    both = Tally(now.ids, {}, ("treatment", "control"), now.draws, "")
    both.sides = {"treatment": ours, "control": theirs}
    found, moved = pairs(both), discordant(both)
    lost, gained = (sum(pair.kind == kind for pair in found) for kind in ("lost", "gained"))
    return Compared(
        arm=arm,
        items=len(now.ids),
        then=_rates(theirs),
        now=_rates(ours),
        pairs=found,
        discordant=moved,
        moved=moved_column(moved),
        lost=lost,
        gained=gained,
        exact_p=mcnemar(lost, gained),
        mid_p=mid_p(lost, gained),
    )


def _rates(side: ArmTally) -> Rates:
    columns, draws = rates_of(side, range(side.items))
    return Rates(
        first=Measured(draws.first, of_items(draws.first)),
        stable=Measured(draws.stable, of_items(draws.stable)),
        flip=Measured(draws.flip, of_items(draws.flip)) if draws.flip else None,
        reach=Measured(columns.reach, of_draws(columns.reach, side.items)),
    )


def _across(arm: ArmName, theirs: ArmTally, ours: ArmTally) -> AcrossK:
    k = min(theirs.draws, ours.draws)
    return AcrossK(
        arm=arm, items=ours.items, draws=(theirs.draws, ours.draws), k=k, then=_pass_hat(theirs, k), now=_pass_hat(ours, k)
    )


def _pass_hat(side: ArmTally, k: int) -> PassHatK:
    low = high = Fraction(0)
    for item in range(side.items):
        strip = side.strip(item)
        passed, lost = strip.count(PASS), strip.count(UNREACHED) + strip.count(CHECKER_ERROR)
        low += pass_hat_k(side.draws, passed, k)
        high += pass_hat_k(side.draws, passed + lost, k)
    low, high = low / side.items, high / side.items
    least, most = wilson(low, side.items), wilson(high, side.items)
    assert least is not None and most is not None  # a grid has items
    return PassHatK(low, high, Interval(least.low, most.high))
