from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import SEED, balanced, card, endpoint, facts, limit, names, row, rows, say, sign, tally

from evalaction.errors import Outcome
from evalaction.method.card import Arm, Card
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.verdict import judge, weigh
from evalaction.method.numbers import Threshold
from evalaction.method.records import ARMS
from evalaction.method.report import Verdict

MARGIN = Threshold.of("0.10")
GOOD = ["p"] * 80
WORSE = (["k"] * 4 + ["p"] * 36) * 2
WORST = (["k"] * 8 + ["p"] * 32) * 2


def codes(verdict: Verdict) -> list[str]:
    return [found.code for found in verdict.breaks]


def paired(treatment: list[str], control: list[str], *limits: Any, claim: str = "differ", **fields: Any) -> Verdict:
    """Two arms of 40 items in each half; the first 40 strips are half 0."""
    grid = tally({"treatment": treatment, "control": control}, balanced(40))
    fields |= {"margin": MARGIN} if claim == "not_behind" else {}
    made = card(*limits, draws=len(treatment[0]), claim=sign(claim, **fields))
    return judge(made, grid, facts(grid, made))


def single(strips: list[str], *limits: Any, **changes: Any) -> Verdict:
    grid = tally({"treatment": strips})
    return judge(card(*limits, draws=len(strips[0]), **changes), grid, facts(grid))


@pytest.mark.parametrize(
    ("claim", "treatment", "control", "outcome", "broken", "seen"),
    [
        ("ahead", GOOD, WORSE, Outcome.PASS, [], 1),
        ("ahead", WORSE, GOOD, Outcome.FAIL, ["wrong_direction"], -1),
        ("ahead", GOOD, GOOD, Outcome.FAIL, ["gap_below_floor_or_unscored"], 0),
        ("differ", GOOD, WORSE, Outcome.PASS, [], 1),
        ("differ", WORSE, GOOD, Outcome.PASS, [], -1),
        ("differ", WORSE[:40] + GOOD[:40], GOOD[:40] + WORSE[:40], Outcome.FAIL, ["halves_disagree"], 0),
        ("not_behind", GOOD, GOOD, Outcome.PASS, [], 0),
        ("not_behind", GOOD, WORSE, Outcome.PASS, [], 1),
        ("not_behind", WORSE, GOOD, Outcome.FAIL, ["behind"], -1),
        ("not_behind", WORST[:40] + GOOD[:40], GOOD, Outcome.INCONCLUSIVE, ["not_shown"], 0),
    ],
)
def test_claims(claim: str, treatment: list[str], control: list[str], outcome: Outcome, broken: list[str], seen: int) -> None:
    verdict = paired(treatment, control, claim=claim)
    assert (verdict.outcome, codes(verdict), verdict.sign) == (outcome, broken, seen)
    assert verdict.claim_met is (outcome is Outcome.PASS)
    assert verdict.earned is (verdict.sign != 0)


def test_what_stands_beside_a_claim() -> None:
    seen = paired(GOOD, WORSE, claim="ahead")
    assert seen.half_signs == (1, 1) and seen.false_alarm is not None and 0 < seen.false_alarm.rate < 1
    grid = tally({"treatment": GOOD, "control": WORSE}, balanced(40))
    assert judge(card(claim=sign("none")), grid, facts(grid)).false_alarm is None


def test_the_deciding_break_is_the_first_of_the_outcomes_own_kind() -> None:
    grid = tally({"treatment": [*WORSE[:79], "u"], "control": GOOD}, balanced(40))
    made = card(limit("min_first_pass", "0.9"), claim=sign("ahead"))
    found = weigh(made, grid, facts(grid))
    assert found.verdict.outcome is Outcome.INCONCLUSIVE
    assert codes(found.verdict) == ["wrong_direction", "limit:treatment:min_first_pass:undecided"]
    assert found.deciding is found.verdict.breaks[1]


