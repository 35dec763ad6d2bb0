"""Report → the action's outputs that describe the verdict: small, one line each, no model text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalaction.method.numbers import Bounded, Rate
from evalaction.method.report import Report

_NOT_A_CODE = re.compile(r"[^A-Za-z0-9_.:+-]", re.ASCII)


def outputs(report: Report) -> Mapping[str, str]:
    """Output name to value.

    Rates are the treatment's, as `311/320`; a count that lost draws leave open as `44-45/64`. Empty when nothing was drawn.
    `breaks` is a list of codes with commas; a character of a tag that is no part of a code becomes `_`.
    """
    verdict = report.verdict
    treatment = next((arm for arm in report.arms if arm.arm == "treatment"), None)
    source = report.provenance
    return {
        "outcome": verdict.outcome.value,
        "earned": "true" if verdict.earned else "false",
        "sign": str(verdict.sign),
        "breaks": ",".join(_NOT_A_CODE.sub("_", entry.code) for entry in verdict.breaks),
        "first-pass": _counts(treatment.draws.first if treatment else None),
        "stable-pass": _counts(treatment.draws.stable if treatment else None),
        "flip-rate": _counts(treatment.draws.flip if treatment else None),
        "reach": _counts(treatment.columns.reach if treatment else None),
        "contract": _counts(treatment.columns.contract if treatment else None),
        "check": _counts(treatment.columns.check if treatment else None),
        "question-digest": source.question_digest or "",
        "exam-id": source.exam_id or "",
        "card-sha256": source.card_sha256 or "",
    }


def _counts(value: Rate | Bounded | None) -> str:
    return "" if value is None else str(value).replace("–", "-")
