"""Numbers as text: one rounding, and never a printed number that contradicts the exact one."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.method.numbers import Bounded, Rate, Threshold
from evalaction.method.report import MarginBound
from evalaction.report import figures


@pytest.mark.parametrize(
    ("hits", "total", "text"),
    [
        (311, 320, "311/320 97.2 %"),
        (320, 320, "320/320 100 %"),
        (0, 320, "0/320 0 %"),
        (1, 2, "1/2 50.0 %"),
        (1, 8, "1/8 12.5 %"),
        (1, 16, "1/16 6.3 %"),
        (11999, 12000, "11999/12000 99.9 %"),
        (1, 1_000_000, "1/1000000 0.1 %"),
        (0, 0, "n/a"),
    ],
)
def test_rates(hits: int, total: int, text: str) -> None:
    assert figures.rate(Rate(hits, total)) == text


@given(st.integers(1, 10_000), st.data())
def test_a_percentage_is_within_half_a_tenth_and_whole_only_when_whole(total: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, total))
    text = figures.percent(Fraction(hits, total)).removesuffix(" %")
    assert (text == "0") == (hits == 0)
    assert (text == "100") == (hits == total)
    assert abs(Fraction(text) - Fraction(100 * hits, total)) <= Fraction(1, 10)
    if 1 <= 1000 * hits <= 999 * total:
        assert re.fullmatch(r"\d{1,2}\.\d|0|100", text)


def test_open_counts_show_both_ends() -> None:
    assert figures.bounded(Bounded(44, 45, 64)) == "44–45/64"
    assert figures.bounded_percent(Bounded(44, 45, 64)) == "44–45/64 68.8–70.3 %"
    assert figures.bounded(Bounded(52, 52, 64)) == figures.bounded_percent(Bounded(52, 52, 64)) == "52/64 81.3 %"
    assert figures.bounded(Bounded(0, 0, 0)) == "n/a"


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (Fraction(-14, 155), "−9.0 points"),
        (Fraction(1, 8), "+12.5 points"),
        (Fraction(0), "0 points"),
        (Fraction(1, 100_000), "+0.1 points"),
        (Fraction(-1, 2000), "−0.1 points"),
        (Fraction(-1), "−100.0 points"),
        (None, "n/a"),
    ],
)
def test_gaps(gap: Fraction | None, text: str) -> None:
    assert figures.points(gap) == text


@pytest.mark.parametrize(
    ("bound", "text"), [("0.80", "80"), ("0.025", "2.5"), ("1", "100"), ("0.0005", "0.05"), ("0.005", "0.5"), ("-0.1", "−10")]
)
def test_bounds_of_the_card_are_exact(bound: str, text: str) -> None:
    assert figures.scaled(Threshold.of(bound)) == text


def test_a_third_is_no_decimal() -> None:
    with pytest.raises(ValueError, match="not a decimal"):
        figures.scaled(Threshold("1/3", Fraction(1, 3)))


@given(
    st.floats(-1, 1, allow_nan=False),
    st.integers(0, 1000).map(lambda tenths: f"{tenths / 1000:.3f}"),
)
def test_the_printed_bound_and_margin_compare_as_the_exact_ones(lower: float, margin: str) -> None:
    bound = MarginBound(lower=lower, mean=0.0, variance=0.0, items=60, margin=margin, enough_items=None)
    printed, allowed = figures.lower_bound(bound)
    assert (Fraction(printed.replace("−", "-")) >= -Fraction(allowed)) == (Fraction(lower) >= -Fraction(margin))


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1.0 s"),
        (59_999, "59.9 s"),
        (60_000, "1 min 00 s"),
        (192_400, "3 min 12 s"),
        (3_900_000, "1 h 05 min"),
    ],
)
def test_durations(ms: int, text: str) -> None:
    assert figures.duration(ms) == text


def test_counts() -> None:
    assert [figures.count(number, "item") for number in (0, 1, 2, 12_000)] == ["0 items", "1 item", "2 items", "12,000 items"]
    assert figures.count(2, "reply", "replies") == "2 replies"


@pytest.mark.parametrize(("share", "points"), [(0.0, "0.0"), (0.08, "8.0"), (0.08001, "8.1"), (0.1, "10.0")])
def test_a_missed_loss_is_rounded_up(share: float, points: str) -> None:
    assert figures.points_up(share) == points


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (0.00004, "under 0.1 %"), (0.001, "0.1 %"), (0.0194, "2.0 %"), (0.1541, "15.5 %"), (1.0, "100.0 %")],
)
def test_a_computed_share_is_rounded_up(value: float, text: str) -> None:
    assert figures.share(value) == text