def test_under_not_behind_a_lead_that_is_missing_is_a_note() -> None:
    level = paired(GOOD, GOOD, claim="not_behind")
    assert [note.code for note in level.notes] == ["gap_below_floor_or_unscored"]
    split = paired(WORSE[:40] + GOOD[:40], GOOD[:40] + WORSE[:40], claim="not_behind")
    assert [note.code for note in split.notes] == ["halves_disagree"] and split.outcome is Outcome.PASS
    assert paired(GOOD, WORSE, claim="not_behind").notes == ()


def test_a_floor_that_one_item_clears_is_said() -> None:
    wobble = (["k"] + ["p"] * 39) * 2
    earned = paired(GOOD, wobble, min_item_gap=1)
    assert earned.earned and [note.code for note in earned.notes] == ["floor_is_one_item"]
    assert "the floor 0.02 is one item or less" in say(earned.notes[0].sentence)
    assert paired(GOOD, GOOD, min_item_gap=1).notes == () and paired(GOOD, WORSE).notes == ()
    assert paired(GOOD, WORSE, min_item_gap=1, min_abs_gap=Threshold.of("0.03")).notes == ()
    on_it = paired(GOOD, WORSE, min_item_gap=1, min_abs_gap=Threshold.of("0.025"))  # 1 of 40
    assert [note.code for note in on_it.notes] == ["floor_is_one_item"]


def test_behind_needs_no_agreement_of_the_paired_items() -> None:
    # Both halves have control ahead only because of what it lost.
    control = (["u"] * 2 + ["p"] * 38) * 2
    treatment = (["k"] * 2 + ["p"] * 38) * 2
    verdict = paired(treatment, control, claim="not_behind")
    assert (verdict.outcome, codes(verdict), verdict.earned) == (Outcome.FAIL, ["behind"], False)
    # And the reverse: level as scored, behind on what both scored.
    hidden = paired((["k"] * 2 + ["p"] * 38) * 2, (["p"] * 38 + ["k", "u"]) * 2, claim="not_behind", min_item_gap=1)
    assert hidden.outcome is Outcome.FAIL and codes(hidden) == ["behind"]


def test_not_shown_says_bound_margin_and_how_many_items() -> None:
    verdict = paired((["k"] * 3 + ["p"] * 37) * 2, GOOD, claim="not_behind", min_abs_gap=Threshold.of("0.2"))
    assert codes(verdict) == ["not_shown"] and verdict.bound is not None and verdict.bound.enough_items == 345
    assert say(verdict.breaks[0].sentence) == (
        "On 80 items the treatment may be behind by 12.9 points (one-sided 95 %); the claim allows 10 points; "
        "about 345 items like these would show it."
    )
    hopeless = paired(WORST, GOOD, claim="not_behind", min_abs_gap=Threshold.of("0.5"))
    assert "no number of items like these would show it" in say(hopeless.breaks[0].sentence)


@pytest.mark.parametrize("claim", ["ahead", "differ", "not_behind"])
def test_data_that_are_not_valid_cannot_speak(claim: str) -> None:
    verdict = paired(["u"] * 3 + ["p"] * 77, WORST, claim=claim)
    assert (verdict.outcome, verdict.earned, verdict.sign, verdict.claim_met) == (Outcome.INCONCLUSIVE, False, 0, False)
    assert codes(verdict) == ["treatment.h0:transport"]


def test_claim_none_judges_any_size_and_no_direction() -> None:
    grid = tally({"treatment": ["p"] * 12, "control": ["k"] * 12})
    verdict = judge(card(claim=sign("none")), grid, facts(grid))
    assert (verdict.outcome, verdict.half_signs, verdict.claim_met, verdict.breaks) == (Outcome.PASS, None, None, ())
    lost = tally({"treatment": ["p"] * 12, "control": ["k"] * 11 + ["u"]})
    assert codes(judge(card(claim=sign("none")), lost, facts(lost))) == ["control:transport"]


