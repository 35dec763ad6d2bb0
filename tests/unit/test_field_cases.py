"""Mistakes that other evaluation tools made with numbers, each with the input that showed it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.runs import balanced, card, facts, limit, names, row, rows, say, sign, tally

from evalaction.errors import Outcome
from evalaction.method.counting.tally import GridError, Tally
from evalaction.method.judging.verdict import judge
from evalaction.method.numbers import Bounded
from evalaction.method.records import ARMS, Columns
from evalaction.method.telling.summary import build_report


def test_errored_draws_stay_in_the_denominator() -> None:
    grid = tally({"treatment": ["p", "p", "u", "u", "k", "k", "k", "k"]})
    arm = build_report(card(), grid, facts(grid)).arms[0]
    assert (str(arm.columns.end_to_end), str(arm.columns.reach), arm.draws.first) == ("2/8", "6/8", Bounded(2, 4, 8))


def test_one_pass_and_one_error_read_one_of_two_everywhere() -> None:
    grid = tally({"treatment": ["p", "u"]}, tags={"t0000": ["a"], "t0001": ["a"]})
    arm = build_report(card(), grid, facts(grid)).arms[0]
    assert str(arm.columns.end_to_end) == str(arm.first_columns.end_to_end) == str(arm.by_tag[0].columns.end_to_end) == "1/2"


def test_an_unreached_draw_blocks_stable_is_no_flip_and_k_stays() -> None:
    grid = tally({"treatment": ["pppu"]})
    arm = build_report(card(draws=4), grid, facts(grid)).arms[0]
    assert (arm.draws.stable, arm.draws.flip, str(arm.columns.reach)) == (Bounded(0, 1, 1), Bounded(0, 1, 1), "3/4")


def test_a_checker_that_crashes_in_one_arm_only_is_neither_pass_nor_fail() -> None:
    grid = tally({"treatment": ["e"] + ["p"] * 79, "control": ["p"] * 80}, balanced(40))
    report = build_report(card(claim=sign("ahead")), grid, facts(grid))
    treatment = report.arms[1]
    assert treatment.columns.checker_errors == 1 and str(treatment.columns.check) == "79/79"
    assert report.discordant["check"] == (0, 0) and report.pairs == ()


def test_empty_replies_in_one_arm_never_read_as_quality() -> None:
    grid = Tally(names(100), {}, ARMS, 1, "freeze-me-before-running")
    for number, draw in enumerate(rows({"treatment": ["p"] * 100, "control": ["p"] * 100})):
        grid.add(replace(draw, columns=Columns(False, "empty:length")) if 0 < number < 100 else draw)
    report = build_report(card(limit("min_check", "0.9"), claim=sign("none")), grid, facts(grid))
    assert report.verdict.outcome is Outcome.INCONCLUSIVE
    assert [found.code for found in report.verdict.breaks] == ["treatment:transport"]
    assert report.arms[1].reasons["reach"] == (("empty:length", 99),)
    assert "raise `max_tokens`" in say(report.todo or ())


def test_unmatched_draws_are_never_compared() -> None:
    strips = {"treatment": ["pp"] * 40, "control": ["pp"] * 40}
    grid = Tally(names(40), {}, ARMS, 2, "freeze-me-before-running")
    for draw in [one for one in rows(strips) if (one.arm, one.item, one.draw) != ("control", "t0007", 1)]:
        grid.add(draw)
    report = build_report(card(draws=2, claim=sign("none")), grid, facts(grid))
    assert report.verdict.outcome is Outcome.INCONCLUSIVE and report.arms == () and report.pairs == ()
    assert "‹t0007› control draw 1" in say(report.verdict.breaks[0].sentence)


@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_with_a_task_too_many_is_refused(arm: str) -> None:
    grid = tally({"treatment": ["p"], "control": ["p"]})
    with pytest.raises(GridError):
        grid.add(row("t0099", arm))  # type: ignore[arg-type]


def test_one_survivor_of_ten_holds_no_limit() -> None:
    grid = tally({"treatment": ["u"] * 9 + ["p"]})
    for name in ("min_first_pass", "min_check"):
        assert judge(card(limit(name, "0.9")), grid, facts(grid)).outcome is Outcome.INCONCLUSIVE


def test_nothing_of_nothing_is_not_a_hundred_percent() -> None:
    grid = tally({"treatment": ["u"] * 2 + ["c"] * 38})
    columns = build_report(card(), grid, facts(grid)).arms[0].columns
    assert (str(columns.check), columns.check.value) == ("n/a", None)


def test_draws_are_grouped_by_item_id_whatever_order_they_finished_in() -> None:
    strips = {"treatment": ["pk", "kp"]}
    grid = Tally(names(2), {}, ["treatment"], 2, "freeze-me-before-running")
    for draw in sorted(rows(strips), key=lambda one: (-one.draw, one.item)):
        grid.add(draw)
    assert grid.sides["treatment"].strip(0) == b"pk" and grid.sides["treatment"].strip(1) == b"kp"


@pytest.mark.parametrize(("strip", "stable"), [("p" * 9 + "k", (0, 0)), ("pppuu", (0, 1)), ("p" * 10, (1, 1))])
def test_stable_is_literally_every_draw(strip: str, stable: tuple[int, int]) -> None:
    grid = tally({"treatment": [strip]})
    assert build_report(card(draws=len(strip)), grid, facts(grid)).arms[0].draws.stable == Bounded(*stable, 1)


@pytest.mark.parametrize("items", [1, 2, 4])
def test_at_tiny_sizes_no_sign_is_earned(items: int) -> None:
    grid = tally({"treatment": ["p"] * items, "control": ["k"] * items})
    verdict = judge(card(claim=sign("ahead")), grid, facts(grid))
    assert (verdict.earned, verdict.sign, verdict.outcome) == (False, 0, Outcome.INCONCLUSIVE)


@pytest.mark.parametrize("letter", "pk")
def test_all_ties_earn_nothing(letter: str) -> None:
    grid = tally({"treatment": [letter] * 80, "control": [letter] * 80}, balanced(40))
    assert judge(card(claim=sign("differ")), grid, facts(grid)).sign == 0


def test_a_sign_earned_in_one_half_and_reversed_in_the_other_is_none() -> None:
    lead, trail = ["p"] * 40, ["k"] * 5 + ["p"] * 35
    grid = tally({"treatment": lead + trail, "control": trail + lead}, balanced(40))
    assert [found.code for found in judge(card(claim=sign("ahead")), grid, facts(grid)).breaks] == ["halves_disagree"]
