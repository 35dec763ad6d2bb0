"""The cells that every form of a trend shows, so that none can say something the others do not."""

from __future__ import annotations

import math
from collections.abc import Iterator

from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import Quoted, Sentence
from evalaction.method.series.intervals import Interval
from evalaction.method.series.latency import Latency
from evalaction.method.series.telling import beginning, drift_sentence, evidence_text
from evalaction.method.series.trend import Measured, Point, Trend
from evalaction.method.telling.words import count
from evalaction.report.figures import bounded, rate

HEAD = ("run", "day", "outcome", "first draw", "stable pass", "flip", "reach", "p95 ms", "evidence", "what changed")
LEGEND = (
    "In brackets: 95 % intervals in percent, whose unit is the item (Wilson; p95 after Woodruff).",
    "Evidence: an e-value from fresh draws on both sides, which may be looked at every night; 20 is the alarm.",
)
NONE = "–"


def measured(value: Measured | None) -> str:
    """`52/64 81.3 % [70–89]`; the ends are rounded away from the middle."""
    if value is None:
        return NONE
    text = bounded(value.count) if isinstance(value.count, Bounded) else rate(value.count)
    return f"{text} {between(value.interval)}" if value.interval else text


def between(interval: Interval) -> str:
    return f"[{math.floor(interval.low * 100)}–{math.ceil(interval.high * 100)}]"


def times(value: Latency | None) -> str:
    """`340 [290–510]`; draws that never arrived are for ever."""
    if value is None:
        return NONE
    low, p95, high = ("never" if one is None else f"{one:,}" for one in (value.low, value.p95, value.high))
    return f"{p95} [{low}–{high}]"


def share(value: Measured | None) -> float | None:
    """The middle of what lost draws leave open, for charts."""
    match value.count if value else None:
        case Rate(hits, total) if total:
            return hits / total
        case Bounded(low, high, total) if total:
            return (low + high) / 2 / total
        case _:
            return None


def row(point: Point) -> tuple[Sentence, ...]:
    """One run under HEAD."""
    step = point.step
    changes: list[str | Quoted] = []
    for change in point.changes:
        changes += ["; ", *change] if changes else change
    return (
        (str(point.number),),
        (point.entry.day,),
        (point.entry.outcome.value,),
        (measured(point.first),),
        (measured(point.stable),),
        (measured(point.flip),),
        (measured(point.reach),),
        (times(point.latency),),
        (f"{evidence_text(step.evidence)} ({step.worse} worse, {step.better} better)" if step else NONE,),
        tuple(changes),
    )


def sentences(trend: Trend) -> Iterator[Sentence]:
    """What is said above the table."""
    yield drift_sentence(trend.drift)
    if begun := beginning(trend):
        yield begun
    yield from trend.notes
    if trend.drift.paired:
        yield ("The rates are the treatment's.",)
    if trend.left_out:
        yield (f"Left out: {count(trend.left_out, 'older run')} of this series.",)
    if trend.earlier:
        yield (f"Not shown: {count(trend.earlier, 'run')} of earlier series.",)
    if trend.damaged:
        yield (f"Left out: {count(trend.damaged, 'entry', 'entries')} of the history that could not be read.",)


def titles(trend: Trend) -> str:
    """`SYNTHETIC · SMALL · `: what goes before all else, of any run; our own words."""
    return "".join(f"{title} · " for title in dict.fromkeys(title for point in trend.points for title in point.entry.titles))


def shape(trend: Trend) -> str:
    """`12 runs of 84 items, 5 draws each`"""
    entry = trend.newest
    runs = count(len(trend.points) + trend.left_out, "run")
    return f"{runs} of {count(entry.items, 'item')}, {count(entry.draws, 'draw')} each"