def test_a_small_exam_claims_nothing() -> None:
    grid = tally({"treatment": ["p"] * 20, "control": ["k"] * 20}, balanced(10))
    verdict = judge(card(claim=sign("ahead", min_items_per_half=5)), grid, facts(grid))
    assert (verdict.outcome, verdict.earned, codes(verdict)) == (Outcome.INCONCLUSIVE, False, ["small_exam"])
    for items, small in ((29, True), (30, False)):
        grid = tally({"treatment": ["p"] * items, "control": ["k"] * items}, balanced(15)[:items])
        verdict = judge(card(claim=sign("ahead", min_items_per_half=5)), grid, facts(grid))
        assert (codes(verdict) == ["small_exam"], verdict.earned) == (small, not small)


def test_one_arm_is_judged_by_its_limits() -> None:
    held = single(["p"] * 40, limit("min_first_pass", "0.9"))
    assert (held.outcome, held.earned, held.half_signs, held.claim_met) == (Outcome.PASS, False, None, None)
    failed = single(["k"] * 40, limit("min_first_pass", "0.9"), limit("min_check", "0.5"))
    assert failed.outcome is Outcome.FAIL
    assert codes(failed) == ["limit:treatment:min_first_pass", "limit:treatment:min_check"]


def test_half_the_calls_lost_is_never_green() -> None:
    verdict = single(["p", "u"] * 20, limit("min_check", "0.9"))
    assert (verdict.outcome, codes(verdict)) == (Outcome.INCONCLUSIVE, ["treatment:transport"])


def test_an_undecided_limit_or_one_of_reach_cannot_speak_and_outranks_a_failure() -> None:
    strips = ["k"] * 2 + ["p"] * 37 + ["u"]
    undecided = single(strips, limit("min_first_pass", "0.95"))
    assert (undecided.outcome, codes(undecided)) == (Outcome.INCONCLUSIVE, ["limit:treatment:min_first_pass:undecided"])
    reach = single(strips, limit("min_check", "1"), limit("min_reach", "0.99"), limit("max_runner_error_items", "0"))
    assert reach.outcome is Outcome.INCONCLUSIVE
    assert codes(reach) == [f"limit:treatment:{name}" for name in ("min_check", "min_reach", "max_runner_error_items")]
    gap = paired(["u"] + ["p"] * 79, GOOD, limit("max_reach_gap", "0.01", "between"), claim="not_behind")
    assert (gap.outcome, codes(gap)) == (Outcome.INCONCLUSIVE, ["limit:between:max_reach_gap"])


def test_an_arm_that_never_reached_is_unreachable_and_has_no_rates() -> None:
    grid = Tally(names(40), {}, ARMS, 5, SEED)
    for one in rows({"treatment": ["u"] * 40, "control": ["p"] * 40}):
        grid.add(one)
    found = weigh(card(draws=5, claim=sign("none")), grid, facts(grid, ended="unreachable", sent=80, written=80))
    assert (found.verdict.outcome, found.judged, found.split, found.limits) == (Outcome.UNREACHABLE, False, None, ())
    assert codes(found.verdict) == ["treatment:unreachable"] and (found.verdict.earned, found.verdict.sign) == (False, 0)
    assert say(found.verdict.breaks[0].sentence) == (
        "treatment: none of 40 first draws reached endpoint ‹main› (‹status:503› × 40)."
    )
    assert found.verdict.outcome.exit_code == 7


def test_both_arms_can_be_unreachable() -> None:
    assert codes(paired(["u"] * 80, ["u"] * 80)) == ["treatment:unreachable", "control:unreachable"]
    assert single(["u"] * 40, limit("min_reach", "1")).outcome is Outcome.UNREACHABLE


