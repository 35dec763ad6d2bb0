"""How often two identical arms earn a sign: golden values for every size, and the rule itself on simulated runs."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import runs

from evalaction.method.card import Sign, Validity
from evalaction.method.judging import false_alarm as rule
from evalaction.method.judging.false_alarm import (
    false_alarm,
    false_alarm_of,
    least_lead,
    likeness,
    unit_difference,
    upper_tail,
)
from evalaction.method.judging.sign import sign_of, split_sign
from evalaction.method.numbers import Threshold

GOLDEN: list[tuple[Any, ...]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "false_alarm.json").read_text(encoding="utf-8")
)
"""[metric, K, ρ, p, items per half, P(one half leads one way)], with a floor of 0.02 and no least number of items."""


def plain(metric: str, **fields: Any) -> Sign:
    return runs.sign("differ", metric=metric, **({"min_item_gap": 0} | fields))


@pytest.mark.parametrize(("metric", "draws"), [("mean", 1), ("mean", 3), ("mean", 5), ("mean", 10), ("stable", 5)])
def test_golden_values(metric: str, draws: int) -> None:
    cells = [cell for cell in GOLDEN if cell[0] == metric and cell[1] == draws]
    for _, _, shared, p, items, half in cells:
        found = false_alarm((items, items), plain(metric), draws, pass_rate=p, shared=shared)
        assert found == pytest.approx(2 * half * half, abs=0.001), (shared, p, items)
    assert len(cells) == 80


def test_golden_values_are_exact_where_the_sum_is_convolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "MANY", float("inf"))
    for metric, draws, shared, p, items, half in GOLDEN:
        if items <= 40:
            found = false_alarm((items, items), plain(metric), draws, pass_rate=p, shared=shared)
            assert found == pytest.approx(2 * half * half, abs=1e-10)


def test_one_draw_is_the_same_under_every_metric() -> None:
    rates = {false_alarm((31, 40), plain(metric), 1, pass_rate=0.8, shared=0.5) for metric in ("first", "mean", "stable")}
    assert max(rates) == pytest.approx(min(rates))


def test_the_least_lead_is_the_first_that_the_rule_takes() -> None:
    for metric in ("first", "mean", "stable"):
        for items in (30, 41, 50, 151):
            sign, each = plain(metric, min_item_gap=2), 5 if metric == "mean" else 1
            lead = least_lead(items, sign, 5)

            def judged(passes: int, items: int = items, each: int = each) -> int:
                return sign_of(Fraction(passes, items * each), items=items, floor=Threshold.of("0.02").value, min_item_gap=2)

            assert judged(lead) == 1 and judged(lead - 1) == 0


@settings(max_examples=100, deadline=None)
@given(
    metric=st.sampled_from(["first", "mean", "stable"]),
    draws=st.integers(1, 6),
    p=st.floats(0, 1),
    shared=st.floats(0, 1),
    items=st.integers(1, 60),
)
def test_a_difference_of_identical_arms_is_a_symmetric_distribution(
    metric: Any, draws: int, p: float, shared: float, items: int
) -> None:
    unit = unit_difference(metric, draws, p, shared)
    assert sum(unit) == pytest.approx(1) and min(unit) >= -1e-12
    assert unit == pytest.approx(unit[::-1])
    tails = [upper_tail(unit, items, lead) for lead in (1, 2, items + 2)]
    assert sorted(tails, reverse=True) == tails and 0 <= tails[-1] <= tails[0] <= 0.5 + 1e-9


def test_what_always_or_never_passes_earns_nothing() -> None:
    for p, shared in ((0.0, 0.0), (1.0, 0.0), (0.7, 1.0)):
        assert false_alarm((40, 44), plain("mean"), 5, pass_rate=p, shared=shared) == 0


def test_both_halves_count() -> None:
    """The rate of unequal halves is twice the product of their tails."""
    unit = unit_difference("first", 1, 0.9, 0.0)
    sign = plain("first", min_item_gap=2)
    rate = false_alarm((30, 60), sign, 1, pass_rate=0.9, shared=0.0)
    assert rate == pytest.approx(2 * upper_tail(unit, 30, 2) * upper_tail(unit, 60, 2))


def test_the_rule_earns_as_often_as_computed() -> None:
    """Simulated with a seed, through the real rule: 120 runs of two identical arms, p = 0.7, every item alike."""
    draw, ids = random.Random(7), runs.balanced(30)
    sign, earned = plain("mean", min_item_gap=2), 0
    for _ in range(120):
        arms = {arm: ["".join(draw.choices("pk", (7, 3), k=2)) for _ in ids] for arm in ("treatment", "control")}
        earned += split_sign(runs.tally(arms, ids), sign, Validity()).earned
    computed = false_alarm((30, 30), sign, 2, pass_rate=0.7, shared=0.0)
    assert 0.05 < computed < 0.3
    assert earned / 120 == pytest.approx(computed, abs=4 * (computed * (1 - computed) / 120) ** 0.5)


@pytest.mark.parametrize(
    ("treatment", "control", "found"),
    [
        (["pp", "pp", "kk", "kk"], ["pp", "pp", "kk", "kk"], (0.5, 1.0)),
        (["pp", "kk", "pp", "kk"], ["pp", "pp", "kk", "kk"], (0.5, 0.0)),
        (["pk", "pk"], ["kp", "pk"], (0.5, 0.0)),
        (["pp", "pp"], ["pp", "pp"], (1.0, 0.0)),
        (["pu", "uu", "ke"], ["pp", "pp", "kk"], (0.5, 1.0)),
        (["uu"], ["pp"], (0.0, 0.0)),
    ],
)
def test_the_run_says_how_alike_its_arms_are(treatment: list[str], control: list[str], found: tuple[float, float]) -> None:
    assert likeness(runs.tally({"treatment": treatment, "control": control})) == pytest.approx(found)


def test_a_shift_of_one_arm_is_not_taken_for_noise() -> None:
    """Item difficulty is shared; the treatment loses every fifth item: the correlation stays near one, not near zero."""
    control = ["p" if number % 2 else "k" for number in range(100)]
    treatment = ["k" if number % 10 == 1 else letter for number, letter in enumerate(control)]
    p, shared = likeness(runs.tally({"treatment": treatment, "control": control}))
    assert p == pytest.approx(0.45) and shared == pytest.approx(0.2 / (0.45 * 0.55))


def test_beside_a_run_stands_the_rate_at_its_own_size() -> None:
    ids = runs.balanced(31)
    arms = {"treatment": ["p", "k"] * 31, "control": ["p", "p", "k", "k"] * 15 + ["p", "p"]}
    tally, sign = runs.tally(arms, ids), plain("first", min_item_gap=2)
    found = false_alarm_of(tally, sign)
    assert (found.pass_rate, found.shared) == likeness(tally)
    assert found.rate == false_alarm((31, 31), sign, 1, pass_rate=found.pass_rate, shared=found.shared) > 0.01
