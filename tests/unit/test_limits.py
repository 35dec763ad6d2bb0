from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import card, endpoint, limit, row, say, sign, tally

from evalaction.method.card import HttpShape
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.limits import LIMIT_NAMES, blames_the_model, judge_limits, sampling_seed
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.report import LimitResult


def one(name: str, bound: str, strips: list[str], control: list[str] | None = None, *, scope: str = "treatment") -> LimitResult:
    grid = tally({"treatment": strips} | ({"control": control} if control else {}))
    made = card(limit(name, bound, scope), draws=len(strips[0]), claim=sign("none") if control else None)
    return judge_limits(made, grid)[0]


@pytest.mark.parametrize(
    ("name", "bound", "strips", "state"),
    [
        ("min_first_pass", "0.5", ["p", "k"], "held"),
        ("min_first_pass", "0.51", ["p", "k"], "breached"),
        ("min_first_pass", "0.5", ["p", "u", "k", "k"], "undecided"),
        ("min_first_pass", "0.51", ["p", "u", "k", "k"], "breached"),
        ("min_stable_pass", "0.5", ["pp", "pk"], "held"),
        ("min_stable_pass", "1", ["pp", "pu"], "undecided"),
        ("min_stable_pass", "0.75", ["pp", "pu", "pk"], "breached"),
        ("max_flip_rate", "0.5", ["pk", "pp"], "held"),
        ("max_flip_rate", "0.5", ["pk", "pu"], "undecided"),
        ("max_flip_rate", "0", ["pk", "pu"], "breached"),
        ("min_reach", "0.75", ["p", "p", "k", "u"], "held"),
        ("min_reach", "0.76", ["p", "p", "k", "u"], "breached"),
        ("min_contract", "0.5", ["p", "c", "u"], "held"),
        ("min_contract", "0.51", ["p", "c", "u"], "breached"),
        ("min_contract", "0.5", ["u", "u"], "undecided"),
        ("min_check", "0.5", ["p", "k", "c", "e"], "held"),
        ("min_check", "0.51", ["p", "k", "c", "e"], "breached"),
        ("max_runner_error_items", "1", ["pp", "ue"], "held"),
        ("max_runner_error_items", "0", ["pp", "ue"], "breached"),
        ("max_p95_ms", "40", ["p", "k"], "held"),
        ("max_p95_ms", "39", ["p", "k"], "breached"),
        ("max_p95_ms", "40", ["p", "u"], "undecided"),
        ("max_p95_ms", "39", ["p", "u"], "breached"),
    ],
)
def test_held_breached_undecided(name: str, bound: str, strips: list[str], state: str) -> None:
    assert one(name, bound, strips).state == state


@pytest.mark.parametrize(
    ("name", "bound", "treatment", "control", "state"),
    [
        ("max_first_drop", "0.5", ["p", "k"], ["p", "p"], "held"),
        ("max_first_drop", "0.49", ["p", "k"], ["p", "p"], "breached"),
        ("max_first_drop", "0.49", ["p", "u"], ["p", "p"], "undecided"),
        ("max_first_drop", "0.25", ["p", "p"], ["p", "u"], "held"),
        ("max_first_drop", "0", ["p", "p"], ["k", "k"], "held"),
        ("max_stable_drop", "0", ["pk", "pp"], ["pp", "pp"], "breached"),
        ("max_stable_drop", "0", ["pk", "pp"], ["pp", "pu"], "undecided"),
        ("max_flip_gain", "0.5", ["pk", "pp"], ["pp", "pp"], "held"),
        ("max_flip_gain", "0", ["pk", "pp"], ["pp", "pp"], "breached"),
        ("max_flip_gain", "0", ["pk", "pp"], ["pu", "pp"], "undecided"),
        ("max_reach_gap", "0.5", ["p", "u"], ["p", "p"], "held"),
        ("max_reach_gap", "0.49", ["p", "u"], ["p", "p"], "breached"),
        ("max_reach_gap", "0.49", ["p", "p"], ["u", "p"], "breached"),
    ],
)
def test_between_the_arms(name: str, bound: str, treatment: list[str], control: list[str], state: str) -> None:
    assert one(name, bound, treatment, control, scope="between").state == state


