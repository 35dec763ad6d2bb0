"""How often the split-half rule earns a sign for two identical arms: the price of a low bar, printed beside every earned sign.

Model: item i passes one draw with probability p_i, the same in both arms; p_i has a beta distribution with mean p and variance
ρ·p(1−p), so that ρ is the correlation between the arms' single draws on an item. Halves are independent. With D the difference
of passes in a half and t the least lead that counts, P = P(D₀ ≥ t₀)·P(D₁ ≥ t₁) + P(D₀ ≤ −t₀)·P(D₁ ≤ −t₁), and D is symmetric.
D is a sum of independent items and is convolved exactly (Skellam's beta-binomial for one arm, 1948); where so many items differ
that this costs too much, the normal approximation with continuity correction is used, which is then within 0.001.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from evalaction.method.card import Metric, Sign
from evalaction.method.counting.tally import CHECKER_ERROR, PASS, UNREACHED, ArmTally, Tally
from evalaction.method.report import FalseAlarm

TINY = 1e-13
"""Mass at either end of a distribution that is dropped in each convolution."""
MANY = 40.0
"""Expected differing units in a half from which on the normal approximation is used."""


def false_alarm_of(tally: Tally, sign: Sign) -> FalseAlarm:
    """The rate at the size of a run and at the pass rate and correlation that its draws show."""
    pass_rate, shared = likeness(tally)
    halves = (len(tally.half(0)), len(tally.half(1)))
    rate = false_alarm(halves, sign, tally.draws, pass_rate=pass_rate, shared=shared)
    return FalseAlarm(rate=rate, pass_rate=pass_rate, shared=shared)


def likeness(tally: Tally) -> tuple[float, float]:
    """(p, ρ) by moments over the items that have a verdict in both arms: p is the mean of all draws, ρ = cov / p(1−p).

    The covariance is that of the two arms' item means, each about its own arm's mean, so that a shift of one arm does not count
    as noise. Without such an item: (0, 0).
    """
    sides = zip(_means(tally.sides["treatment"]), _means(tally.sides["control"]), strict=True)
    pairs = [(ours, theirs) for ours, theirs in sides if ours is not None and theirs is not None]
    if not pairs:
        return 0.0, 0.0
    ours, theirs = (sum(side, Fraction(0)) / len(pairs) for side in zip(*pairs, strict=True))
    covariance = sum((a * b for a, b in pairs), Fraction(0)) / len(pairs) - ours * theirs
    p = (ours + theirs) / 2
    if not 0 < p < 1:
        return float(p), 0.0
    return float(p), float(min(max(covariance / (p * (1 - p)), Fraction(0)), Fraction(1)))


def _means(side: ArmTally) -> Iterator[Fraction | None]:
    for strip in side.strips(range(side.items)):
        scored = len(strip) - strip.count(UNREACHED) - strip.count(CHECKER_ERROR)
        yield Fraction(strip.count(PASS), scored) if scored else None


def false_alarm(halves: tuple[int, int], sign: Sign, draws: int, *, pass_rate: float, shared: float) -> float:
    """P(earned, either way) for two identical arms over halves of these sizes. `strict` can only make it smaller.

    `pass_rate` is that of one draw, `shared` is ρ, both in 0…1.
    """
    unit = unit_difference(sign.metric, draws, pass_rate, shared)
    tails = []
    for items in halves:
        lead = least_lead(items, sign, draws)
        tails.append(upper_tail(unit, items, lead))
    return min(2 * tails[0] * tails[1], 1.0)


def least_lead(items: int, sign: Sign, draws: int) -> int:
    """The least difference of passes in a half that is a lead: of draws under `mean`, of items otherwise."""
    each = draws if sign.metric == "mean" else 1
    floor = math.ceil(sign.min_abs_gap.value * items * each)
    return max(floor, sign.min_item_gap * each, 1)


def unit_difference(metric: Metric, draws: int, pass_rate: float, shared: float) -> list[float]:
    """Distribution of one item's difference of passes between two identical arms; index 0 is the most negative one."""
    if metric == "first":
        return _convolved_pair(1, pass_rate, shared)
    if metric == "mean":
        return _convolved_pair(draws, pass_rate, shared)
    once, twice = _moment(draws, 0, pass_rate, shared), _moment(2 * draws, 0, pass_rate, shared)
    return [once - twice, 1 - 2 * (once - twice), once - twice]


def _convolved_pair(draws: int, p: float, shared: float) -> list[float]:
    """P(A − B = d) for two beta-binomial counts that share their probability, d from −draws to draws."""
    found = [0.0] * (2 * draws + 1)
    ways = [math.comb(draws, passes) for passes in range(draws + 1)]
    moments = [_moment(passes, 2 * draws - passes, p, shared) for passes in range(2 * draws + 1)]
    for ours in range(draws + 1):
        for theirs in range(draws + 1):
            found[draws + ours - theirs] += ways[ours] * ways[theirs] * moments[ours + theirs]
    return found


def _moment(passes: int, fails: int, p: float, shared: float) -> float:
    """E[p_i^passes (1 − p_i)^fails] under the beta distribution; the limits are ρ = 0 (one p for all) and ρ = 1 (0 or 1)."""
    if shared > 1 - TINY:
        return (p if not fails else 0.0) + (1 - p if not passes else 0.0)
    if shared < TINY:
        return float(p**passes * (1 - p) ** fails)
    total = 1 / shared - 1
    value = 1.0
    for step in range(passes):
        value *= (p * total + step) / (total + step)
    for step in range(fails):
        value *= ((1 - p) * total + step) / (total + passes + step)
    return value


def upper_tail(unit: Sequence[float], items: int, lead: int) -> float:
    """P(sum of `items` independent differences ≥ lead)."""
    middle = len(unit) // 2
    variance = sum(mass * (index - middle) ** 2 for index, mass in enumerate(unit))
    if items * (1 - unit[middle]) > MANY:
        return _normal_tail((lead - 0.5) / math.sqrt(items * variance))
    low, masses = _power([*unit], -middle, items)
    return min(math.fsum(mass for index, mass in enumerate(masses) if low + index >= lead), 1.0)


def _normal_tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def _power(unit: list[float], low: int, times: int) -> tuple[int, list[float]]:
    """The distribution of a sum of `times` independent differences by repeated squaring: (least value, masses)."""
    result: tuple[int, list[float]] = (0, [1.0])
    square = (low, unit)
    while times:
        if times % 2:
            result = _trimmed(result[0] + square[0], _convolve(result[1], square[1]))
        times //= 2
        if times:
            square = _trimmed(2 * square[0], _convolve(square[1], square[1]))
    return result


def _convolve(one: Sequence[float], other: Sequence[float]) -> list[float]:
    found = [0.0] * (len(one) + len(other) - 1)
    for start, mass in enumerate(one):
        if mass:
            for offset, weight in enumerate(other):
                found[start + offset] += mass * weight
    return found


def _trimmed(low: int, masses: list[float]) -> tuple[int, list[float]]:
    first, last = 0, len(masses)
    while masses[first] < TINY:
        first += 1
    while masses[last - 1] < TINY:
        last -= 1
    return low + first, masses[first:last]
