from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import GOLDEN, balanced, say, sign, tally

from evalaction.method.card import Validity
from evalaction.method.judging.sign import Split, described, gap_of, sign_of, split_sign
from evalaction.method.numbers import Threshold

FLOOR = Fraction("0.02")


def split(treatment: list[str], control: list[str], *, paired: bool = True, each: int = 40, **fields: Any) -> Split:
    """The first `each` strips are half 0."""
    grid = tally({"treatment": treatment, "control": control}, balanced(each))
    judged = sign(**fields)
    return split_sign(grid, judged, Validity()) if paired else split_sign(grid, judged, Validity(), paired=False)


def codes(judged: Split) -> list[str]:
    return [found.code for found in judged.breaks]


@pytest.mark.parametrize("case", GOLDEN["float_gap"], ids=lambda case: f"{case['left']}-{case['right']}")
def test_a_gap_equal_to_the_floor_counts_whatever_floats_say(case: dict[str, Any]) -> None:
    gap = Fraction(case["left"]) - Fraction(case["right"])
    items = int(case["left"].partition("/")[2])
    assert sign_of(gap, items=items, floor=FLOOR, min_item_gap=1) == case["exact_rational_sign"]
    assert sign_of(-gap, items=items, floor=FLOOR, min_item_gap=1) == -case["exact_rational_sign"]


def test_a_lead_of_one_item_is_no_lead() -> None:
    assert sign_of(Fraction(1, 40), items=40, floor=FLOOR, min_item_gap=2) == 0
    assert sign_of(Fraction(2, 40), items=40, floor=FLOOR, min_item_gap=2) == 1
    assert sign_of(Fraction(0), items=40, floor=Fraction(0), min_item_gap=0) == 0
    assert sign_of(None, items=40, floor=FLOOR, min_item_gap=0) == 0
    assert gap_of((1, 2), (0, 0)) is None and gap_of((0, 0), (1, 2)) is None


def test_halves_that_disagree_earn_nothing() -> None:
    judged = split(["p"] * 40 + ["k"] * 40, ["k"] * 40 + ["p"] * 40)
    assert (judged.half_signs, judged.earned, judged.sign, codes(judged)) == ((1, -1), False, 0, ["halves_disagree"])
    assert say(judged.breaks[0].sentence) == (
        "The two halves disagree: half 0: treatment 40/40, control 0/40, treatment ahead by 40 items; "
        "half 1: treatment 0/40, control 40/40, control ahead by 40 items."
    )


def test_a_lead_in_one_half_alone_is_a_gap_below_the_floor_and_no_disagreement() -> None:
    for signs in ((0, 1), (1, 0)):
        judged = split(["p"] * 80, ["k" if half else "p" for half in signs for _ in range(40)])
        assert (judged.half_signs, judged.sign, codes(judged)) == (signs, 0, ["gap_below_floor_or_unscored"])


def test_an_earned_sign_in_either_direction() -> None:
    good, bad = ["p"] * 80, (["k"] * 2 + ["p"] * 38) * 2
    assert (split(good, bad).earned, split(good, bad).sign) == (True, 1)
    assert (split(bad, good).earned, split(bad, good).sign) == (True, -1)


def test_a_wobble_of_one_item_in_each_half_earns_nothing() -> None:
    judged = split(["p"] * 80, (["k"] + ["p"] * 39) * 2)
    assert codes(judged) == ["gap_below_floor_or_unscored"]
    assert say(judged.breaks[0].sentence).endswith(
        "half 1: treatment 40/40, control 39/40, treatment ahead by 1 item; a lead needs 0.02 and 2 items in both halves."
    )
    assert split(["p"] * 80, (["k"] + ["p"] * 39) * 2, min_item_gap=1).earned


def test_missingness_alone_earns_nothing_once_items_are_paired() -> None:
    ours, theirs = (["u"] * 2 + ["p"] * 38) * 2, (["k"] * 2 + ["p"] * 38) * 2
    assert split(ours, theirs, paired=False).earned
    judged = split(ours, theirs)
    assert (judged.half_signs, judged.paired_signs, codes(judged)) == ((1, 1), (0, 0), ["paired_sign_differs"])
    assert "38 and 38 items" in say(judged.breaks[0].sentence) and "lead the same way" in say(judged.breaks[0].sentence)
    for unearned in (judged, split(theirs, ours)):  # no direction is announced
        assert unearned.sign == 0 and "ahead" not in say(unearned.breaks[0].sentence)


