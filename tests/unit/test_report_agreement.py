"""One verdict object decides everything shown: comment, summary, terminal, results and outputs agree."""

from __future__ import annotations

import html
import json
import re

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.report_strategies import reports
from support.reports import GOLDEN, earned_ahead, rehearsal, small_single, synthetic, ungated_single, unreachable

from evalaction.errors import Outcome
from evalaction.method.numbers import Rate
from evalaction.method.report import Report
from evalaction.report.layout import mark_of
from evalaction.report.markdown import MARKS, comment, summary
from evalaction.report.outputs import outputs
from evalaction.report.results_json import results_json
from evalaction.report.text import render_text
from evalaction.schemas import load

ANY_REPORT = st.one_of(reports(), st.sampled_from(sorted(GOLDEN)).map(lambda name: GOLDEN[name]()))
VALIDATOR = jsonschema.Draft202012Validator(load("results"))


def shown(text: str) -> str:
    """What a reader sees: entities resolved, runs of white space as one space, no invisible breaks."""
    bare = html.unescape(re.sub(r"</?(code|sub|b|details|summary|br)>", "", text)).replace("\u200b", "").replace("\u00a0", " ")
    return re.sub(r"\s+", " ", bare)


@given(ANY_REPORT)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_all_renderers_say_the_same(report: Report) -> None:
    outcome = report.verdict.outcome
    tree = json.loads(results_json(report))
    told = outputs(report)
    pages = [shown(comment(report)), shown(summary(report)), shown(render_text(report, width=10_000))]
    assert tree["outcome"] == told["outcome"] == outcome.value
    assert tree["exit_code"] == outcome.exit_code
    assert all(f"outcome {outcome.value} (exit {outcome.exit_code})" in page for page in pages)
    assert tree["verdict"]["sign"] == report.verdict.sign == int(told["sign"])
    assert tree["verdict"]["earned"] == report.verdict.earned == (told["earned"] == "true")
    for arm, in_tree in zip(report.arms, tree["arms"], strict=True):
        rate = arm.columns.reach
        assert (in_tree["columns"]["reach"]["hits"], in_tree["columns"]["reach"]["total"]) == (rate.hits, rate.total)
        assert all(str(counts) in page for counts in _counts(report, arm.arm) for page in pages)
        if arm.arm == "treatment":
            assert told["reach"] == str(rate)
            assert told["first-pass"] == str(arm.draws.first).replace("–", "-")
            assert told["check"] == str(arm.columns.check)


def _counts(report: Report, name: str) -> list[object]:
    arm = next(arm for arm in report.arms if arm.arm == name)
    rates = arm.columns
    return [
        rates.reach,
        rates.contract,
        rates.check,
        rates.end_to_end,
        arm.draws.first,
        arm.draws.stable,
        arm.draws.flip or "n/a",
    ]


@given(ANY_REPORT)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_results_follow_the_published_schema(report: Report) -> None:
    text = results_json(report)
    VALIDATOR.validate(json.loads(text))
    assert text.isascii()


@given(ANY_REPORT)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_only_a_gated_pass_of_real_draws_looks_passed(report: Report) -> None:
    passed = (
        report.verdict.outcome is Outcome.PASS and report.gated and not {"NOT RUN", "SYNTHETIC", "REHEARSAL"} & {*report.titles}
    )
    assert (mark_of(report) == "pass") == passed
    assert (f"{MARKS['pass']} " in comment(report).splitlines()[0]) == passed or MARKS["pass"] in report.name
    assert json.loads(results_json(report))["mark"] == mark_of(report)


def test_titles_go_before_all_else() -> None:
    assert comment(small_single()).startswith("## SMALL (n=12) · ✅ ")
    assert comment(synthetic()).startswith("## SYNTHETIC · SMALL (n=12) · ⚪ ")
    assert comment(rehearsal()).startswith("## REHEARSAL · ⚪ ")
    assert comment(ungated_single()).startswith("## ⚪ ")
    assert render_text(small_single()).startswith("SMALL (n=12) · ✓ ")
    assert render_text(synthetic()).startswith("SYNTHETIC · SMALL (n=12) · ○ ")


def test_outputs_are_small_single_lines_and_empty_when_nothing_was_drawn() -> None:
    told = outputs(unreachable())
    assert told["outcome"] == "unreachable"
    assert told["breaks"] == "unreachable"
    assert {told[name] for name in ("first-pass", "stable-pass", "flip-rate", "reach", "contract", "check")} == {""}
    assert outputs(earned_ahead())["first-pass"] == "78/84"
    assert outputs(earned_ahead())["sign"] == "1"
    for make in GOLDEN.values():
        assert all(re.fullmatch(r"[A-Za-z0-9_.:+,/-]*", value) for value in outputs(make()).values())


def test_nothing_over_nothing_is_never_a_percentage() -> None:
    assert str(Rate(0, 0)) == "n/a"
    for make in GOLDEN.values():
        assert not re.search(r"\bNaN\b|\bInfinity\b|0/0", results_json(make()) + comment(make()))


@pytest.mark.parametrize("change", [{"extra": 1}, {"outcome": "passed"}, {"exit_code": 1}, {"items": 1.5}, {"mark": "green"}])
def test_the_schema_is_strict(change: dict[str, object]) -> None:
    tree = json.loads(results_json(earned_ahead()))
    assert VALIDATOR.is_valid(tree)
    assert not VALIDATOR.is_valid({**tree, **change})


def test_the_schema_refuses_a_direction_that_was_not_earned() -> None:
    tree = json.loads(results_json(earned_ahead()))
    tree["verdict"]["earned"] = False
    assert not VALIDATOR.is_valid(tree)
    tree["verdict"]["sign"] = 0
    assert VALIDATOR.is_valid(tree)
    jsonschema.Draft202012Validator.check_schema(load("results"))
