from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import GOLDEN, tally

from evalaction.method.judging.margin import Difference, Z, difference, margin_bound
from evalaction.method.numbers import Threshold


def strips(differences: list[int], draws: int) -> tuple[list[str], list[str]]:
    """Treatment and control whose passes differ by the given numbers."""
    ours = ["p" * min(draws, draws + one) + "k" * max(0, -one) for one in differences]
    theirs = ["p" * (draws - max(0, one)) + "k" * max(0, one) for one in differences]
    return ours, theirs


def of(treatment: list[str], control: list[str], metric: Any = "mean") -> Difference:
    return difference(tally({"treatment": treatment, "control": control}), metric)


@pytest.mark.parametrize("vector", GOLDEN["not_behind"], ids=lambda vector: vector["name"])
def test_published_vectors(vector: dict[str, Any]) -> None:
    found = of(*strips(vector["d"], vector["K"]))
    assert math.isclose(float(found.mean), vector["mean"], abs_tol=1e-12)
    assert math.isclose(float(found.variance), vector["variance"], abs_tol=1e-12)
    assert math.isclose(found.lower, vector["lower"], abs_tol=1e-12)


def test_nothing_lost_still_leaves_doubt() -> None:
    found = of(["p"] * 30, ["p"] * 30, "first")
    assert -0.0727 < found.lower < -0.0726
    assert not found.within(Fraction("0.05")) and found.within(Fraction("0.10"))
    assert (found.enough_items(Fraction("0.05")), found.enough_items(Fraction(0))) == (66, None)


def test_a_draw_without_a_verdict_fails_the_treatment_and_passes_the_control() -> None:
    assert of(["u", "p"], ["p", "e"], "first") == of(["k", "p"], ["p", "p"], "first")
    assert of(["ppu"], ["kku"]) == of(["ppk"], ["kkp"])
    assert of(["ppe", "ppp"], ["ppp", "ppu"], "stable") == of(["ppk", "ppp"], ["ppp", "ppp"], "stable")
    assert of(["puu"], ["pkk"], "first") == of(["p"], ["p"], "first")


def test_an_item_weighs_the_same_at_every_number_of_draws() -> None:
    assert of(["kpp", "ppk"], ["ppp", "ppp"], "first") == of(["k", "p"], ["p", "p"], "first")
    assert of(["ppp", "pkp"], ["kpp", "ppp"], "stable") == of(["p", "k"], ["k", "p"], "stable")
    assert of(["ppp", "kkk"], ["kkk", "ppp"]) == of(["p", "k"], ["k", "p"])


def test_the_loss_that_is_missed_one_time_in_five() -> None:
    found = of(*strips([-1] * 2 + [1] * 2 + [0] * 96, 1), "first")
    margin = Fraction("0.10")
    loss = found.missed(margin)
    spread = math.sqrt(float(found.variance) / (found.items + 2))
    passes = (-loss + 0.10 - float(Z) * spread) / spread  # how far the bound's mean lies above −margin, in spreads
    assert math.isclose(NormalDist().cdf(passes), 0.2, abs_tol=1e-6)
    assert found.missed(Fraction(0)) == 0
    assert margin_bound(found, Threshold.of("0.10")).missed == loss
    assert margin_bound(found, Threshold.of("0.01")).missed is None


def test_the_comparison_is_exact_where_a_float_is_not() -> None:
    found = Difference(items=98, mean=Fraction(0), variance=Fraction(1, 100))
    edge = Fraction("1.6448536") / 100  # z · sqrt(0.01 / 100)
    assert found.within(edge) and not found.within(edge - Fraction(1, 10**30))


def test_the_bound_as_it_is_reported() -> None:
    bound = margin_bound(of(*strips([-1] * 10 + [0] * 74, 1)), Threshold.of("0.10"))
    assert bound.margin == "0.10" and bound.items == 84 and bound.enough_items is None
    slack = margin_bound(of(*strips([-1] * 4 + [0] * 80, 1)), Threshold.of("0.10"))
    assert slack.enough_items is not None and slack.enough_items <= 84


@given(st.lists(st.tuples(*[st.text("pkcue", min_size=2, max_size=2)] * 2), min_size=2, max_size=12), st.data())
def test_losing_a_draw_never_helps(both: list[tuple[str, str]], data: st.DataObject) -> None:
    metric = data.draw(st.sampled_from(["first", "mean", "stable"]))
    arm, draw = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1))
    arms = [[pair[0] for pair in both], [pair[1] for pair in both]]
    before = of(arms[0], arms[1], metric)
    place = data.draw(st.integers(0, len(both) - 1))
    arms[arm][place] = arms[arm][place][:draw] + "u" + arms[arm][place][draw + 1 :]
    after = of(arms[0], arms[1], metric)
    assert after.mean <= before.mean and after.lower <= before.lower + 1e-12
    assert before.within(Fraction(1, 2)) or not after.within(Fraction(1, 2))


@given(st.integers(30, 120), st.integers(0, 20), st.integers(1, 30))
def test_enough_items_is_the_least_number(items: int, lost: int, margin: int) -> None:
    found = of(*strips([-1] * lost + [0] * (items - lost), 1))
    bound = Fraction(margin, 100)
    enough = found.enough_items(bound)
    if enough is None:
        assert found.mean + bound <= 0
        return

    def holds(number: int) -> bool:
        return Difference(items=number, mean=found.mean, variance=found.variance).within(bound)

    assert holds(enough) and (enough == 1 or not holds(enough - 1))
    assert found.within(bound) == (items >= enough)
