"""Report → the geometry of its pictures. Numbers that are printed are those of the tables, in the same words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.numbers import Rate, Threshold
from evalaction.method.report import ArmReport, HalfReport, HalfSide, MarginBound, Report
from evalaction.report import figures
from evalaction.report.tables import AHEAD

WIDTH = 360
_LEFT, _RIGHT = 10, WIDTH - 10
_LABEL = 70  # half the width of the longest label


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """One part of an arm's draws: `letter` of the strip, where it begins and how wide it is, in thousandths."""

    letter: str
    count: int
    start: str
    width: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A rate on the axis of a half; the label keeps inside the picture."""

    x: str
    label_x: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Half:
    title: str
    control: Point | None
    treatment: Point | None
    ahead: str
    low: str
    high: str
    words: str
    """The same for who cannot see it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Margin:
    """Where the lower bound of the difference lies, beside the margin and beside no difference."""

    lower: str
    mean: str
    margin: str
    zero: str
    lower_text: str
    label_x: str
    margin_text: str
    words: str


def _number(value: Fraction) -> str:
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def _inside(x: Fraction) -> Fraction:
    """The middle of a label that would otherwise leave the picture."""
    return min(max(x, Fraction(_LABEL)), Fraction(WIDTH - _LABEL))


def shares(arm: ArmReport) -> tuple[Share, ...]:
    """How the draws of an arm ended, as parts of one bar; what did not happen is left out."""
    rates = arm.columns
    counts = {
        "p": rates.end_to_end.hits,
        "k": rates.check.total - rates.check.hits,
        "c": rates.contract.total - rates.contract.hits,
        "u": rates.reach.total - rates.reach.hits,
        "e": rates.checker_errors,
    }
    total = sum(counts.values())
    parts = []
    start = Fraction(0)
    for letter, count in counts.items():
        if count > 0:
            width = Fraction(1000 * count, total)
            parts.append(Share(letter=letter, count=count, start=_number(start), width=_number(width)))
            start += width
    return tuple(parts)


def halves(report: Report) -> tuple[Half, ...]:
    """The halves on one axis, as wide as their rates ask for."""
    rates = [rate for half in report.halves for side in (half.control, half.treatment) if (rate := _rate(side)) is not None]
    low, high = _domain(rates)
    return tuple(_half(half, low, high) for half in report.halves)


def _rate(side: HalfSide) -> Fraction | None:
    return Rate(side.passed, side.scored).value


def _domain(rates: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Whole tenths around all rates, at least two of them."""
    if not rates:
        return Fraction(0), Fraction(1)
    low = Fraction(min(rates) * 10 // 1, 10)
    high = min(Fraction(-(-max(rates) * 10 // 1), 10), Fraction(1))
    return (low, high) if high - low >= Fraction(1, 5) else (max(high - Fraction(1, 5), Fraction(0)), max(high, Fraction(1, 5)))


def _half(half: HalfReport, low: Fraction, high: Fraction) -> Half:
    def point(name: str, side: HalfSide) -> Point | None:
        rate = _rate(side)
        if rate is None:
            return None
        x = _LEFT + (rate - low) / (high - low) * (_RIGHT - _LEFT)
        return Point(x=_number(x), label_x=_number(_inside(x)), text=f"{name} {figures.percent(rate)}")

    control, treatment = point("control", half.control), point("treatment", half.treatment)
    ahead = "neither is ahead" if half.sign == 0 else f"{AHEAD[half.sign]} is ahead"
    title = f"half {half.half}: {figures.points(half.gap)}, {ahead}"
    texts = [one.text if one else f"{name} n/a" for name, one in (("control", control), ("treatment", treatment))]
    return Half(
        title=title,
        control=control,
        treatment=treatment,
        ahead=AHEAD[half.sign],
        low=figures.percent(low),
        high=figures.percent(high),
        words=f"{title}; {', '.join(texts)}",
    )


def margin(bound: MarginBound) -> Margin:
    """Mean difference and its lower bound on an axis that also shows the margin."""
    lower, mean, limit = Fraction(bound.lower), Fraction(bound.mean), -Threshold.of(bound.margin).value
    left = min(lower, limit, Fraction(0))
    right = max(mean, lower, Fraction(0))
    room = (right - left) / 8 or Fraction(1, 8)
    left, right = left - room, right + room

    def place(value: Fraction) -> str:
        return _number(_LEFT + (value - left) / (right - left) * (_RIGHT - _LEFT))

    lower_text, margin_text = figures.lower_bound(bound)
    words = f"lower bound {lower_text} points, margin {figures.MINUS}{margin_text} points"
    return Margin(
        lower=place(lower),
        mean=place(mean),
        margin=place(limit),
        zero=place(Fraction(0)),
        lower_text=lower_text,
        label_x=_number(_inside(Fraction(place(lower)))),
        margin_text=f"{figures.MINUS}{margin_text}",
        words=words,
    )
