"""What lies between a draw and its model: answers that were cut, attempts behind one request, arms that do not reach alike."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from evalaction.method.counting.tally import UNREACHED, ArmTally, Tally
from evalaction.method.judging.facts import RunFacts
from evalaction.method.records import ArmName, Quoted, Sentence
from evalaction.method.telling.words import count, points, quoted, ranked, tallied

REACH_GAP = Fraction(1, 100)
"""A difference in reach beyond this, and of REACH_DRAWS or more, is told whatever the limits of the card."""
REACH_DRAWS = 3
_RETRIES = ("retry", "retries", "retried")
"""A counter with one of these words in its name counts attempts behind one draw."""


def transport_callouts(tally: Tally, facts: RunFacts) -> Iterator[Sentence]:
    for arm, side in tally.sides.items():
        yield from _cut(arm, side)
        yield from _attempts(arm, side)
        yield from _untold(arm, side)
    yield from _reach_gap(tally)
    yield from _served(tally, facts)


def _cut(arm: ArmName, side: ArmTally) -> Iterator[Sentence]:
    for what, words in (("the length limit", side.truncated), ("the filter of the provider", side.filtered)):
        if words:
            number = sum(words.values())
            yield (
                f"{arm}: {what} cut {number:,} of {count(len(side.letters), 'answer')} (",
                *tallied(ranked(words)),
                "); what had come is graded as it is.",
            )


def _attempts(arm: ArmName, side: ArmTally) -> Iterator[Sentence]:
    """Retries that a gateway's headers or a declared counter admit: such a draw is not one attempt."""
    draws = count(len(side.letters), "draw")
    if side.retried:
        more = count(side.retries, "further attempt")
        yield (f"{arm}: a gateway says that it made {more} behind {side.retried:,} of {draws}; these are not single attempts.",)
    for name in side.counters.names:
        if any(word in name.split("_") for word in _RETRIES):
            found = [value for value in side.counters.told(name, range(len(side.letters))) if value]
            if found:
                behind = f" counts {sum(found):,} behind {len(found):,} of {draws}; these are not single attempts."
                yield (f"{arm}: the counter ", Quoted(name), behind)


def _untold(arm: ArmName, side: ArmTally) -> Iterator[Sentence]:
    """A counter that draws which reached do not tell: it is unknown there, not zero."""
    reached = [cell for cell, letter in enumerate(side.letters) if letter != UNREACHED]
    for name in side.counters.names:
        missing = len(reached) - len(side.counters.told(name, reached))
        if missing:
            where = f"{missing:,} of {count(len(reached), 'draw')} that reached"
            yield (f"{arm}: the counter ", Quoted(name), f" is not in the trace of {where}; it is not counted there.")


def _reach_gap(tally: Tally) -> Iterator[Sentence]:
    if len(tally.sides) < 2:
        return
    lost = {arm: side.letters.count(UNREACHED) for arm, side in tally.sides.items()}
    draws = tally.cells // 2
    apart = abs(lost["treatment"] - lost["control"])
    gap = Fraction(apart, draws)
    if gap > REACH_GAP and apart >= REACH_DRAWS:
        shown = ", ".join(f"{arm} {draws - number:,}/{draws:,}" for arm, number in lost.items())
        yield (f"The arms do not reach alike: {shown}, {points(gap)} apart; that difference is the path's, not the model's.",)


def _served(tally: Tally, facts: RunFacts) -> Iterator[Sentence]:
    """Both arms ask one endpoint for one model and are served different ones."""
    if len(facts.arms) < 2 or not facts.one_endpoint or len({arm.model for arm in facts.arms.values()}) > 1:
        return
    served = {arm: set(side.served) for arm, side in tally.sides.items()}
    if all(served.values()) and served["treatment"] != served["control"]:
        names = [part for arm, found in served.items() for part in (f"; {arm} ", *quoted(sorted(found)))]
        yield ("Both arms ask for the same model and were served different ones", *names, ".")
