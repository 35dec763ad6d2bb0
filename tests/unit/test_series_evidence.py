"""Intervals and evidence against published values, and the properties that make them what they claim to be."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.method.numbers import Bounded, Rate
from evalaction.method.series.evidence import ALARM, Running, mcnemar, mid_p, one_sided, pass_hat_k
from evalaction.method.series.intervals import Interval, of_draws, of_items, wilson
from evalaction.method.series.latency import Latency, latency


@pytest.mark.parametrize(
    ("hits", "items", "low", "high"),
    [
        (81, 263, 0.2552885198782742, 0.3662095769828),
        (15, 148, 0.06238639953073628, 0.16048724172330803),
        (0, 20, 0.0, 0.1611251580528194),
        (1, 29, 0.006113214292762667, 0.17175521879320294),
        (30, 30, 0.8864866068260311, 1.0),
        (0, 5, 0.0, 0.43448246478317487),
        (1, 1, 0.2065493143772374, 1.0),
        (20, 30, 0.48780051644543837, 0.8076950191632386),
    ],
)
def test_wilson(hits: int, items: int, low: float, high: float) -> None:
    """The first four are Newcombe's (1998, table I)."""
    found = wilson(Fraction(hits, items), items)
    assert found is not None
    assert math.isclose(found.low, low, abs_tol=1e-12) and math.isclose(found.high, high, abs_tol=1e-12)


@given(st.integers(0, 60), st.integers(1, 60))
def test_an_interval_holds_its_share_and_stays_inside(hits: int, items: int) -> None:
    share = Fraction(min(hits, items), items)
    found = wilson(share, items)
    assert found is not None
    assert 0 <= found.low <= float(share) <= found.high <= 1


def test_nothing_has_no_interval() -> None:
    assert wilson(Fraction(0), 0) is None
    assert of_items(None) is None
    assert of_items(Bounded(0, 0, 0)) is None
    assert of_draws(Rate(0, 0), 30) is None


def test_what_is_open_widens_the_interval_on_its_side() -> None:
    exact, open_above = of_items(Bounded(20, 20, 30)), of_items(Bounded(20, 24, 30))
    assert exact is not None and open_above is not None
    assert exact.low == open_above.low and exact.high < open_above.high


def test_draws_of_an_item_do_not_narrow_an_interval() -> None:
    assert of_draws(Rate(150, 300), 30) == of_items(Bounded(15, 15, 30)) == wilson(Fraction(1, 2), 30)
    assert isinstance(wilson(Fraction(1, 2), 30), Interval)


@pytest.mark.parametrize(
    ("worse", "better", "value"),
    [(0, 0, "1"), (1, 0, "3/2"), (5, 0, "21/2"), (6, 0, "127/7"), (0, 5, "1/6"), (7, 1, "251/36"), (12, 3, "64839/7280")],
)
def test_evidence_one_sided(worse: int, better: int, value: str) -> None:
    assert one_sided(worse, better) == Fraction(value)


def test_the_first_alarms() -> None:
    assert next(count for count in range(30) if one_sided(count, 0) >= ALARM) == 7
    assert next(count for count in range(30) if one_sided(count, 2) >= ALARM) == 12


@given(st.integers(0, 40))
def test_under_no_change_the_mean_evidence_is_one(changed: int) -> None:
    mean = sum(comb(changed, worse) * one_sided(worse, changed - worse) for worse in range(changed + 1))
    assert mean == 2**changed


@given(st.integers(0, 40), st.integers(0, 40))
def test_one_sided_is_the_mixture_over_biases_towards_worse(worse: int, better: int) -> None:
    changed = worse + better
    below = sum(comb(changed + 1, number) for number in range(worse + 1))
    either_way = Fraction(2**changed, (changed + 1) * comb(changed, worse))
    assert one_sided(worse, better) == 2 * either_way * Fraction(below, 2 ** (changed + 1))


