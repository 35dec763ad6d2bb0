"""A trend as inline SVG: first, stable and flip with intervals over the runs, told apart by shape and dash, not by colour alone.

It holds numbers and words of ours. Colours are CSS variables with a value for where there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evalaction.method.series.trend import Measured, Point
from evalaction.report.trend.cells import measured, share

WIDTH, HEIGHT = 720, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 26, 28


@dataclass(frozen=True, slots=True)
class Line:
    """One measure: how it is found, and its look."""

    name: str
    of: Callable[[Point], Measured | None]
    colour: str
    dash: str
    mark: Callable[[float, float], str]


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>'


def _square(x: float, y: float) -> str:
    return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'


def _triangle(x: float, y: float) -> str:
    return f'<path d="M{x:.1f} {y - 4:.1f}l4 7h-8z"/>'


LINES = (
    Line("first draw", lambda point: point.first, "var(--trend-first, #6b7280)", "6 3", _square),
    Line("stable pass", lambda point: point.stable, "var(--trend-stable, #2563eb)", "none", _dot),
    Line("flip", lambda point: point.flip, "var(--trend-flip, #c2410c)", "2 3", _triangle),
)


def trend_svg(points: Sequence[Point]) -> str:
    """One `<svg>` element, to stand in a page; a reader without eyes is given the title and the table below it."""
    parts = [
        f'<svg class="trend" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="first draw, stable pass and flip by run" '
        'xmlns="http://www.w3.org/2000/svg" font-size="11" fill="currentColor">'
    ]
    parts += _axes(points)
    for place, line in enumerate(LINES):
        parts += _drawn(points, line)
        parts += _key(place, line)
    return "".join([*parts, "</svg>"])


def _axes(points: Sequence[Point]) -> Iterator[str]:
    for percent in (0, 25, 50, 75, 100):
        y = _y(percent / 100)
        yield (
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}" stroke="currentColor" stroke-opacity="0.15"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
        )
    every = max(1, len(points) // 10)
    for place, point in enumerate(points):
        if place % every == 0:
            yield f'<text x="{_x(place, points):.1f}" y="{HEIGHT - 8}" text-anchor="middle">{point.number}</text>'
        if point.changes:
            x = _x(place, points)
            yield (
                f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{HEIGHT - _BOTTOM}" stroke="currentColor" '
                'stroke-opacity="0.35" stroke-dasharray="1 3"><title>something changed; see the table</title></line>'
            )


def _drawn(points: Sequence[Point], line: Line) -> Iterator[str]:
    found = [(place, point, value) for place, point in enumerate(points) if (value := line.of(point)) is not None]
    yield f'<g stroke="{line.colour}" fill="{line.colour}">'
    if len(found) > 1:
        path = " ".join(f"{_x(place, points):.1f},{_y(share(value) or 0.0):.1f}" for place, _, value in found)
        yield f'<polyline points="{path}" fill="none" stroke-width="1.5" stroke-dasharray="{line.dash}"/>'
    for place, point, value in found:
        x = _x(place, points)
        if value.interval:
            low, high = _y(value.interval.low), _y(value.interval.high)
            yield f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke-opacity="0.45"/>'
        yield f"<g><title>run {point.number}: {line.name} {measured(value)}</title>{line.mark(x, _y(share(value) or 0.0))}</g>"
    yield "</g>"


def _key(place: int, line: Line) -> Iterator[str]:
    x = _LEFT + 120 * place
    yield (
        f'<g fill="{line.colour}" stroke="{line.colour}"><line x1="{x}" y1="10" x2="{x + 22}" y2="10" '
        f'stroke-dasharray="{line.dash}"/>{line.mark(x + 11, 10)}</g><text x="{x + 28}" y="14">{line.name}</text>'
    )


def _x(place: int, points: Sequence[Point]) -> float:
    room = WIDTH - _LEFT - _RIGHT - 20
    return _LEFT + 10 + (room / 2 if len(points) == 1 else room * place / (len(points) - 1))


def _y(value: float) -> float:
    return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - value)
