"""What a reader must know beside the verdict; said only when true, each with its counts."""

from __future__ import annotations

from collections.abc import Iterator

from evalaction.method.card import Card
from evalaction.method.counting.tally import CHECKER_ERROR, OFF_CONTRACT, PASS, WRONG, Tally
from evalaction.method.judging.facts import RunFacts
from evalaction.method.judging.limits import seeded_arms
from evalaction.method.records import Quoted, Sentence
from evalaction.method.telling.words import count, listed, quoted, ranked, tallied


def callouts(card: Card, tally: Tally, facts: RunFacts) -> tuple[Sentence, ...]:
    """All callouts of a run whose grid is whole, those of the caller first."""
    return (*plain_callouts(card, facts), *_of_draws(tally))


def plain_callouts(card: Card, facts: RunFacts) -> tuple[Sentence, ...]:
    """The callouts that need no draw."""
    return (*facts.callouts, *_of_run(facts), *_of_card(card))


def _of_run(facts: RunFacts) -> Iterator[Sentence]:
    if facts.rehearsal:
        yield ("A rehearsal: nothing was frozen, and this is not a result.",)
    if facts.long_waits:
        text = f"{count(facts.long_waits, 'reply', 'replies')} asked for a longer wait than `pace.max_wait_ms`; not waited for"
        yield (f"{text}.",) if facts.longest_wait is None else (f"{text} (Retry-After: ", Quoted(facts.longest_wait), ").")
    if facts.ended == "complete" and not facts.planned == facts.sent == facts.written:
        yield (f"The counts differ: {count(facts.planned, 'draw')} planned, {facts.sent:,} sent, {facts.written:,} written.",)


def _of_card(card: Card) -> Iterator[Sentence]:
    levers = moved_levers(card)
    if len(levers) > 1:
        yield (f"More than one lever moved: {listed(levers)}; a difference cannot be put down to one of them.",)
    seeded = seeded_arms(card)
    if seeded:
        yield (f"A sampling seed is fixed for {listed(seeded)}: the draws are not independent, stable and flip say nothing.",)


def moved_levers(card: Card) -> tuple[str, ...]:
    """What differs between the arms as the card defines them: endpoint, model, parameters, prompt."""
    if card.control is None:
        return ()
    ours, theirs = card.endpoints[card.treatment.endpoint], card.endpoints[card.control.endpoint]
    differs = {
        "endpoint": (ours.api, ours.url, ours.url_env) != (theirs.api, theirs.url, theirs.url_env),
        "model": ours.model != theirs.model,
        "parameters": dict(ours.params) != dict(theirs.params),
        "prompt": (card.treatment.system, card.treatment.template) != (card.control.system, card.control.template),
    }
    return tuple(lever for lever, moved in differs.items() if moved)


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
