"""Annotations of a job: a break at the line of the card that it broke, a mistake at its place, the weightiest first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from evalaction.cli.action.judged import Judged
from evalaction.errors import Outcome
from evalaction.github.commands import Annotation
from evalaction.github.decisions import WORST_FIRST, failing

TOP = 1000
_STEP = 10


def annotations_of(cards: Sequence[Judged], fail_on: Collection[Outcome]) -> Iterator[Annotation]:
    """Of every card that is not fine; an error where it fails the job, else a warning."""
    for card in cards:
        if card.outcome.exit_code == 0:
            continue
        fails = bool(failing([card.outcome], fail_on)) and not card.skipped
        weight = TOP - _STEP * WORST_FIRST.index(card.outcome)
        file, line = card.place or (card.path, None)
        breaks = card.report.verdict.breaks if card.report else ()
        texts = [(entry.sentence, _line(card, entry.sentence)) for entry in breaks]
        for number, (text, at) in enumerate(texts or [((f"{card.outcome.value}, as answered before",), None)]):
            yield Annotation(
                level="error" if fails else "warning",
                text=text,
                weight=weight - min(number, _STEP - 1),
                file=file,
                line=at or line,
                title=f"{card.outcome.value}: {card.document.name}",
            )


def _line(card: Judged, sentence: object) -> int | None:
    limits = card.report.limits if card.report else ()
    return next((result.limit.line for result in limits if result.sentence == sentence), None)
