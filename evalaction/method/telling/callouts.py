"""What a reader must know beside the verdict; said only when true, each with its counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalaction.method.card import Card
from evalaction.method.counting.reasons import code_of
from evalaction.method.counting.tally import CHECKER_ERROR, OFF_CONTRACT, PASS, WRONG, ArmTally, Tally
from evalaction.method.judging.facts import RunFacts
from evalaction.method.judging.limits import unjudged
from evalaction.method.records import ArmName, Quoted, Sentence
from evalaction.method.report import CALIBRATION, Pair
from evalaction.method.telling.changed import question_callouts, rerouted, route_callouts, sameness_callouts
from evalaction.method.telling.transport import transport_callouts
from evalaction.method.telling.words import count, listed, quoted, ranked, tallied

SHOWN = 3
"""Limits that one callout names."""


def callouts(tally: Tally, facts: RunFacts, pairs: Sequence[Pair] = ()) -> tuple[Sentence, ...]:
    """All callouts of a run whose grid is whole, those of the question first, then those of the caller."""
    moved = rerouted(tally, facts)
    ways = (*route_callouts(moved, tally, pairs), *sameness_callouts(tally, facts, pairs))
    return (*plain_callouts(facts), *ways, *_of_draws(tally), *transport_callouts(tally, facts))


def limit_callouts(card: Card, tally: Tally) -> Iterator[Sentence]:
    """A limit that cannot be judged is never passed over in silence."""
    names = unjudged(card, tally)
    if names:
        shown = [part for name in names[:SHOWN] for part in ("; ", *name)][1:]
        more = f"; and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        yield ("Not judged, since no arm or no item that it is for was drawn: ", *shown, f"{more}.")


def plain_callouts(facts: RunFacts) -> tuple[Sentence, ...]:
    """The callouts that need no draw."""
    return (*question_callouts(facts), *facts.callouts, *_of_run(facts), *_of_isolation(facts.isolation), *_of_arms(facts))


def refusal_callouts(facts: RunFacts) -> tuple[Sentence, ...]:
    """What must be said of a run that drew nothing."""
    return (*question_callouts(facts), *facts.callouts, *_of_run(facts))


def _of_run(facts: RunFacts) -> Iterator[Sentence]:
    if facts.rehearsal:
        yield ("A rehearsal: nothing was frozen, and this is not a result.",)
    if CALIBRATION in facts.provenance.inputs:
        yield ("A calibration: one arm against itself. A sign here is earned out of nothing, and this is not a result.",)
    if facts.long_waits:
        text = f"{count(facts.long_waits, 'reply', 'replies')} asked for a longer wait than `pace.max_wait_ms`; not waited for"
        yield (f"{text}.",) if facts.longest_wait is None else (f"{text} (Retry-After: ", Quoted(facts.longest_wait), ").")
    if facts.redacted:
        echoed = count(facts.redacted, "reply", "replies")
        yield (f"{echoed} held the value of a secret, which was taken out before they were judged.",)
    if facts.ended == "complete" and not facts.planned == facts.sent == facts.written:
        yield (f"The counts differ: {count(facts.planned, 'draw')} planned, {facts.sent:,} sent, {facts.written:,} written.",)


def _of_isolation(isolation: Mapping[str, str]) -> Iterator[Sentence]:
    if isolation.get("name") == "unsafe":
        yield ("Code of a model ran without any isolation on this machine: it could read and change whatever its user can.",)
    if isolation.get("checks") == "in_process":
        yield ("Candidate and check shared a process (`isolation: in_process`), where a candidate can forge its pass.",)


def _of_arms(facts: RunFacts) -> Iterator[Sentence]:
    if len(facts.levers) > 1:
        yield (f"More than one lever moved: {listed(facts.levers)}; a difference cannot be put down to one of them.",)
    if facts.seeded:
        fixed = f"A sampling seed is fixed for {listed(facts.seeded)}"
        yield (f"{fixed}: the draws are not independent, stable and flip say nothing.",)


def _of_draws(tally: Tally) -> Iterator[Sentence]:
    for arm, side in tally.sides.items():
        lost = side.lost()
        if lost:
            without = sum(times for _, times in lost)
            yield (f"{arm}: no verdict on {without:,} of {count(len(side.letters), 'draw')} (", *tallied(lost), ").")
        if PASS not in side.letters and {OFF_CONTRACT, WRONG} & set(side.letters):
            nothing = f"{arm}: none of {count(len(side.letters), 'draw')} passed"
            yield (f"{nothing}; see whether the exam and its checks fit this endpoint before reading anything else.",)
        if len(side.served) > 1:
            yield (f"{arm}: the served model changed during the run: ", *tallied(ranked(side.served)), ".")
        if len(side.fingerprints) > 1:
            yield (f"{arm}: the fingerprint changed during the run: ", *tallied(ranked(side.fingerprints)), ".")
        if side.draws > 1 and side.same_texts() == side.items:
            same = f"all {side.draws} replies are identical on each of {count(side.items, 'item')}"
            yield (f"{arm}: {same}; the draws may be cached, and flip is understated.",)
        stuck = [name for item, name in enumerate(tally.ids) if set(side.strip(item)) == {CHECKER_ERROR}]
        if stuck:
            yield (f"{arm}: the checker failed on every draw of ", *quoted(stuck), ".")
        yield from _of_live_objects(arm, side, tally)


def _of_live_objects(arm: ArmName, side: ArmTally, tally: Tally) -> Iterator[Sentence]:
    """Tasks whose interface split checking cannot carry: every answer fails there, right or wrong."""
    codes = ([code_of(side.reason(item, draw) or "") for draw in range(side.draws)] for item in range(side.items))
    lost = [name for name, of_item in zip(tally.ids, codes, strict=True) if set(of_item) == {"candidate:not_plain"}]
    if lost:
        told = "every draw returned something else than plain data (candidate:not_plain) on "
        yield (f"{arm}: {told}", *quoted(lost), "; ask for plain data there, or judge with `isolation: in_process`.")