def test_nine_of_ten_unreached_and_one_pass_is_no_pass() -> None:
    assert one("min_first_pass", "0.8", ["p"] + ["u"] * 9).state == "undecided"
    assert one("min_first_pass", "0.8", ["p"] + ["k"] * 9).state == "breached"


def test_a_rate_that_rounds_to_the_limit_does_not_reach_it() -> None:
    result = one("max_flip_rate", "0.05", ["pk"] * 26 + ["pp"] * 474)
    assert result.state == "breached" and "5.2 %" in say(result.sentence)
    assert one("max_flip_rate", "0.05", ["pk"] * 25 + ["pp"] * 475).state == "held"


def test_lost_draws_are_named_where_they_decide() -> None:
    result = one("min_stable_pass", "0.95", ["ppppp"] * 72 + ["ppupp"] * 12)
    assert (result.state, result.measured) == ("undecided", Bounded(72, 84, 84))
    assert say(result.sentence) == (
        "min_stable_pass of treatment is undecided: 72–84/84 items (85.7 % to 100 %), limit 95 %; "
        "draws without a verdict leave it open (‹status:503› × 12)."
    )


def test_what_is_measured_is_shown() -> None:
    assert one("min_check", "0.9", ["p", "k"]).measured == Rate(1, 2)
    assert (
        say(one("min_check", "0.9", ["p", "k"]).sentence) == "min_check of treatment is breached: 1/2 draws (50 %), limit 90 %."
    )
    assert say(one("max_p95_ms", "50", ["p", "k"]).sentence) == "max_p95_ms of treatment is held: 40 ms, limit 50 ms."
    assert "more than one draw in twenty never arrived" in say(one("max_p95_ms", "50", ["p", "u"]).sentence)
    assert "1 item, limit 2" in say(one("max_runner_error_items", "2", ["p", "u"]).sentence)
    between = one("max_first_drop", "0.25", ["p", "u"], ["p", "p"], scope="between")
    assert between.measured == (Fraction(0), Fraction(1, 2))
    assert "max_first_drop between the arms is undecided: 0 to 50 points, limit 25 points" in say(between.sentence)
    tenth = say(one("max_first_drop", "0.2", ["k"] + ["p"] * 9, ["p"] * 10, scope="between").sentence)
    assert tenth == "max_first_drop between the arms is held: 10 points, limit 20 points."
    half = say(one("min_first_pass", "0.5", ["p", "k"]).sentence)
    assert half == "min_first_pass of treatment is held: 1/2 items (50 %), limit 50 %."


def test_a_breach_that_the_control_shares_was_there_before() -> None:
    assert one("min_check", "0.9", ["k", "p"], ["k", "p"]).already_at_base
    assert say(one("min_check", "0.9", ["k", "p"], ["k", "p"]).sentence).endswith("; so already at base.")
    assert not one("min_check", "0.9", ["k", "p"], ["p", "p"]).already_at_base
    assert not one("min_first_pass", "0.9", ["k", "p"], ["u", "p"]).already_at_base
    assert not one("min_check", "0.9", ["k", "p"], ["k", "p"], scope="control").already_at_base


def test_limits_by_tag() -> None:
    grid = tally({"treatment": ["p", "k", "u"]}, tags={"t0000": ["a"], "t0001": ["b"], "t0002": ["b"]})
    made = card(limit("min_first_pass", "1", tag="a"), limit("min_first_pass", "1", tag="b"), limit("max_p95_ms", "1", tag="c"))
    results = judge_limits(made, grid)
    assert [result.state for result in results] == ["held", "breached", "undecided"]
    assert say(results[1].sentence).startswith("min_first_pass of treatment, tag ‹b› is breached: 0–1/2 items")
    assert say(results[2].sentence) == "max_p95_ms of treatment, tag ‹c› is undecided: there is nothing to measure."
    only_changed = replace(made, sign=sign("none", items="changed"))
    assert len(judge_limits(only_changed, grid)) == 2  # nothing changes for the items of the third
    nothing = card(limit("max_first_drop", "1", "between", tag="c"), claim=sign("none"))
    assert judge_limits(nothing, tally({"treatment": ["p"], "control": ["p"]}))[0].measured is None


