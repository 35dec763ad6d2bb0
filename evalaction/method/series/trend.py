"""A series as a reader sees it: each run with its rates and intervals, what changed in between, and whether it has got worse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from evalaction.method.canonical import Json
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import Quoted, Sentence
from evalaction.method.series.drift import Drift, Step, drift
from evalaction.method.series.entry import Entry
from evalaction.method.series.intervals import Interval, of_draws, of_items
from evalaction.method.series.latency import Latency
from evalaction.method.telling.words import count, listed

_MACHINE = ("image_os", "image_version", "arch", "python")


@dataclass(frozen=True, slots=True)
class Measured:
    """What was counted, and an interval around it whose unit is the item."""

    count: Bounded | Rate
    interval: Interval | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One run. The rates are the treatment's; None where there are none: the grid was not complete, or K = 1 for flip."""

    number: int
    """From 1, in the series as far as it was read."""
    entry: Entry
    first: Measured | None = None
    stable: Measured | None = None
    flip: Measured | None = None
    reach: Measured | None = None
    latency: Latency | None = None
    step: Step | None = None
    changes: tuple[Sentence, ...] = ()
    """What is not the same as in the run before, and does not begin a new series."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trend:
    """One series of one card, oldest run first; at least one run."""

    points: tuple[Point, ...]
    drift: Drift
    began: tuple[str, ...]
    """Fields of the card that changed and began this series; empty for the first one."""
    earlier: int = 0
    """Runs of earlier series of this card."""
    left_out: int = 0
    """Older runs of this series that were not read."""
    damaged: int = 0
    """Entries that are none of ours, or could not be read."""
    notes: tuple[Sentence, ...] = field(default=())

    @property
    def newest(self) -> Entry:
        return self.points[-1].entry

    @property
    def alarm(self) -> bool:
        return self.drift.alarm


def series_of(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries of one card by series, each oldest first; the series with the newest run comes last."""
    found: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda one: one.order):
        found.setdefault(entry.comparable.id, []).append(entry)
    return sorted(found.values(), key=lambda series: series[-1].order)


def trend_of(entries: Sequence[Entry], *, left_out: int = 0, damaged: int = 0) -> Trend:
    """The trend of the newest series among the entries of one card. Raises ValueError without any entry."""
    series = series_of(entries)
    if not series:
        raise ValueError("a trend has at least one run")
    current = series[-1]
    others = [entry for one in series[:-1] for entry in one]
    before = max((entry for entry in others if entry.order < current[0].order), key=lambda one: one.order, default=None)
    found = drift(current)
    return Trend(
        points=tuple(_points(current, found, first_number=left_out + 1)),
        drift=found,
        began=before.comparable.differences(current[0].comparable) if before and not left_out else (),
        earlier=len(others),
        left_out=left_out,
        damaged=damaged,
        notes=tuple(_notes(found, current)),
    )


def _points(entries: Sequence[Entry], found: Drift, *, first_number: int) -> Iterator[Point]:
    for place, entry in enumerate(entries):
        changes = tuple(_changes(entries[place - 1], entry)) if place else ()
        arm = entry.arms[0]
        rates = entry.rates(arm)
        if rates is None:
            yield Point(number=first_number + place, entry=entry, changes=changes)
            continue
        columns, draws = rates
        yield Point(
            number=first_number + place,
            entry=entry,
            first=Measured(draws.first, of_items(draws.first)),
            stable=Measured(draws.stable, of_items(draws.stable)),
            flip=Measured(draws.flip, of_items(draws.flip)) if draws.flip else None,
            reach=Measured(columns.reach, of_draws(columns.reach, entry.items)),
            latency=arm.latency,
            step=found.steps[place],
            changes=changes,
        )


def _changes(before: Entry, now: Entry) -> Iterator[Sentence]:
    for arm in now.arms:
        was = before.arm(arm.arm)
        assert was is not None  # runs of one series have the same arms
        whose = "" if arm.arm == "treatment" else f"{arm.arm}: "
        if was.endpoint != arm.endpoint:
            yield (f"{whose}endpoint ", Quoted(was.endpoint), " → ", Quoted(arm.endpoint))
        if was.model != arm.model:
            yield (f"{whose}model ", Quoted(was.model or "none"), " → ", Quoted(arm.model or "none"))
        elif was.requests_sha256 != arm.requests_sha256:
            yield (f"{whose}what is asked changed",)
    if before.tool_version != now.tool_version:
        yield ("evalaction ", Quoted(before.tool_version), " → ", Quoted(now.tool_version))
    machine = [(before.runner.get(name), now.runner.get(name)) for name in _MACHINE]
    if any(was != here for was, here in machine):
        names = ("image", "image", "architecture", "Python")
        moved = dict.fromkeys(name for name, (was, here) in zip(names, machine, strict=True) if was != here)
        shown = " ".join(here or "?" for was, here in machine if was != here)
        yield (f"runner {listed(list(moved))} changed: ", Quoted(shown))


def _notes(found: Drift, entries: Sequence[Entry]) -> Iterator[Sentence]:
    if found.seeded:
        yield ("A sampling seed is fixed, so no draw is a fresh one: there is no drift alarm.",)
    elif not found.paired and entries[-1].draws < 3:
        few = count(entries[-1].draws, "draw")
        yield (f"With {few} an item the drift alarm remembers few runs; it takes at least 3 to see what changes slowly.",)


def point_json(point: Point) -> Json:
    """A run as plain values; intervals as shares of 1."""
    entry = point.entry
    return {
        "number": point.number,
        "run": entry.run,
        "started_at": entry.started_at,
        "commit": entry.commit,
        "outcome": entry.outcome.value,
        "first": _measured(point.first),
        "stable": _measured(point.stable),
        "flip": _measured(point.flip),
        "reach": _measured(point.reach),
        "latency_ms": [point.latency.low, point.latency.p95, point.latency.high] if point.latency else None,
        "worse": point.step.worse if point.step else None,
        "better": point.step.better if point.step else None,
        "evidence": str(point.step.evidence) if point.step else None,
        "changes": ["".join(part if isinstance(part, str) else part.text for part in change) for change in point.changes],
    }


def trend_json(trend: Trend) -> Json:
    """The whole trend as plain values; evidence as an exact fraction."""
    entry = trend.newest
    return {
        "card": entry.card,
        "name": entry.name,
        "key": entry.key,
        "series": entry.comparable.id,
        "items": entry.items,
        "draws": entry.draws,
        "began": list(trend.began),
        "earlier": trend.earlier,
        "left_out": trend.left_out,
        "damaged": trend.damaged,
        "drift": {
            "nights": trend.drift.nights,
            "worse": trend.drift.worse,
            "better": trend.drift.better,
            "evidence": str(trend.drift.evidence),
            "anytime_p": str(trend.drift.anytime_p),
            "alarm": trend.alarm,
        },
        "runs": [point_json(point) for point in trend.points],
    }


def _measured(value: Measured | None) -> Json:
    if value is None:
        return None
    interval = [value.interval.low, value.interval.high] if value.interval else None
    counted = value.count
    if isinstance(counted, Rate):
        return {"count": counted.hits, "of": counted.total, "interval": interval}
    return {"count": counted.low, "at_most": counted.high, "of": counted.total, "interval": interval}
