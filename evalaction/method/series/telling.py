"""The sentences about a series: drift, its beginning, and what breaks or holds again."""

from __future__ import annotations

from fractions import Fraction

from evalaction.method.records import Sentence
from evalaction.method.series.drift import Drift
from evalaction.method.series.evidence import ALARM
from evalaction.method.series.trend import Trend
from evalaction.method.telling.words import count, listed


def evidence_text(value: Fraction) -> str:
    """`0.4`, `57`; never rounded up to the alarm, and never shown as nothing."""
    if value >= 1000:
        return "over 1,000"
    tenths = value * 10
    whole = tenths.numerator // tenths.denominator
    if not whole:
        return "under 0.1"
    return str(whole // 10) if value >= 100 or whole % 10 == 0 else f"{whole // 10}.{whole % 10}"


def drift_sentence(drift: Drift) -> Sentence:
    """What the evidence says so far, in one sentence."""
    if drift.seeded:
        return ("Drift: not watched, since a sampling seed is fixed and no draw is a fresh one.",)
    if not drift.nights:
        return ("Drift: no baseline yet; there is nothing to compare with.",)
    beside = "its control of the same run" if drift.paired else "fresh draws of earlier runs"
    worse = f"{count(drift.worse, 'first draw')} got worse and {drift.better:,} better"
    seen = (
        f"over {count(drift.nights, 'run')} {worse} beside {beside}; evidence {evidence_text(drift.evidence)}, alarm at {ALARM}"
    )
    return (f"Drift alarm: {seen}.",) if drift.alarm else (f"Drift: {seen}.",)


def beginning(trend: Trend) -> Sentence | None:
    """Why there is nothing older to compare with; None where there is."""
    first = len(trend.points) == 1
    if trend.began and first:
        return (f"A new series, since {listed(list(trend.began))} changed: earlier runs are not comparable.",)
    if trend.began:
        what = listed(list(trend.began))
        return (f"This series began on {trend.points[0].entry.day}, when {what} changed; earlier runs are not comparable.",)
    if first and not trend.left_out:
        return ("The first run of this series: no baseline.",)
    return None
