"""Cells → the geometry of distributions: how latency and tokens are spread in each arm."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalaction.method.records import ArmName
from evalaction.report import figures
from evalaction.report.cells import Cells

WIDTH, HEIGHT = 360, 206
LEFT, RIGHT, TOP, BOTTOM = 44, WIDTH - 14, 28, HEIGHT - 44
_STEPS = 100
_BINS = 24
_TICKS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Tick:
    x: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The share of all draws of an arm that had arrived by then, as points of a line."""

    arm: ArmName
    points: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bars:
    """One arm's histogram: left edge, top, width and height of each bar; they stand on `base`, the tallest may reach `top`."""

    arm: ArmName
    base: str
    top: str
    bars: tuple[tuple[str, str, str, str], ...]
    known: str
    """How many of its draws the provider counted, as in a sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    curves: tuple[Curve, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    title: str
    arms: tuple[Bars, ...]
    ticks: tuple[Tick, ...]
    tallest: str
    """Draws in the tallest bar, which is the scale of both arms."""


def latency(cells: Cells) -> Latency | None:
    """None where nothing reached, or nothing took time (replies from a file). What did not reach never arrives: its curve ends
    below the top."""
    found = {arm: _reached(cells, arm) for arm in cells.arms}
    values = [value for times in found.values() if times for value in (times[0], times[-1])]
    if not values or not max(values):
        return None
    low, high = _around(min(values), max(values))

    def place(value: float) -> float:
        return LEFT + (math.log10(max(value, low)) - math.log10(low)) / (math.log10(high) - math.log10(low)) * (RIGHT - LEFT)

    curves = tuple(
        Curve(arm=arm, points=_curve(times, len(cells.ids) * cells.draws, place)) for arm, times in found.items() if times
    )
    return Latency(
        curves=curves, ticks=tuple(Tick(x=_number(place(one)), text=figures.duration(one)) for one in _scale(low, high))
    )


def _reached(cells: Cells, arm: ArmName) -> Sequence[int]:
    side = cells.sides[arm]
    return sorted(ms for ms, letter in zip(side.ms, side.letters, strict=True) if letter not in b"u.")


def _curve(times: Sequence[int], draws: int, place: Callable[[float], float]) -> str:
    points = [(place(times[0]), float(BOTTOM))]
    for step in range(_STEPS + 1):
        at = min(round(step / _STEPS * len(times)), len(times))
        time = times[max(at - 1, 0)]
        points.append((place(time), BOTTOM - at / draws * (BOTTOM - TOP)))
    points.append((float(RIGHT), points[-1][1]))
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


_STEPS_OF_AXES: tuple[int, ...] = tuple(factor * int(f"1{'0' * power}") for power in range(11) for factor in (1, 2, 5))


def _around(low: int, high: int) -> tuple[int, int]:
    """The next of 1, 2, 5, 10, 20 … at or below the one and above the other."""
    return (
        _STEPS_OF_AXES[bisect_right(_STEPS_OF_AXES, max(low, 1)) - 1],
        _STEPS_OF_AXES[bisect_right(_STEPS_OF_AXES, max(high, 1))],
    )


def _scale(low: int, high: int) -> list[int]:
    steps = [step for step in _STEPS_OF_AXES if low <= step <= high]
    while len(steps) > _TICKS:
        steps = steps[::2] if len(steps) % 2 else [steps[0], *steps[1:-1:2], steps[-1]]
        steps = list(dict.fromkeys(steps))
    return steps


def tokens(cells: Cells, *, out: bool) -> Tokens | None:
    """The tokens of each draw as its provider counted them; None where none did."""
    counts = {arm: array("I", filter(None, _counts(cells, arm, out=out))) for arm in cells.arms}
    counts = {arm: values for arm, values in counts.items() if values}
    if not counts:
        return None
    top = max(max(values) for values in counts.values()) - 1
    width = _bin_width(top)
    bins = {arm: _binned(values, width) for arm, values in counts.items()}
    tallest = max(max(one) for one in bins.values())
    room = (BOTTOM - TOP) / len(bins)
    drawn = len(cells.ids) * cells.draws
    used = max(len(one) for one in bins.values())

    def place(number: float) -> float:
        return LEFT + number / used * (RIGHT - LEFT)

    arms = []
    for row, (arm, heights) in enumerate(bins.items()):
        base = TOP + room * (row + 1)
        bars = tuple(
            (_number(place(number) + 0.5), _number(base - tall), _number(place(1) - place(0) - 1), _number(tall))
            for number, count in enumerate(heights)
            if (tall := count / tallest * (room - 14))
        )
        known = f"{len(counts[arm]):,} of {figures.count(drawn, 'draw')} counted"
        arms.append(Bars(arm=arm, base=_number(base), top=_number(base - room + 14), bars=bars, known=known))
    step = max(1, round(used / _TICKS))
    ticks = tuple(Tick(x=_number(place(number)), text=f"{number * width:,}") for number in range(0, used + 1, step))
    title = "tokens out" if out else "tokens in"
    return Tokens(title=title, arms=tuple(arms), ticks=ticks, tallest=f"{tallest:,}")


def _counts(cells: Cells, arm: ArmName, *, out: bool) -> Sequence[int]:
    side = cells.sides[arm]
    return side.tokens_out if out else side.tokens_in


def _bin_width(top: int) -> int:
    """The least of 1, 2, 5, 10 … with which two dozen bins reach the top."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power * _BINS > top:
                return factor * power
        power *= 10


def _binned(values: Sequence[int], width: int) -> list[int]:
    """Counts a bin; values are one too high."""
    bins = [0] * ((max(values) - 1) // width + 1)
    for value in values:
        bins[(value - 1) // width] += 1
    return bins


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
