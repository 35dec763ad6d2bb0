"""What the card claims about its two arms, held against the split and the margin bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalaction.errors import Outcome
from evalaction.method.card import Sign
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.margin import difference, margin_bound
from evalaction.method.judging.sign import Split, described
from evalaction.method.numbers import Threshold
from evalaction.method.records import Break
from evalaction.method.report import MarginBound
from evalaction.method.telling.words import points

_BEHIND = (-1, -1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimResult:
    """`met` is None without a claim; `outcome` is what the breaks mean for the job."""

    met: bool | None = None
    outcome: Outcome = Outcome.FAIL
    breaks: tuple[Break, ...] = ()
    notes: tuple[Break, ...] = ()
    bound: MarginBound | None = None


def judge_claim(tally: Tally, sign: Sign, split: Split) -> ClaimResult:
    """Judge `ahead`, `differ` or `not_behind`. Breaks of validity are not repeated here: they stand in `split.invalid`."""
    if sign.claim == "not_behind":
        assert sign.margin is not None
        return _not_behind(tally, sign, sign.margin, split)
    if not split.earned:
        return ClaimResult(met=False, breaks=() if split.invalid else split.breaks)
    if sign.claim == "ahead" and split.sign < 0:
        halves = described(split.halves, sign.metric)
        return ClaimResult(met=False, breaks=(Break("wrong_direction", ("Both halves have control ahead: ", *halves, ".")),))
    return ClaimResult(met=True)


def _not_behind(tally: Tally, sign: Sign, margin: Threshold, split: Split) -> ClaimResult:
    found = difference(tally, sign.metric)
    bound = margin_bound(found, margin)
    if split.invalid:
        return ClaimResult(met=False, bound=bound)
    notes = (split.disagreement,) if split.disagreement else ()
    if _BEHIND in {split.half_signs, split.paired_signs}:
        halves = described(split.halves, sign.metric)
        text = f". Claim: not behind by more than {points(margin.value)}."
        return ClaimResult(met=False, breaks=(Break("behind", ("Both halves have control ahead: ", *halves, text)),), bound=bound)
    if found.within(margin.value):
        return ClaimResult(met=True, notes=notes, bound=bound)
    return ClaimResult(met=False, outcome=Outcome.INCONCLUSIVE, breaks=(_not_shown(bound, margin),), notes=notes, bound=bound)


def _not_shown(bound: MarginBound, margin: Threshold) -> Break:
    enough = (
        f"about {bound.enough_items:,} items like these would show it"
        if bound.enough_items is not None
        else "no number of items like these would show it"
    )
    behind = math.ceil(-1000 * bound.lower) / 10  # rounded up: a bound that misses the margin never reads as the margin
    return Break(
        "not_shown",
        (
            f"On {bound.items:,} items the treatment may be behind by {behind:g} points "
            f"(one-sided 95 %); the claim allows {points(margin.value)}; {enough}.",
        ),
    )
