"""Draws for pages: kept in exam order whatever the order of rows, encoded so that nothing acts, within a budget of text."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from support import pages
from support.pages import render_html
from support.report_strategies import TEXTS
from support.reports import behind

from evalaction.method.counting.tally import MAX_DETAILS
from evalaction.method.records import Usage
from evalaction.report.cells import Cells, Words
from evalaction.report.html import data
from evalaction.report.html.kept import HEAD, choose
from evalaction.report.html.page import Drawn

GRID = st.lists(st.text("pkcue.", min_size=3, max_size=3), min_size=1, max_size=8)


@given(st.randoms(use_true_random=False), GRID)
@settings(max_examples=50, deadline=None)
def test_the_order_of_rows_leaves_no_trace(lot: random.Random, strips: list[str]) -> None:
    rows = [
        pages.row(f"t{item:04d}", "treatment", draw, letter, ms=7 * item + draw, usage=Usage(input=item, output=draw))
        for item, strip in enumerate(strips)
        for draw, letter in enumerate(strip)
        if letter != "."
    ]
    found = []
    for _ in range(2):
        cells = Cells([(f"t{item:04d}", ()) for item in range(len(strips))], ["treatment"], 3)
        for row in rows:
            cells.add(row)
        found.append(render_html(behind(), Drawn(cells, pages.Held())))
        assert [cells.strip("treatment", item) for item in range(len(strips))] == strips
        lot.shuffle(rows)
    assert found[0] == found[1]


def test_words_are_kept_once_and_details_have_a_limit() -> None:
    words = Words()
    assert [words.number(text) for text in ("a", "b", "a", None, "")] == [1, 2, 1, 0, 0]
    for number in range(MAX_DETAILS + 5):
        words.number(f"differs: {number}")
    assert words.names[words.number("differs: new")] == "differs"
    assert len(words.names) <= MAX_DETAILS + 2
    for number in range(MAX_DETAILS + 5):
        words.number(f"no detail {number}")
    assert words.names[words.number("one more")] == "…" and len(words.names) <= 2 * MAX_DETAILS + 2


def test_what_lies_behind_a_draw_is_told() -> None:
    cells = pages.cells({"treatment": ["pp"]})
    cells.add(pages.row(counters={"tool_hops": 3}, polls=1200, retries=0))
    held = pages.data_of(render_html(behind(), Drawn(cells, pages.Held())))
    assert held["behinds"] == ["", "polls 1,200, retries 0, tool_hops 3"]
    assert held["sides"][0]["behind"] == [1, 1, 0, 1]


def test_a_count_that_nobody_can_have_meant_fits() -> None:
    cells = pages.cells({"treatment": ["p"]})
    cells.add(pages.row(usage=Usage(input=1 << 200, output=0)))
    assert cells.sides["treatment"].tokens_in[0] == (1 << 32) - 1
    assert cells.sides["treatment"].tokens_out[0] == 1


@given(st.lists(st.integers(0, 3)))
def test_runs_say_every_value(values: list[int]) -> None:
    told = data.runs(values)
    assert [value for value, times in zip(told[::2], told[1::2], strict=True) for _ in range(times)] == values


@given(st.recursive(TEXTS | st.text(st.characters(codec=None)), lambda held: st.lists(held) | st.dictionaries(TEXTS, held)))
def test_encoded_data_reads_back_and_cannot_act(value: object) -> None:
    text = data.encoded(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029\u202e\ufeff\x7f")
    text.encode("utf-8")


TEXT_SIZES = st.lists(st.integers(0, 5_000), min_size=12, max_size=12)


@given(TEXT_SIZES, st.integers(0, 20_000))
@settings(max_examples=100, deadline=None)
def test_texts_stay_within_their_budget(sizes: list[int], budget: int) -> None:
    cells = pages.cells({"control": ["pkp", "ppp"], "treatment": ["ppp", "upp"]})
    places = [(arm, cell) for arm in cells.arms for cell in range(6)]
    source = pages.Held({place: "x" * size for place, size in zip(places, sizes, strict=True)})
    kept = choose(cells, source, {"t0001": {"broke"}}, budget=budget)
    assert not set(kept.whole) & set(kept.heads)
    assert len(kept.whole) + len(kept.heads) + kept.left_out == sum(size > 0 for size in sizes)
    shown = sum(source.size(*place) for place in kept.whole) + sum(min(source.size(*place), 2 * HEAD) for place in kept.heads)
    assert shown <= budget
    assert source.asked == [], "nothing is read before it is written"


def test_failing_draws_and_moved_items_come_first() -> None:
    cells = pages.cells({"control": ["pp", "pp", "pp"], "treatment": ["pp", "kp", "pp"]})
    source = pages.Held({(arm, cell): "x" * 100 for arm in cells.arms for cell in range(6)})
    kept = choose(cells, source, {"t0002": {"flip"}}, budget=800)
    assert kept.whole == (("treatment", 2), ("control", 4), ("control", 5), ("treatment", 4), ("treatment", 5), ("control", 0))
    assert kept.left_out == 6


def test_a_page_says_what_it_left_out() -> None:
    cells = pages.cells({"treatment": ["k"] * 10})
    source = pages.Held({("treatment", cell): "y" * (1 << 20) for cell in range(10)})
    page = render_html(behind(), Drawn(cells, source))
    assert "For size, 4 texts are whole here, 6 by their beginning and 0 not at all" in pages.shown(page)
    held = pages.data_of(page)
    assert {len(text) for text in held["whole"].values()} == {1 << 20}
    assert {len(text) for text in held["heads"].values()} == {HEAD}
    assert len(page) < 8 << 20


def test_a_run_without_texts_says_so() -> None:
    page = render_html(behind(), Drawn(pages.cells({"treatment": ["k"]}), pages.Held()))
    assert "No texts of replies were kept in this run." in page


def test_too_many_draws_for_details_are_marks() -> None:
    items = data.MOST_DETAILED // 100 + 1
    cells = pages.cells({"treatment": ["." * 100] * items})
    cells.add(pages.row("t0000", letter="k"))
    source = pages.Held({("treatment", 0): "text"})
    page = render_html(behind(), Drawn(cells, source))
    held = pages.data_of(page)
    assert held["sides"] == [{"letters": "k" + "." * (items * 100 - 1)}] and not held["detailed"] and held["whole"] == {}
    assert "400,100 draws are too many for one page" in page