def test_the_paired_items_may_lead_in_one_half_only() -> None:
    lost, scored = ["u"] * 2 + ["p"] * 38, ["p"] * 40
    judged = split(lost + scored, (["k"] * 2 + ["p"] * 38) * 2)
    assert (judged.half_signs, judged.paired_signs, codes(judged)) == ((1, 1), (0, 1), ["paired_sign_differs"])


def test_breaks_of_validity_come_half_by_half_and_alone() -> None:
    judged = split(["u"] * 3 + ["p"] * 74 + ["e"] * 3, ["e"] * 3 + ["k"] * 74 + ["u"] * 3)
    assert codes(judged) == [
        "treatment.h0:transport",
        "control.h0:unscored_mass",
        "treatment.h1:unscored_mass",
        "control.h1:transport",
    ]
    assert judged.halves[0].treatment.reasons == ("transport", "unscored_mass")
    assert judged.half_signs == (1, 1) and judged.sign == 0


def test_a_half_below_the_floor_shows_no_direction() -> None:
    judged = split(["p"] * 58, ["k"] * 58, each=29)
    assert judged.half_signs == (1, 1) and not judged.earned and judged.sign == 0
    assert set(codes(judged)) == {f"{arm}.h{half}:below_min_items" for arm in ("treatment", "control") for half in (0, 1)}


def test_nothing_scored_on_one_side_is_no_gap() -> None:
    judged = split(["u"] * 80, ["p"] * 80)
    assert judged.halves[0].gap is None and judged.halves[0].lead_items is None and judged.half_signs == (0, 0)
    assert judged.disagreement and "nothing to compare" in say(judged.disagreement.sentence)
    assert "level" in say(split(["p"] * 80, ["p"] * 80).breaks[0].sentence)


def test_an_empty_half_is_judged_and_refused() -> None:
    ids = balanced(40)[:40]
    judged = split_sign(tally({"treatment": ["p"] * 40, "control": ["k"] * 40}, ids), sign(), Validity())
    assert judged.halves[1].items == 0 and codes(judged) == ["treatment.h1:below_min_items", "control.h1:below_min_items"]


@pytest.mark.parametrize(
    ("metric", "passed", "scored", "paired"),
    [("first", 2, 3, 3), ("mean", 7, 10, 2), ("stable", 1, 2, 2)],
)
def test_metrics(metric: str, passed: int, scored: int, paired: int) -> None:
    ours = ["ppp", "pkk", "kup", "upp"]
    judged = split(ours + ["ppp"] * 4, ["ppp"] * 8, each=4, metric=metric)
    half = judged.halves[0]
    assert (half.treatment.passed, half.treatment.scored, half.paired_items) == (passed, scored, paired)


def test_a_lead_in_items_is_gap_times_items() -> None:
    judged = split(["ppppp"] * 80, (["kkkkk"] + ["ppppk"] * 5 + ["ppppp"] * 34) * 2, metric="mean")
    assert judged.halves[0].gap == Fraction(10, 200) and judged.halves[0].lead_items == 2
    half = "half 0: treatment 200/200 draws, control 190/200, treatment ahead by 2 items"
    assert say(described(judged.halves, "mean")).startswith(half)
    assert judged.earned


def test_the_floor_is_the_cards_decimal() -> None:
    ours, theirs = ["p"] * 80, (["k"] * 2 + ["p"] * 38) * 2
    assert split(ours, theirs, min_abs_gap=Threshold.of("0.05")).earned
    assert not split(ours, theirs, min_abs_gap=Threshold.of("0.0500000000000000001")).earned


ARM = st.lists(st.text("ppkcue", min_size=2, max_size=2), min_size=8, max_size=8)


@given(ARM, ARM, st.sampled_from(["first", "mean", "stable"]))
def test_swapping_the_arms_negates_every_sign(ours: list[str], theirs: list[str], metric: str) -> None:
    loose: dict[str, Any] = {"each": 4, "metric": metric, "min_items_per_half": 1, "min_item_gap": 1}
    one, other = split(ours, theirs, **loose), split(theirs, ours, **loose)
    assert one.half_signs == tuple(-half for half in other.half_signs)
    assert one.paired_signs == tuple(-half for half in other.paired_signs)
    assert one.sign == -other.sign and one.earned == other.earned


@given(ARM, ARM)
def test_all_metrics_agree_at_one_draw(ours: list[str], theirs: list[str]) -> None:
    ours, theirs = [strip[0] for strip in ours], [strip[0] for strip in theirs]
    found = {
        metric: split(ours, theirs, each=4, metric=metric, min_items_per_half=1).halves for metric in ("first", "mean", "stable")
    }
    assert found["first"] == found["mean"] == found["stable"]