def test_a_flip_limit_at_one_draw_has_nothing_to_measure() -> None:
    assert one("max_flip_rate", "1", ["p", "k"]).state == "undecided"


def test_under_a_sampling_seed_stable_and_flip_say_nothing() -> None:
    grid = tally({"treatment": ["pp", "pp"], "control": ["pp", "pp"]})
    names = ["min_first_pass", "min_stable_pass", "max_flip_rate"]
    limits = [limit(name, "0.5", scope) for scope in ("treatment", "control") for name in names]
    limits += [limit(name, "0.5", "between") for name in ("max_first_drop", "max_stable_drop", "max_flip_gain")]
    results = judge_limits(card(*limits, draws=2, claim=sign("none")), grid, seeded=("treatment",))
    undecided = {(result.limit.scope, result.limit.name) for result in results if result.state == "undecided"}
    assert undecided == {
        ("treatment", "min_stable_pass"),
        ("treatment", "max_flip_rate"),
        ("between", "max_stable_drop"),
        ("between", "max_flip_gain"),
    }
    assert "a sampling seed is fixed for treatment" in say(results[1].sentence)


def test_a_seed_in_an_http_body_is_a_seed() -> None:
    assert sampling_seed(endpoint(http=HttpShape(body={"seed": 1}, text="/text")))
    assert sampling_seed(endpoint(http=HttpShape(body={"options": {"seed": 1}}, text="/text")))
    assert not sampling_seed(endpoint(http=HttpShape(body=["seed"], text="/text")))
    assert not sampling_seed(endpoint(http=HttpShape(body={"prompt": "seed"}, text="/text")))


def test_a_seed_is_a_number_under_either_name_at_any_depth() -> None:
    for params in ({"seed": 0}, {"random_seed": 3}, {"extra": {"seed": Decimal("1.0")}}):
        assert sampling_seed(endpoint(params=params))
    schema = {"type": "object", "properties": {"seed": {"type": "integer"}}}
    innocent: list[dict[str, Any]] = [
        {"seed": None},
        {"seed": True},
        {"response_format": {"json_schema": schema}},
        {"tools": [{"seed": 1}]},
    ]
    assert not any(sampling_seed(endpoint(params=params)) for params in innocent)


def test_a_breach_of_reach_is_not_blamed_on_the_model() -> None:
    assert not blames_the_model(one("min_reach", "1", ["p", "u"]))
    assert not blames_the_model(one("max_runner_error_items", "0", ["p", "u"]))
    assert not blames_the_model(one("max_reach_gap", "0", ["p", "u"], ["p", "p"], scope="between"))
    assert blames_the_model(one("min_check", "1", ["p", "k"]))
    assert not blames_the_model(one("min_check", "0", ["p", "k"]))


def test_the_95th_percentile_is_the_95th_of_100() -> None:
    grid = Tally([f"t{number:04d}" for number in range(100)], {}, ["treatment"], 1, "freeze-me-before-running")
    for number, item in enumerate(grid.ids, 1):
        grid.add(row(item, ms=number))
    found = judge_limits(card(limit("max_p95_ms", "95"), limit("max_p95_ms", "94.9")), grid)
    assert [(result.measured, result.state) for result in found] == [(95, "held"), (95, "breached")]


def test_five_lost_of_a_hundred_leave_the_95th_percentile_and_six_do_not() -> None:
    for lost, measured in ((5, 40), (6, None)):
        assert one("max_p95_ms", "40", ["u"] * lost + ["p"] * (100 - lost)).measured == measured


def test_a_rate_of_nothing_measures_nothing() -> None:
    assert (one("min_contract", "0.5", ["u", "u"]).measured, one("min_check", "0.5", ["c", "e"]).measured) == (None, None)


