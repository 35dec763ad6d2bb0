"""A/A: one arm against itself under the card's own sign rule. Whatever direction such a run earns, it earns out of nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from evalaction.errors import UsageError
from evalaction.method.canonical import dumps
from evalaction.method.card import Sign
from evalaction.method.cards.parse import read_card
from evalaction.method.judging.false_alarm import false_alarm
from evalaction.method.plan import Plan
from evalaction.method.report import FalseAlarm, Report


def calibration_card(data: bytes, *, file: str) -> bytes:
    """The card of an A/A run, as JSON: the treatment stands in both arms, and there are no limits.

    Seed, metric and floors of the sign stay; `claim: none` becomes `differ`, since a direction is what is asked for.
    Raises UsageError for a card without `sign`, which has no rule that could earn one, SourceError for one that is no card.
    """
    card: Any = read_card(data, file=file).value
    if "sign" not in card:
        raise UsageError(f"{file} has one arm and no `sign`, so it can earn none; calibrate a card that compares two arms.")
    sign = {name: value for name, value in card["sign"].items() if name != "items"}
    if sign["claim"] == "none":
        sign["claim"] = "differ"
    arms = {"treatment": card["arms"]["treatment"], "control": card["arms"]["treatment"]}
    kept = {name: value for name, value in card.items() if name != "limits"}
    return (dumps(kept | {"arms": arms, "sign": sign}, sort_keys=False) + "\n").encode()


def all_runs(plan: Plan, times: int) -> Plan:
    """The cost of `times` runs together, for budget and allowance."""
    return replace(
        plan,
        costs=tuple(
            replace(
                cost,
                calls=cost.calls * times,
                input_tokens=cost.input_tokens * times,
                output_tokens=None if cost.output_tokens is None else cost.output_tokens * times,
                usd=None if cost.usd is None else cost.usd * times,
            )
            for cost in plan.costs
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibrated:
    """What A/A runs of one card showed."""

    spoke: int
    """Runs whose data were valid."""
    ahead: int
    """Of them, those that earned +1 out of nothing."""
    behind: int
    computed: FalseAlarm | None
    """At the mean pass rate and correlation of these runs; None where no run spoke."""

    @property
    def earned(self) -> int:
        return self.ahead + self.behind

    @property
    def share(self) -> Fraction | None:
        return Fraction(self.earned, self.spoke) if self.spoke else None


def calibrated(reports: Sequence[Report], sign: Sign, draws: int) -> Calibrated:
    """Sum up runs of one calibration card. A run whose data were invalid earned nothing and says nothing."""
    spoke = [report for report in reports if speaks(report)]
    signs = [report.verdict.sign for report in spoke if report.verdict.earned]
    return Calibrated(spoke=len(spoke), ahead=signs.count(1), behind=signs.count(-1), computed=_computed(spoke, sign, draws))


def speaks(report: Report) -> bool:
    """Whether a sign could have been earned: both halves were judged, and nothing made the data invalid."""
    codes = {found.code for found in report.verdict.breaks}
    return (
        len(report.halves) == 2
        and not any(half.treatment.reasons or half.control.reasons for half in report.halves)
        and not (codes & {"cached_draws", "synthetic", "small_exam"})
    )


def _computed(spoke: Sequence[Report], sign: Sign, draws: int) -> FalseAlarm | None:
    found = [report.verdict.false_alarm for report in spoke if report.verdict.false_alarm]
    if not found:
        return None
    pass_rate = sum(one.pass_rate for one in found) / len(found)
    shared = sum(one.shared for one in found) / len(found)
    first, second = (half.items for half in spoke[0].halves)
    rate = false_alarm((first, second), sign, draws, pass_rate=pass_rate, shared=shared)
    return FalseAlarm(rate=rate, pass_rate=pass_rate, shared=shared)
