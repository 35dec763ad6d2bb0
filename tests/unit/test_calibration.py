"""The card of an A/A run, the cost of many, and what they show together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import cards, reports, runs

from evalaction import schemas
from evalaction.errors import UsageError
from evalaction.method.calibration import all_runs, calibrated, calibration_card, speaks
from evalaction.method.cards.parse import parse_card
from evalaction.method.judging.false_alarm import false_alarm
from evalaction.method.plan import ArmCost, Plan
from evalaction.method.records import Break
from evalaction.method.report import CALIBRATION, FalseAlarm, Provenance, Report
from evalaction.method.telling.callouts import plain_callouts


def made(changes: dict[str, Any] | None = None) -> Any:
    data = calibration_card(cards.text(cards.two_arms(changes)), file="card.yaml")
    return parse_card(data, file="card.yaml", schema=schemas.load("card"))


def test_the_treatment_stands_in_both_arms() -> None:
    card = made({"limits": {"min_stable_pass": 0.9}})
    assert card.control == card.treatment and card.limits == ()


@pytest.mark.parametrize(
    ("sign", "claim"),
    [({"claim": "none"}, "differ"), ({"claim": "ahead"}, "ahead"), ({"claim": "not_behind", "margin": 0.1}, "not_behind")],
)
def test_the_sign_keeps_its_rule(sign: dict[str, Any], claim: str) -> None:
    more = {"seed": "s", "metric": "mean", "min_abs_gap": 0.05, "items": "changed"}
    card = made({"sign": sign | more})
    assert card.sign.claim == claim and (card.sign.seed, card.sign.metric) == ("s", "mean")
    assert card.sign.min_abs_gap.text == "0.05" and card.sign.items == "all"


def test_numbers_and_hashes_keep_their_text() -> None:
    yaml = (
        b"protocol: evalaction/1\nname: n\nexam: {tasks: t.jsonl, data: public, sha256: '" + b"0" * 64 + b"'}\n"
        b"endpoints: {main: {api: openai, url_env: U, model: m, params: {temperature: 0.20}}}\n"
        b"arms: {treatment: {endpoint: main}, control: base}\ndraws: {count: 2, timeout_ms: 1000}\n"
        b"sign: {claim: not_behind, margin: 0.10, seed: x}\n"
    )
    text = calibration_card(yaml, file="card.yaml").decode()
    assert '"temperature":0.20' in text and f'"sha256":"{"0" * 64}"' in text and '"margin":0.10' in text
    card = parse_card(text.encode(), file="card.yaml", schema=schemas.load("card"))
    assert card.elsewhere is None and card.control == card.treatment


def test_a_card_without_a_sign_is_refused() -> None:
    with pytest.raises(UsageError, match="one arm and no `sign`"):
        calibration_card(cards.text(cards.card()), file="card.yaml")


@given(st.integers(1, 50), st.one_of(st.none(), st.integers(0, 999)), st.one_of(st.none(), st.fractions(0, 9)))
def test_many_runs_cost_as_many_times_as_much(times: int, out: int | None, usd: Fraction | None) -> None:
    cost = ArmCost(arm="treatment", endpoint="main", calls=10, input_tokens=70, output_tokens=out, usd=usd)
    plan = Plan(
        items=5, left_out=0, draws=2, costs=(cost, cost), halves=None, floor=None, add_items=0,
        slots=1, timeout_ms=1, per_minute=None, deadline_ms=1,
    )  # fmt: skip
    total = all_runs(plan, times)
    assert total.calls == times * plan.calls and total.input_tokens == times * plan.input_tokens
    assert total.tokens == (None if plan.tokens is None else times * plan.tokens)
    assert total.usd == (None if plan.usd is None else times * plan.usd)
    assert (total.items, total.draws) == (plan.items, plan.draws)


def report(sign: int = 0, alarm: FalseAlarm | None = None, **changes: Any) -> Report:
    base = reports.earned_ahead()
    verdict = replace(base.verdict, earned=sign != 0, sign=sign, false_alarm=alarm, **changes)
    return replace(base, verdict=verdict)


def test_runs_are_summed_up() -> None:
    low, high = FalseAlarm(rate=0.1, pass_rate=0.8, shared=0.2), FalseAlarm(rate=0.2, pass_rate=0.6, shared=0.4)
    sign = runs.sign("differ", metric="first")
    found = calibrated([report(1, low), report(0, high), report(-1, low), report(1, high)], sign, 1)
    assert (found.spoke, found.ahead, found.behind, found.earned, found.share) == (4, 2, 1, 3, Fraction(3, 4))
    assert found.computed is not None and found.computed.pass_rate == pytest.approx(0.7)
    assert found.computed.rate == pytest.approx(false_alarm((41, 43), sign, 1, pass_rate=0.7, shared=0.3))


def test_invalid_data_earn_nothing_and_say_nothing() -> None:
    sign = runs.sign("differ")
    half = reports.earned_ahead().halves[0]
    lost = replace(half, treatment=replace(half.treatment, reasons=("transport",)))
    silent = [
        replace(report(), halves=()),
        replace(report(), halves=(lost, half)),
        report(breaks=(Break("cached_draws", ("x",)),)),
    ]
    assert not any(map(speaks, silent))
    found = calibrated(silent, sign, 1)
    assert (found.spoke, found.earned, found.share, found.computed) == (0, 0, None, None)
    assert calibrated([report(1)], sign, 1).computed is None


def test_the_report_says_what_it_is() -> None:
    tally = runs.one_arm("p")
    marked = Provenance(tool_version="0", inputs={CALIBRATION: "1 of 2"})
    assert any("one arm against itself" in runs.say(said) for said in plain_callouts(runs.facts(tally, provenance=marked)))
    assert not any("itself" in runs.say(said) for said in plain_callouts(runs.facts(tally)))
