"""What the method builds, the renderers show: from rows to every page."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.runs import balanced, card, facts, limit, sign, tally

from evalaction.errors import Outcome
from evalaction.method.numbers import Threshold
from evalaction.method.report import Report
from evalaction.method.telling.summary import build_report
from evalaction.report.markdown import COMMENT_LIMIT, comment, size, summary
from evalaction.report.outputs import outputs
from evalaction.report.results_json import results_json
from evalaction.report.text import render_text
from evalaction.schemas import load

VALIDATOR = jsonschema.Draft202012Validator(load("results"))
STRIPS = st.lists(st.text("ppppkcue", min_size=3, max_size=3), min_size=80, max_size=80)


def built(treatment: list[str], control: list[str], claim: str) -> Report:
    margin = {"margin": Threshold.of("0.10")} if claim == "not_behind" else {}
    ids = balanced(40)
    limits = [
        limit("min_check", "0.9"),
        limit("max_flip_rate", "0.25", "control"),
        limit("max_stable_drop", "0.05", "between"),
        limit("max_reach_gap", "0.05", "between"),
        limit("max_runner_error_items", "3"),
        limit("max_p95_ms", "5000"),
    ]
    tags = {item: ("code",) if number % 3 else ("a|b",) for number, item in enumerate(ids)}
    grid = tally({"treatment": treatment, "control": control}, ids, tags)
    return build_report(card(*limits, draws=3, claim=sign(claim, **margin)), grid, facts(grid))


@given(STRIPS, STRIPS, st.sampled_from(["ahead", "differ", "not_behind", "none"]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_built_report_is_shown(treatment: list[str], control: list[str], claim: str) -> None:
    report = built(treatment, control, claim)
    VALIDATOR.validate(json.loads(results_json(report)))
    assert size(comment(report)) <= COMMENT_LIMIT
    assert outputs(report)["outcome"] == report.verdict.outcome.value
    for page in (comment(report), summary(report), render_text(report)):
        assert f"outcome {report.verdict.outcome.value}" in page


@pytest.mark.parametrize(
    ("lost", "outcome", "heading"),
    [(0, Outcome.PASS, "✅"), (20, Outcome.FAIL, "❌")],
)
def test_the_mark_follows_the_rows(lost: int, outcome: Outcome, heading: str) -> None:
    strips = ["kkk" if number % 40 < lost // 2 else "ppp" for number in range(80)]  # as many in each half
    report = built(strips, ["ppp"] * 80, "not_behind")
    assert report.verdict.outcome is outcome
    assert comment(report).startswith(f"## {heading} support-triage: ")


def test_a_run_of_lost_draws_looks_neither_passed_nor_failed() -> None:
    report = built(["upp"] * 30 + ["ppp"] * 50, ["ppp"] * 80, "not_behind")
    assert report.verdict.outcome is Outcome.INCONCLUSIVE
    assert comment(report).startswith("## ⚠️ support-triage: nothing can be said: ")
    assert "? " in render_text(report).splitlines()[0]