@pytest.mark.parametrize(
    ("ended", "sealed", "words"),
    [
        ("complete", True, "rows are missing from it"),
        ("deadline", True, "the run's deadline passed"),
        ("interrupted", False, "the run was interrupted"),
        ("disk", False, "the disk was full"),
        ("unreachable", True, "the run was ended after draw 0"),
    ],
)
def test_a_partial_grid_is_not_a_result(ended: str, sealed: bool, words: str) -> None:
    grid = Tally(names(40), {}, ARMS, 2, SEED)
    for one in list(rows({"treatment": ["pp"] * 40, "control": ["pp"] * 40}))[:-1]:
        grid.add(one)
    found = weigh(card(draws=2, claim=sign("none")), grid, facts(grid, ended=ended, sealed=sealed))
    assert (found.verdict.outcome, codes(found.verdict), found.judged) == (Outcome.INCONCLUSIVE, ["partial_grid"], False)
    assert say(found.verdict.breaks[0].sentence) == (
        f"A partial grid is not a result: 159 of 160 draws are on disk; {words}. Missing: ‹t0039› control draw 1."
    )


def test_more_missing_draws_are_counted() -> None:
    grid = Tally(names(3), {}, ["treatment"], 2, SEED)
    grid.add(row("t0000"))
    verdict = judge(card(draws=2), grid, facts(grid, ended="deadline"))
    assert say(verdict.breaks[0].sentence).endswith(
        "Missing: ‹t0001› treatment draw 0, ‹t0002› treatment draw 0, ‹t0000› treatment draw 1 and 2 more."
    )


def test_a_whole_grid_without_a_seal_is_no_result_but_a_rehearsal_has_none() -> None:
    grid = tally({"treatment": ["p"] * 40})
    unsealed = judge(card(), grid, facts(grid, sealed=False))
    assert codes(unsealed) == ["partial_grid"] and say(unsealed.breaks[0].sentence).endswith("; the run is not sealed.")
    assert judge(card(), grid, facts(grid, sealed=False, rehearsal=True)).outcome is Outcome.PASS


def test_scripted_replies_never_earn() -> None:
    grid = tally({"treatment": GOOD, "control": WORSE}, balanced(40))
    scripted = {"main": endpoint(api="scripted"), "local": endpoint("local")}
    made = card(claim=sign("ahead"), endpoints=scripted)
    verdict = judge(made, grid, facts(grid, made))
    assert (verdict.outcome, verdict.earned, verdict.sign, verdict.claim_met) == (Outcome.INCONCLUSIVE, False, 0, False)
    assert codes(verdict) == ["synthetic"]
    assert judge(made, grid, facts(grid, made, synthetic_allowed=True)).outcome is Outcome.PASS
    unused = card(endpoints=scripted, treatment=Arm(endpoint="local"))
    lone = tally({"treatment": ["p"] * 40})
    assert judge(unused, lone, facts(lone, unused)).outcome is Outcome.PASS


def cached(**changes: Any) -> Verdict:
    grid = Tally(names(40), {}, ["treatment"], 2, SEED)
    for number, one in enumerate(rows({"treatment": ["pp"] * 40})):
        grid.add(replace(one, **({"response_id": f"r{number}", "body_sha256": "x"} | (changes if number < 2 else {}))))
    return judge(card(draws=2), grid, facts(grid))


def test_draws_from_a_cache_cannot_speak() -> None:
    header = cached(cache_hit="x-cache")
    assert (header.outcome, codes(header)) == (Outcome.INCONCLUSIVE, ["cached_draws"])
    assert "2 replies came from a cache by their own headers (‹x-cache› × 2)" in say(header.breaks[0].sentence)
    replay = cached(response_id="same")
    assert codes(replay) == ["cached_draws"] and "1 reply repeated an earlier one" in say(replay.breaks[0].sentence)
    assert cached().outcome is Outcome.PASS


def test_a_repeated_id_alone_is_a_note() -> None:
    grid = Tally(names(40), {}, ["treatment"], 2, SEED)
    for one in rows({"treatment": ["pp"] * 40}):
        grid.add(replace(one, response_id="r", body_sha256=str(one.draw)))
    verdict = judge(card(draws=2), grid, facts(grid))
    assert verdict.outcome is Outcome.PASS and [note.code for note in verdict.notes] == ["repeated_response_ids"]
    assert say(verdict.notes[0].sentence).startswith("40 replies carried a response id already seen")
    once = Tally(names(40), {}, ["treatment"], 2, SEED)
    for number, one in enumerate(rows({"treatment": ["pp"] * 40})):
        once.add(replace(one, response_id="r" if number < 2 else str(number), body_sha256=str(number)))
    assert say(judge(card(draws=2), once, facts(once)).notes[0].sentence).startswith("1 reply carried")


