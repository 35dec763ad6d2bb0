"""What a reader must know of a change that is judged: which lever moved, whose question was asked, what stayed the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalaction.method.counting.rates import rates_of
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.facts import AskedBy, RunFacts
from evalaction.method.records import Quoted, Sentence
from evalaction.method.report import Change, Pair, QuestionChange, RouteGroup
from evalaction.method.telling.words import count, listed

SHOWN = 20
"""Changes of the question that one callout names."""
NAMED = 6
"""Changes of the arms that the sentence names."""


def question_callouts(facts: RunFacts) -> Iterator[Sentence]:
    """Whose question was asked, said before everything else."""
    return asked_callouts(facts.question, facts.question_changes, base_missing=facts.base_missing)


def asked_callouts(by: AskedBy | None, changed: Sequence[QuestionChange], *, base_missing: bool) -> Iterator[Sentence]:
    """The same of a card that may not have been drawn: a later commit can change another part of the question."""
    changes = question_sentence(changed)
    if by == "head":
        text = "Judged by the question of this change itself (`question: head`), not by the one at base"
        yield (f"{text}; against base it changes: ", *changes, ".") if changes else (f"{text}.",)
    elif changes:
        yield ("This change alters the question, which applies from the next pull request on: ", *changes, ".")
    if base_missing:
        yield ("There is no base here: no base, no sign. The treatment alone is judged, under its limits.",)


def question_sentence(changes: Sequence[QuestionChange]) -> Sentence:
    """Field by field, old → new; what asks for less than before is named as loosened."""
    text: list[str | Quoted] = []
    for number, change in enumerate(changes[:SHOWN]):
        text += ["; " if number else "", Quoted(change.field), " ", *_arrow(change.old, change.new)]
        text += [" (loosened)"] if change.loosened else []
    if len(changes) > SHOWN:
        text.append(f"; and {len(changes) - SHOWN:,} more")
    return tuple(text)


def what_changed(facts: RunFacts) -> Sentence | None:
    """Which levers moved, and what of them; None where the arms are not two versions of one."""
    if not facts.changes:
        return None
    one = "One lever moved" if len(facts.levers) == 1 else f"{len(facts.levers)} levers moved"
    text: list[str | Quoted] = [f"{one}: {listed(facts.levers)} (" if facts.levers else "Nothing that is sent ("]
    for number, change in enumerate(facts.changes[:NAMED]):
        text += ["; " if number else "", *_changed(change)]
    more = len(facts.changes) - NAMED
    return (*text, f"; and {more:,} more)." if more > 0 else ").")


def _changed(change: Change) -> Sentence:
    if change.diff:
        added = sum(line.startswith("+") for line in change.diff)
        removed = sum(line.startswith("-") for line in change.diff)
        least = " at least" if change.diff[-1].startswith("…") else ""
        return (Quoted(change.name), f"{least} +{added:,} −{removed:,} lines")
    return (Quoted(change.name), " ", *_arrow(change.old, change.new))


def _arrow(old: str | None, new: str | None) -> Sentence:
    return (*_shown(old), " → ", *_shown(new))


def _shown(value: str | None) -> Sentence:
    return ("none",) if value is None else (Quoted(value),)


def sameness_callouts(tally: Tally, facts: RunFacts, pairs: Sequence[Pair]) -> Iterator[Sentence]:
    """Items for which the change changes nothing: what differs there is luck."""
    if facts.left_out:
        text = f"{count(len(facts.left_out), 'item')} of the exam ask the same in both arms and were not drawn"
        yield (f"{text} (`sign.items: changed`).",)
    same = {tally.ids[place] for place in facts.unchanged}
    if not same:
        return
    differ = {pair.item for pair in pairs if pair.kind in {"lost", "gained"}}
    text = f"{len(same):,} of {count(len(tally.ids), 'item')} ask the same in both arms: a difference there is luck"
    there = f" ({len(differ & same):,} of the {len(differ):,} that are lost or gained)" if differ else ""
    yield (f"{text}{there}.",)


def rerouted(tally: Tally, facts: RunFacts) -> Mapping[str, tuple[str, str]]:
    """Item id to (control, treatment): the rules by which it goes another way than before; empty without two arms with rules."""
    if len(facts.routes) < 2:
        return {}
    ways = zip(tally.ids, facts.routes["control"], facts.routes["treatment"], strict=True)
    return {item: (before or "", now or "") for item, before, now in ways if before != now}


def route_groups(tally: Tally, facts: RunFacts) -> tuple[RouteGroup, ...]:
    """The same tables for the items of each way, in the order of the exam; empty where no item's way changed."""
    if not rerouted(tally, facts):
        return ()
    groups: dict[tuple[str, str], list[int]] = {}
    for place, (before, now) in enumerate(zip(facts.routes["control"], facts.routes["treatment"], strict=True)):
        groups.setdefault((before or "", now or ""), []).append(place)
    return tuple(
        RouteGroup(
            control=before,
            treatment=now,
            items=len(places),
            arms={arm: rates_of(side, places) for arm, side in tally.sides.items()},
        )
        for (before, now), places in groups.items()
    )


def route_callouts(moved: Mapping[str, tuple[str, str]], tally: Tally, pairs: Sequence[Pair]) -> Iterator[Sentence]:
    """How many items go another way, and how many of what was lost and gained they are."""
    if not moved:
        return
    lost = [pair.item for pair in pairs if pair.kind == "lost"]
    gained = [pair.item for pair in pairs if pair.kind == "gained"]
    among = [
        f"{sum(item in moved for item in items):,} of the {len(items):,} {word}"
        for word, items in (("lost", lost), ("gained", gained))
        if items
    ]
    where = f"; {listed(among)} are among them" if among else ""
    yield (f"The route of {len(moved):,} of {count(len(tally.ids), 'item')} changed{where}.",)