@given(st.integers(0, 30), st.integers(0, 30))
def test_evidence_is_a_fair_game(worse: int, better: int) -> None:
    """One more fair coin leaves the mean where it is: that is what allows looking every night."""
    assert (one_sided(worse + 1, better) + one_sided(worse, better + 1)) / 2 == one_sided(worse, better)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_what_is_added_night_by_night_is_what_is_counted_at_once(nights: list[tuple[int, int]]) -> None:
    found = Running()
    for worse, better in nights:
        found.add(worse, better)
    assert found.value == one_sided(sum(worse for worse, _ in nights), sum(better for _, better in nights))


@pytest.mark.parametrize(
    ("worse", "better"), [(1000, 1000), (1090, 1000), (1150, 1000), (1158, 1000), (1159, 1000), (1160, 1000), (3000, 10)]
)
def test_beyond_500_items_it_is_rounded_down_and_never_across_the_alarm(worse: int, better: int) -> None:
    found, exact = Running(), one_sided(worse, better)
    found.add(worse, better)
    assert 0 <= exact - found.value < Fraction(1, 2**32)
    assert (found.value >= ALARM) == (exact >= ALARM)


@pytest.mark.parametrize(
    ("lost", "gained", "exact", "mid"),
    [
        (1, 7, 0.0703125, 0.0390625),
        (0, 0, 1.0, 1.0),
        (0, 5, 0.0625, 0.03125),
        (0, 6, 0.03125, 0.015625),
        (5, 5, 1.0, 0.876953125),
        (2, 2, 1.0, 0.8125),
        (3, 12, 0.03515625, 0.02127075195312501),
        (10, 25, 0.016673847800120715, 0.011330984183587134),
        (0, 1, 1.0, 0.5),
    ],
)
def test_mcnemar(lost: int, gained: int, exact: float, mid: float) -> None:
    assert math.isclose(float(mcnemar(lost, gained)), exact, rel_tol=1e-12)
    assert math.isclose(float(mid_p(lost, gained)), mid, rel_tol=1e-12)
    assert (mcnemar(lost, gained), mid_p(lost, gained)) == (mcnemar(gained, lost), mid_p(gained, lost))


@pytest.mark.parametrize(
    ("draws", "passed", "k", "value"),
    [(5, 5, 5, "1"), (5, 4, 5, "0"), (5, 4, 2, "3/5"), (8, 6, 4, "3/14"), (10, 9, 3, "7/10"), (4, 3, 2, "1/2"), (5, 0, 1, "0")],
)
def test_pass_hat_k(draws: int, passed: int, k: int, value: str) -> None:
    assert pass_hat_k(draws, passed, k) == Fraction(value)


@pytest.mark.parametrize(("draws", "passed", "k"), [(5, 5, 6), (5, 5, 0), (5, 6, 2), (0, 0, 1)])
def test_pass_hat_k_of_too_few_draws_is_refused(draws: int, passed: int, k: int) -> None:
    with pytest.raises(ValueError, match="no pass"):
        pass_hat_k(draws, passed, k)


def test_latency_is_the_nearest_rank_with_the_quantiles_at_the_ends_of_the_share() -> None:
    times = dict.fromkeys(range(1, 101), 1)
    assert latency(times, 0, 100) == Latency(89, 95, 98)


def test_draws_that_never_arrived_are_for_ever() -> None:
    times = dict.fromkeys(range(1, 97), 1)
    assert latency(times, 4, 100) == Latency(89, 95, None)
    assert latency({10: 1}, 9, 10) == Latency(None, None, None)
    assert latency({}, 0, 0) == Latency(None, None, None)


@pytest.mark.parametrize("times", [(2, 1, 3), (None, 1, 2), (-1, 1, 2), (1, None, 3)])
def test_an_interval_of_times_is_in_order(times: tuple[int | None, int | None, int | None]) -> None:
    with pytest.raises(ValueError, match="not an interval"):
        Latency(*times)