def test_three_in_a_hundred_lost_and_a_model_that_is_never_wrong() -> None:
    strips = ["ppppp"] * 72 + ["ppupp"] * 12
    grid = tally({"treatment": strips})
    limits = [limit("min_stable_pass", "0.90"), limit("max_flip_rate", "0.10"), limit("min_contract", "0.98")]
    verdict = judge(card(*limits, draws=5), grid, facts(grid))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert codes(verdict) == ["limit:treatment:min_stable_pass:undecided", "limit:treatment:max_flip_rate:undecided"]
    assert all("status:503" in say(found.sentence) for found in verdict.breaks)


def test_a_checker_that_fails_is_not_the_models_failure() -> None:
    verdict = paired((["e"] * 3 + ["p"] * 37) * 2, GOOD, claim="differ")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert codes(verdict) == ["treatment.h0:unscored_mass", "treatment.h1:unscored_mass"]


def test_an_arm_of_nothing_but_failures_is_judged() -> None:
    assert paired(["k"] * 80, GOOD, claim="differ").sign == -1
    assert codes(paired(["c"] * 80, ["k"] * 80, claim="differ")) == ["gap_below_floor_or_unscored"]


def test_at_every_k_a_lost_draw_blocks_stable_and_k_never_shrinks() -> None:
    verdict = single(["pppu"] + ["pppp"] * 39, limit("min_stable_pass", "1"))
    assert codes(verdict) == ["limit:treatment:min_stable_pass:undecided"]


LETTERS = st.text("pppkcue", min_size=2, max_size=2)


def loose(claim: str) -> Card:
    limits = [limit("min_stable_pass", "0.5"), limit("max_first_drop", "0.3", "between")]
    margin = {"margin": Threshold.of("0.6")} if claim == "not_behind" else {}
    return card(*limits, draws=2, claim=sign(claim, min_items_per_half=1, min_item_gap=1, **margin))


@given(
    st.lists(LETTERS, min_size=30, max_size=30),
    st.lists(LETTERS, min_size=30, max_size=30),
    st.sampled_from(["ahead", "not_behind"]),
)
def test_one_verdict_never_contradicts_itself(treatment: list[str], control: list[str], claim: str) -> None:
    grid = tally({"treatment": treatment, "control": control})
    found = weigh(loose(claim), grid, facts(grid))
    verdict = found.verdict
    assert (verdict.sign != 0) is verdict.earned
    assert (verdict.outcome is Outcome.PASS) is (not verdict.breaks) is (found.deciding is None)
    assert found.deciding is None or found.deciding in verdict.breaks
    if verdict.outcome is Outcome.PASS:
        assert verdict.claim_met and all(result.state == "held" for result in found.limits)
    if verdict.outcome is Outcome.FAIL:
        assert found.split is not None and not found.split.invalid


@given(st.lists(LETTERS, min_size=30, max_size=30), st.lists(LETTERS, min_size=30, max_size=30), st.randoms())
def test_the_order_of_items_and_rows_changes_no_verdict(treatment: list[str], control: list[str], order: Any) -> None:
    first = tally({"treatment": treatment, "control": control})
    ids = names(30)
    order.shuffle(ids)
    second = Tally(ids, {}, ARMS, 2, SEED)
    shuffled = list(rows({"treatment": treatment, "control": control}))
    order.shuffle(shuffled)
    for one in shuffled:
        second.add(one)
    ours, theirs = (judge(loose("ahead"), grid, facts(grid)) for grid in (first, second))
    assert ours == theirs
