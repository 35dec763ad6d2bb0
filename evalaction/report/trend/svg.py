"""A trend as inline SVG: rates with intervals over the runs, p95 below them, told apart by shape and dash as well as by colour.

It holds numbers and words of ours. Colours are CSS variables with a value for where there are none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evalaction.method.series.trend import Measured, Point
from evalaction.report.trend.cells import measured, share, times

WIDTH, HEIGHT = 720, 356
_LEFT, _RIGHT = 70, 12
_TOP, _BOTTOM = 26, 212
_TOP_MS, _BOTTOM_MS = 246, 328
_ROUND_MS = tuple(factor * int(f"1{'0' * power}") for power in range(10) for factor in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class Line:
    """The name of a measure and its look."""

    name: str
    colour: str
    dash: str
    mark: Callable[[float, float], str]


@dataclass(frozen=True, slots=True)
class Spot:
    """One run's value: heights from the top in pixels, and what is said of it."""

    place: int
    low: float | None
    y: float
    high: float | None
    words: str


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>'


def _square(x: float, y: float) -> str:
    return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'


def _triangle(x: float, y: float) -> str:
    return f'<path d="M{x:.1f} {y - 4:.1f}l4 7h-8z"/>'


def _diamond(x: float, y: float) -> str:
    return f'<polygon points="{x:.1f},{y - 4:.1f} {x + 4:.1f},{y:.1f} {x:.1f},{y + 4:.1f} {x - 4:.1f},{y:.1f}"/>'


def _bar(x: float, y: float) -> str:
    return f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="4" ry="2"/>'


RATES: tuple[tuple[Line, Callable[[Point], Measured | None]], ...] = (
    (Line("reach", "var(--trend-reach, #7e22ce)", "1 5", _diamond), lambda point: point.reach),
    (Line("first draw", "var(--trend-first, #6b7280)", "6 3", _square), lambda point: point.first),
    (Line("stable pass", "var(--trend-stable, #2563eb)", "none", _dot), lambda point: point.stable),
    (Line("flip", "var(--trend-flip, #c2410c)", "2 3", _triangle), lambda point: point.flip),
)
P95 = Line("p95", "var(--trend-p95, #0f766e)", "8 2 2 2", _bar)


def trend_svg(points: Sequence[Point]) -> str:
    """One `<svg>` element, to stand in a page; a reader without eyes is given the title and the table below it."""
    top = _top_ms(points)
    parts = [
        f'<svg class="trend" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="reach, first draw, stable pass and flip by run, p95 below; the table has the numbers" '
        'xmlns="http://www.w3.org/2000/svg" font-size="11" fill="currentColor">'
    ]
    parts += _axes(points, top)
    for place, (line, of) in enumerate(RATES):
        parts += _drawn(points, line, _rates(points, of))
        parts += _key(line, _LEFT + 120 * place, 10)
    parts += _drawn(points, P95, _latencies(points, top))
    parts += _key(P95, _LEFT, _TOP_MS - 14)
    return "".join([*parts, "</svg>"])


def _rates(points: Sequence[Point], of: Callable[[Point], Measured | None]) -> Iterator[Spot]:
    for place, point in enumerate(points):
        value = of(point)
        middle = share(value)
        if value is None or middle is None:
            continue
        low, high = (_y(value.interval.low), _y(value.interval.high)) if value.interval else (None, None)
        yield Spot(place, low, _y(middle), high, measured(value))


def _latencies(points: Sequence[Point], top: int) -> Iterator[Spot]:
    """An end that never comes is at the upper edge; a p95 that never comes is in the table alone."""
    for place, point in enumerate(points):
        value = point.latency
        if value is None or value.p95 is None or value.low is None:
            continue
        high = top if value.high is None else value.high
        yield Spot(place, _y_ms(value.low, top), _y_ms(value.p95, top), _y_ms(high, top), f"{times(value)} ms")


def _axes(points: Sequence[Point], top: int) -> Iterator[str]:
    for percent in (0, 25, 50, 75, 100):
        yield from _rule(_y(percent / 100), f"{percent} %")
    yield from _rule(_BOTTOM_MS, "0 ms")
    yield from _rule(_TOP_MS, f"{top // 1000:,} s" if top >= 1000 else f"{top} ms")
    every = max(1, len(points) // 10)
    for place, point in enumerate(points):
        x = _x(place, points)
        if place % every == 0:
            yield f'<text x="{x:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{point.number}</text>'
        if point.changes:
            yield (
                f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_BOTTOM_MS}" stroke="currentColor" '
                'stroke-opacity="0.35" stroke-dasharray="1 3"><title>something changed; see the table</title></line>'
            )


def _rule(y: float, words: str) -> Iterator[str]:
    yield (
        f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}" stroke="currentColor" stroke-opacity="0.15"/>'
        f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{words}</text>'
    )


def _drawn(points: Sequence[Point], line: Line, spots: Iterator[Spot]) -> Iterator[str]:
    found = list(spots)
    yield f'<g stroke="{line.colour}" fill="{line.colour}">'
    if len(found) > 1:
        path = " ".join(f"{_x(spot.place, points):.1f},{spot.y:.1f}" for spot in found)
        yield f'<polyline points="{path}" fill="none" stroke-width="1.5" stroke-dasharray="{line.dash}"/>'
    for spot in found:
        x = _x(spot.place, points)
        if spot.low is not None and spot.high is not None:
            yield f'<line x1="{x:.1f}" y1="{spot.low:.1f}" x2="{x:.1f}" y2="{spot.high:.1f}" stroke-opacity="0.45"/>'
        title = f"run {points[spot.place].number}: {line.name} {spot.words}"
        yield f"<g><title>{title}</title>{line.mark(x, spot.y)}</g>"
    yield "</g>"


def _key(line: Line, x: int, y: int) -> Iterator[str]:
    yield (
        f'<g fill="{line.colour}" stroke="{line.colour}"><line x1="{x}" y1="{y}" x2="{x + 22}" y2="{y}" '
        f'stroke-dasharray="{line.dash}"/>{line.mark(x + 11, y)}</g><text x="{x + 28}" y="{y + 4}">{line.name}</text>'
    )


def _x(place: int, points: Sequence[Point]) -> float:
    room = WIDTH - _LEFT - _RIGHT - 20
    return _LEFT + 10 + (room / 2 if len(points) == 1 else room * place / (len(points) - 1))


def _y(value: float) -> float:
    return _TOP + (_BOTTOM - _TOP) * (1 - value)


def _y_ms(ms: int, top: int) -> float:
    return _BOTTOM_MS - (_BOTTOM_MS - _TOP_MS) * min(ms, top) / top


def _top_ms(points: Sequence[Point]) -> int:
    """The next of 1, 2, 5, 10, 20 … ms at or above every time that is known."""
    known = (end for point in points if point.latency for end in (point.latency.p95, point.latency.high))
    highest = max((end for end in known if end is not None), default=1)
    return _ROUND_MS[min(bisect_left(_ROUND_MS, highest), len(_ROUND_MS) - 1)]
