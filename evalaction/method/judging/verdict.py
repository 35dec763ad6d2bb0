"""One verdict from which the headline, the comment, the outputs and the exit code all follow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from evalaction.errors import Outcome
from evalaction.method.card import Card, Sign
from evalaction.method.counting.tally import UNREACHED, Tally
from evalaction.method.judging.claims import ClaimResult, judge_claim
from evalaction.method.judging.facts import RunFacts
from evalaction.method.judging.false_alarm import false_alarm_of
from evalaction.method.judging.limits import blames_the_model, judge_limits
from evalaction.method.judging.sign import Split, split_sign
from evalaction.method.judging.validity import Region
from evalaction.method.records import ARMS, ArmName, Break, Quoted, Sentence
from evalaction.method.report import LimitResult, Verdict
from evalaction.method.telling.words import count, ranked, tallied

SMALL = 30
"""An exam of fewer items is small, and can claim nothing."""

_PRECEDENCE = (Outcome.UNREACHABLE, Outcome.INCONCLUSIVE, Outcome.FAIL)
_ENDINGS = {
    "complete": "rows are missing from it",
    "unreachable": "the run was ended after draw 0",
    "deadline": "the run's deadline passed",
    "interrupted": "the run was interrupted",
    "disk": "the disk was full",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """A verdict with what it was derived from."""

    verdict: Verdict
    split: Split | None = None
    """None: nothing was judged, or no direction is claimed."""
    limits: tuple[LimitResult, ...] = ()
    deciding: Break | None = None
    """The first break of the outcome's own kind; None for a pass."""
    judged: bool = True
    """False: the grid is not whole, and there are no rates."""


def judge(card: Card, tally: Tally, facts: RunFacts) -> Verdict:
    """The verdict of one run of `card`. All breaks are listed; the worst decides the outcome: 7, then 5, then 1, then 0."""
    return weigh(card, tally, facts).verdict


def weigh(card: Card, tally: Tally, facts: RunFacts) -> Findings:
    """`judge`, with both halves and the limits beside the verdict."""
    stopped = _unreachable(tally, facts) or _partial(tally, facts)
    if stopped:
        outcome, breaks = stopped
        verdict = Verdict(outcome=outcome, earned=False, sign=0, half_signs=None, breaks=breaks)
        return Findings(verdict=verdict, deciding=breaks[0], judged=False)
    sign = card.sign if card.sign and card.sign.claim != "none" and "control" in tally.sides else None
    split = split_sign(tally, sign, card.validity) if sign else None
    doubts = _doubts(tally, facts, sign)
    invalid = split.invalid if split else _invalid_arms(card, tally)
    claim = judge_claim(tally, sign, split) if sign and split else ClaimResult()
    limits = judge_limits(card, tally, facts.seeded)
    rulings = [(Outcome.INCONCLUSIVE, found) for found in (*doubts, *invalid)]
    rulings += [(claim.outcome, found) for found in claim.breaks]
    rulings += [ruling for result in limits for ruling in _limit_rulings(result)]
    outcome = next((outcome for outcome in _PRECEDENCE if any(outcome is kind for kind, _ in rulings)), Outcome.PASS)
    earned = split is not None and split.earned and not doubts
    verdict = Verdict(
        outcome=outcome,
        earned=earned,
        sign=split.sign if split and earned else 0,
        half_signs=split.half_signs if split else None,
        breaks=tuple(found for _, found in rulings),
        notes=claim.notes + _thin_floor(sign, split) + _repeated_ids(tally),
        claim_met=claim.met if claim.met is None else claim.met and not doubts,
        bound=claim.bound,
        false_alarm=false_alarm_of(tally, sign) if sign else None,
    )
    deciding = next((found for kind, found in rulings if kind is outcome), None)
    return Findings(verdict=verdict, split=split, limits=limits, deciding=deciding)


def _limit_rulings(result: LimitResult) -> list[tuple[Outcome, Break]]:
    code = ":".join(part for part in ("limit", result.limit.scope, result.limit.name, result.limit.counter) if part)
    if result.state == "undecided":
        return [(Outcome.INCONCLUSIVE, Break(f"{code}:undecided", result.sentence))]
    if result.state == "breached":
        outcome = Outcome.FAIL if blames_the_model(result) else Outcome.INCONCLUSIVE
        return [(outcome, Break(code, result.sentence))]
    return []


