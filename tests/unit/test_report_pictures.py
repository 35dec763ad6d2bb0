"""Pictures: every mark inside its frame, in the order of its numbers, with the words of the tables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import pages
from support.report_strategies import reports
from support.reports import behind, columns, half, small_single

from evalaction.method.records import Usage
from evalaction.method.report import HalfSide, MarginBound, Report
from evalaction.report import figures
from evalaction.report.html import pictures, spread
from evalaction.report.html.pictures import WIDTH


@given(reports())
@settings(max_examples=60, deadline=None)
def test_halves_lie_within_their_axis(report: Report) -> None:
    for picture, told in zip(pictures.halves(report), report.halves, strict=True):
        assert picture.control is not None and picture.treatment is not None and told.gap is not None
        for point in (picture.control, picture.treatment):
            assert 10 <= float(point.x) <= WIDTH - 10 and 70 <= float(point.label_x) <= WIDTH - 70
        distance = float(picture.treatment.x) - float(picture.control.x)
        assert (distance > 0.02) <= (told.gap > 0) and (distance < -0.02) <= (told.gap < 0)
        assert figures.points(told.gap) in picture.title


def test_a_half_without_rates_has_no_points() -> None:
    empty = replace(half(0, 10, (1, 2), (1, 2), 0), treatment=HalfSide(passed=0, scored=0, reasons=()), gap=None)
    picture = pictures.halves(replace(behind(), halves=(empty,)))[0]
    assert picture.treatment is None and picture.words.endswith("control 50.0 %, treatment n/a")
    nothing = replace(empty, control=HalfSide(passed=0, scored=0, reasons=()))
    assert pictures.halves(replace(behind(), halves=(nothing,)))[0].low == "0 %"


def test_shares_are_all_the_draws() -> None:
    arm = replace(behind().arms[0], columns=columns(100, 95, 90, 60, errors=5))
    parts = pictures.shares(arm)
    assert [(part.letter, part.count) for part in parts] == [("p", 60), ("k", 25), ("c", 5), ("u", 5), ("e", 5)]
    assert [part.start for part in parts] == ["0", "600", "850", "900", "950"]
    assert sum(Fraction(part.width) for part in parts) == 1000


@given(st.floats(-1, 1), st.floats(0, 1), st.integers(1, 99))
def test_the_margin_and_its_bound_are_in_order(mean: float, room: float, margin: int) -> None:
    bound = MarginBound(lower=mean - room, mean=mean, variance=0.1, items=84, margin=f"0.{margin:02d}", enough_items=None)
    picture = pictures.margin(bound)
    places = {name: float(getattr(picture, name)) for name in ("lower", "mean", "margin", "zero")}
    assert all(10 <= place <= WIDTH - 10 for place in places.values())
    assert places["lower"] <= places["mean"] and places["margin"] < places["zero"]
    assert (places["lower"] < places["margin"] - 0.02) <= (bound.lower < -margin / 100)
    assert figures.lower_bound(bound)[0] in picture.words


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=50), st.integers(0, 20))
@settings(max_examples=100, deadline=None)
def test_a_curve_never_falls_and_ends_where_draws_were_lost(times: list[int], lost: int) -> None:
    cells = pages.cells({"treatment": ["p"] * len(times) + ["u"] * lost})
    for item, ms in enumerate(times):
        cells.add(pages.row(f"t{item:04d}", ms=ms))
    found = spread.latency(cells)
    if not max(times):
        assert found is None, "replies from a file take no time"
        return
    assert found is not None
    points = [tuple(map(float, point.split(","))) for point in found.curves[0].points.split()]
    assert points == sorted(points, key=lambda point: (point[0], -point[1]))
    assert all(spread.LEFT <= x <= spread.RIGHT and spread.TOP - 0.1 <= y <= spread.BOTTOM for x, y in points)
    share = len(times) / (len(times) + lost)
    assert points[-1][1] == pytest.approx(spread.BOTTOM - share * (spread.BOTTOM - spread.TOP), abs=0.1)
    assert 2 <= len(found.ticks) <= 6
    assert all(spread.LEFT <= float(tick.x) <= spread.RIGHT for tick in found.ticks)


def test_nothing_that_arrived_is_no_curve() -> None:
    assert spread.latency(pages.cells({"treatment": ["uu"]})) is None
    assert spread.tokens(pages.cells({"treatment": ["pp"]}), out=True) is None


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50))
@settings(max_examples=100, deadline=None)
def test_bars_hold_every_draw_whose_provider_counted(counts: list[int]) -> None:
    cells = pages.cells({"control": ["p"] * len(counts), "treatment": ["p"] * len(counts)})
    for item, tokens in enumerate(counts):
        cells.add(pages.row(f"t{item:04d}", usage=Usage(output=tokens)))
    found = spread.tokens(cells, out=True)
    assert found is not None
    (arm,) = found.arms
    assert arm.known == f"{len(counts)} of {figures.count(len(counts), 'draw')} counted"
    assert arm.arm == "treatment" and 1 <= len(arm.bars) <= 24
    assert max(float(height) for *_, height in arm.bars) == pytest.approx(spread.BOTTOM - spread.TOP - 14, abs=0.1)
    for x, y, width, height in (map(float, bar) for bar in arm.bars):
        assert x >= spread.LEFT and x + width <= spread.RIGHT and width > 0
        assert y + height == pytest.approx(float(arm.base), abs=0.11) and y >= float(arm.top) - 0.11


def test_one_arm_has_one_bar_and_no_halves() -> None:
    assert len(small_single().arms) == 1 and pictures.halves(small_single()) == ()
