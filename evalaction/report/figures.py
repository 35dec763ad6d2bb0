"""Numbers as text. Exact until here.

One rounding for all: to one decimal, halves away from zero; but what is not whole never prints as 0 or as 100 %,
and 0 % and 100 % print without a decimal. `11999/12000` is `99.9 %`, not `100 %`.
"""

from __future__ import annotations

import math
from fractions import Fraction

from evalaction.method.numbers import Bounded, Rate, Threshold
from evalaction.method.report import MarginBound

NA = "n/a"
MINUS = "−"


def _tenths(magnitude: Fraction) -> int:
    """The nearest number of tenths, halves up; never 0 for something that is more than nothing."""
    return max(math.floor(magnitude * 10 + Fraction(1, 2)), 1) if magnitude else 0


def _decimal(tenths: int) -> str:
    return f"{tenths // 10}.{tenths % 10}"


def _percentage(share: Fraction) -> str:
    if share in {0, 1}:
        return "100" if share else "0"
    return _decimal(min(_tenths(share * 100), 999))


def percent(share: Fraction | None) -> str:
    """`97.2 %`; `n/a` for None. `share` is between 0 and 1."""
    return NA if share is None else f"{_percentage(share)} %"


def rate(value: Rate) -> str:
    """`311/320 97.2 %`"""
    return f"{value} {percent(value.value)}" if value.total else NA


def bounded(value: Bounded) -> str:
    """`52/64 81.3 %`, or `44–45/64` where lost draws leave it open."""
    return rate(Rate(value.low, value.total)) if value.exact else str(value)


def bounded_percent(value: Bounded) -> str:
    """The same with both percentages: `44–45/64 68.8–70.3 %`."""
    if value.exact:
        return bounded(value)
    low, high = (_percentage(Fraction(count, value.total)) for count in (value.low, value.high))
    return f"{value} {low}–{high} %"


def signed(value: Fraction) -> str:
    """`+3.1`, `−9.0`, `0`"""
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    return f"{sign}{_decimal(_tenths(abs(value)))}" if value else "0"


def points(gap: Fraction | None) -> str:
    """A difference of two rates in percentage points: `−9.0 points`."""
    return NA if gap is None else f"{signed(gap * 100)} points"


def points_between(low: Fraction, high: Fraction) -> str:
    return points(low) if low == high else f"{signed(low * 100)} to {signed(high * 100)} points"


def scaled(bound: Threshold, factor: int = 100) -> str:
    """A card's decimal times `factor`, exactly: 0.80 is `80`, 0.025 is `2.5`. Raises ValueError if it is not a decimal."""
    value = bound.value * factor
    for digits in range(400):
        units = value * 10**digits
        if units.denominator == 1:
            text = f"{abs(units.numerator):0{digits + 1}d}"
            sign = MINUS if value < 0 else ""
            return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)
    raise ValueError(f"not a decimal: {bound.text}")


def lower_bound(bound: MarginBound) -> tuple[str, str]:
    """(lower bound, margin) in points. The bound is rounded down, as finely as the margin is written, so that the two
    printed numbers compare as the exact ones do."""
    margin = Threshold.of(bound.margin)
    text = scaled(margin)
    digits = max(1, len(text.partition(".")[2]))
    units = math.floor(Fraction(bound.lower) * 100 * 10**digits)
    sign = "+" if units > 0 else MINUS if units < 0 else ""
    whole, part = divmod(abs(units), 10**digits)
    return f"{sign}{whole}.{part:0{digits}d}", text


def points_up(share: float) -> str:
    """A share in points with one decimal, rounded up: never a smaller loss than the one that is missed."""
    tenths = math.ceil(round(share * 1000, 6))  # 0.08 is a little more than 8 points as a float
    return f"{tenths // 10}.{tenths % 10}"


def share(value: float) -> str:
    """A computed probability with one decimal, rounded up: `2.0 %`, `under 0.1 %`."""
    if value < 0.001:
        return "under 0.1 %" if value else "0 %"
    tenths = math.ceil(round(value * 1000, 6))
    return f"{tenths // 10}.{tenths % 10} %"


def duration(ms: int) -> str:
    """`840 ms`, `12.3 s`, `3 min 12 s`, `1 h 05 min`"""
    if ms < 1000:
        return f"{ms} ms"
    seconds = ms // 1000
    if seconds < 60:
        return f"{_decimal(ms // 100)} s"
    minutes = seconds // 60
    return f"{minutes} min {seconds % 60:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def number(value: int | Fraction) -> str:
    """`1,204`, `2.5`: a whole number, or one with a half."""
    return f"{value.numerator:,}" if value.denominator == 1 else f"{value.numerator // value.denominator:,}.5"


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 item`, `84 items`"""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