def _unreachable(tally: Tally, facts: RunFacts) -> tuple[Outcome, tuple[Break, ...]] | None:
    dead = [arm for arm in ARMS if arm in tally.sides and set(tally.sides[arm].first_letters()) == {UNREACHED}]
    if not dead or not (facts.sealed or facts.rehearsal):
        return None
    return Outcome.UNREACHABLE, tuple(_dead_arm(arm, facts.arms[arm].endpoint, tally) for arm in dead)


def _dead_arm(arm: ArmName, endpoint: str, tally: Tally) -> Break:
    sent = len(tally.ids)
    text: Sentence = (f"{arm}: none of {count(sent, 'first draw')} reached endpoint ", Quoted(endpoint), " (")
    return Break(f"{arm}:unreachable", (*text, *tallied(tally.sides[arm].reasons()["reach"]), ")."))


def _partial(tally: Tally, facts: RunFacts) -> tuple[Outcome, tuple[Break, ...]] | None:
    if tally.complete and (facts.sealed or facts.rehearsal):
        return None
    text: list[str | Quoted] = [
        f"A partial grid is not a result: {tally.rows:,} of {count(tally.cells, 'draw')} are on disk; {_ending(tally, facts)}."
    ]
    first = list(islice(tally.missing(), 3))
    for number, (item, arm, draw) in enumerate(first):
        text += [", " if number else " Missing: ", Quoted(item), f" {arm} draw {draw}"]
    if first:
        more = tally.cells - tally.rows - len(first)
        text.append(f" and {more:,} more." if more else ".")
    return Outcome.INCONCLUSIVE, (Break("partial_grid", tuple(text)),)


def _ending(tally: Tally, facts: RunFacts) -> str:
    return "the run is not sealed" if tally.complete else _ENDINGS[facts.ended]


def _invalid_arms(card: Card, tally: Tally) -> tuple[Break, ...]:
    regions = [Region(arm=arm, side=tally.sides[arm], items=range(len(tally.ids))) for arm in ARMS if arm in tally.sides]
    return tuple(found for region in regions for found in region.breaks(card.validity))


def _doubts(tally: Tally, facts: RunFacts, sign: Sign | None) -> tuple[Break, ...]:
    """Reasons why nothing can be earned, whatever the numbers are."""
    found = []
    if facts.scripted and not facts.synthetic_allowed:
        found.append(Break("synthetic", ("The replies are scripted: nothing here was said by a model.",)))
    if sign and len(tally.ids) < SMALL:
        text = (
            f"{count(len(tally.ids), 'item')} can claim nothing: an exam under {SMALL} items is small; claim `none` or add items."
        )
        found.append(Break("small_exam", (text,)))
    marks = sum((side.cache_marks for side in tally.sides.values()), start=Counter())
    replays = tally.replayed(one_endpoint=facts.one_endpoint)
    told: list[Sentence] = []
    if marks:
        text = f"{count(marks.total(), 'reply', 'replies')} came from a cache by their own headers ("
        told.append((text, *tallied(ranked(marks)), ")"))
    if replays:
        told.append((f"{count(replays, 'reply', 'replies')} repeated an earlier one of the same item, id and body",))
    if told:
        found.append(Break("cached_draws", (*told[0], *((", and ", *told[1]) if told[1:] else ()), ".")))
    return tuple(found)


def _thin_floor(sign: Sign | None, split: Split | None) -> tuple[Break, ...]:
    """A floor that one item clears is said where the card switched the lead in items off."""
    if not sign or not split or not split.earned or sign.min_item_gap > 1:
        return ()
    smallest = min(half.items for half in split.halves)
    if sign.min_abs_gap.value * smallest > 1:
        return ()
    text = (
        f"On {count(smallest, 'item')} a half the floor {sign.min_abs_gap.text} is one item or less: one item can earn this sign."
    )
    return (Break("floor_is_one_item", (text,)),)


def _repeated_ids(tally: Tally) -> tuple[Break, ...]:
    repeats = sum(side.repeated_ids() - side.replayed() for side in tally.sides.values())
    if repeats <= 0:
        return ()
    text = f"{count(repeats, 'reply', 'replies')} carried a response id already seen for the same item, with another body."
    return (Break("repeated_response_ids", (text,)),)