def test_only_slow_draws_breach_p95() -> None:
    grid = Tally(["t0000"], {}, ["treatment"], 2, "freeze-me-before-running")
    grid.add(row(draw=0, ms=100))
    grid.add(row(draw=1, ms=300))
    assert judge_limits(card(limit("max_p95_ms", "299.5"), draws=2), grid)[0].state == "breached"


# Conditional rates are judged on their own denominators; validity, not bounds, keeps them honest.
BOUNDED = sorted(LIMIT_NAMES - {"min_contract", "min_check", "max_counter"})
STRIP = st.text("pkcue", min_size=3, max_size=3)
ARM = st.lists(STRIP, min_size=3, max_size=3)


@given(ARM, ARM, st.sampled_from(BOUNDED), st.integers(0, 10), st.data())
def test_a_runner_error_never_helps_a_limit_nor_is_it_blamed(
    treatment: list[str], control: list[str], name: str, tenths: int, data: st.DataObject
) -> None:
    bound = str(tenths * 5) if name == "max_p95_ms" else f"0.{tenths}" if tenths < 10 else "1"
    scope = "between" if name in {"max_first_drop", "max_stable_drop", "max_flip_gain", "max_reach_gap"} else "treatment"
    before = one(name, bound, treatment, control, scope=scope).state
    arm = data.draw(st.sampled_from(["treatment", "control"]))
    item, draw, letter = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2)), data.draw(st.sampled_from("ue"))
    arms = {"treatment": list(treatment), "control": list(control)}
    lost = arms[arm][item]
    if lost[draw] in "ue":
        return
    arms[arm][item] = lost[:draw] + letter + lost[draw + 1 :]
    after = one(name, bound, arms["treatment"], arms["control"], scope=scope).state
    if name == "max_reach_gap":
        assert letter == "u" or after == before  # the gap itself is what is measured, in either direction
    elif name in {"min_reach", "max_runner_error_items"}:
        assert (before, after) not in {("breached", "held")}
    else:
        assert after in {before, "undecided"}


def completions(strip: str) -> list[str]:
    """What a strip may have been, had every draw of it got a verdict."""
    return ["".join(letters) for letters in product(*("pk" if letter in "ue" else letter for letter in strip))]


def share(name: str, strips: Sequence[str]) -> Fraction:
    passing = {
        "min_first_pass": lambda strip: strip[0] == "p",
        "min_stable_pass": lambda strip: set(strip) == {"p"},
        "max_flip_rate": lambda strip: "p" in strip and bool(set(strip) & set("kc")),
    }[name]
    return Fraction(sum(map(passing, strips)), len(strips))


@given(
    st.lists(
        st.tuples(st.text("pkcue", min_size=2, max_size=2), st.text("pkcue", min_size=2, max_size=2)), min_size=1, max_size=3
    ),
    st.sampled_from(["0", "0.25", "0.3333", "0.5", "0.67", "1"]),
    st.sampled_from(["min_first_pass", "min_stable_pass", "max_flip_rate"]),
    st.sampled_from(["max_first_drop", "max_stable_drop", "max_flip_gain"]),
)
def test_held_and_breached_are_what_every_outcome_of_the_lost_draws_would_say(
    pairs: list[tuple[str, str]], bound: str, name: str, between: str
) -> None:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    grid = tally({"treatment": ours, "control": theirs})
    source = {"max_first_drop": "min_first_pass", "max_stable_drop": "min_stable_pass", "max_flip_gain": "max_flip_rate"}[between]
    low = [share(name, strips) for strips in product(*map(completions, ours))]
    sides = [{share(source, strips) for strips in product(*map(completions, side))} for side in (ours, theirs)]
    moved = [(b - a) if "drop" in between else (a - b) for a, b in product(*sides)]
    limits = (limit(name, bound), limit(between, bound, "between"))
    results = judge_limits(card(*limits, draws=2, claim=sign("none")), grid)
    for result, values in zip(results, (low, moved), strict=True):
        holds = {value >= Fraction(bound) if result.limit.name[:3] == "min" else value <= Fraction(bound) for value in values}
        assert result.state == ("undecided" if len(holds) > 1 else "held" if holds == {True} else "breached")
