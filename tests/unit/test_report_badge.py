"""The badge: what shields.io's endpoint reads, in fixed words and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from support.report_strategies import reports
from support.reports import GOLDEN, earned_ahead, hostile, not_run, small_single, synthetic, transport, unchanged, ungated_single

from evalaction.errors import Outcome
from evalaction.method.report import Report
from evalaction.report.badge import badge, badge_json

# What https://shields.io/badges/endpoint-badge documents: two texts, the rest optional, nothing else allowed.
SHIELDS = {
    "type": "object",
    "properties": {
        "schemaVersion": {"const": 1},
        "label": {"type": "string"},
        "message": {"type": "string", "minLength": 1},
        "color": {"type": "string"},
        "labelColor": {"type": "string"},
        "isError": {"type": "boolean"},
        "namedLogo": {"type": "string"},
        "logoSvg": {"type": "string"},
        "logoColor": {"type": "string"},
        "logoSize": {"type": "string"},
        "style": {"type": "string"},
        "cacheSeconds": {"type": "integer", "minimum": 0},
    },
    "required": ["schemaVersion", "label", "message"],
    "additionalProperties": False,
}
NAMED = {"brightgreen", "green", "yellow", "orange", "red", "blue", "lightgrey", "success", "important", "critical"}
NAMED |= {"informational", "inactive"}


@given(reports())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_badge_is_one_that_shields_reads(report: Report) -> None:
    held = json.loads(badge_json(report))
    jsonschema.validate(held, SHIELDS)
    assert held["color"] in NAMED
    assert held["isError"] == (report.verdict.outcome.exit_code != 0)
    assert held["color"] != "success" or report.verdict.outcome is Outcome.PASS


@pytest.mark.parametrize("make", GOLDEN.values(), ids=GOLDEN)
def test_only_fixed_words_and_numbers(make: Callable[[], Report]) -> None:
    assert re.fullmatch(r"[A-Za-z0-9 ()=·/.%–]+", str(badge(make())["message"]))


def test_what_it_says() -> None:
    assert badge(earned_ahead())["message"] == "pass · stable 74/84 88.1 %"
    assert badge(small_single())["message"] == "SMALL (n=12) · pass · stable 10/12 83.3 %"
    assert badge(ungated_single())["message"] == "measured · stable 57/64 89.1 %"  # nothing was gated, so nothing passed
    assert badge(synthetic())["color"] == "informational"
    assert badge(transport())["message"] == "inconclusive · stable 20–71/84"
    assert badge(not_run())["message"] == "NOT RUN · not run"
    assert badge(unchanged()) | {"message": ""} == {
        "schemaVersion": 1, "label": "evalaction", "message": "", "color": "informational", "isError": False,
    }  # fmt: skip
    assert "script" not in badge_json(hostile())
