"""Report → `badge.json` for shields.io's endpoint badge: fixed words and numbers, never a name."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evalaction.errors import Outcome
from evalaction.method.report import Report
from evalaction.report import figures
from evalaction.report.layout import mark_of, titles_of

COLOURS: Mapping[str, str] = {
    "pass": "success",
    "fail": "critical",
    "inconclusive": "important",
    "unreachable": "important",
    "refused": "critical",
    "stopped": "inactive",
    "neutral": "informational",
}


def badge(report: Report) -> dict[str, object]:
    """The badge as plain JSON values: `fail · stable 44–45/64`."""
    mark = mark_of(report)
    outcome = report.verdict.outcome
    ungated = outcome is Outcome.PASS and not report.gated
    words = [*titles_of(report), "measured" if ungated else outcome.value.replace("_", " ")]
    treatment = next((arm for arm in report.arms if arm.arm == "treatment"), None)
    if treatment:
        words.append(f"stable {figures.bounded(treatment.draws.stable)}")
    return {
        "schemaVersion": 1,
        "label": "evalaction",
        "message": " · ".join(words),
        "color": COLOURS[mark],
        "isError": mark not in {"pass", "neutral"},
    }


def badge_json(report: Report) -> str:
    return json.dumps(badge(report), ensure_ascii=False) + "\n"
