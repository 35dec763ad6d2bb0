from __future__ import annotations

import random
import statistics
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import COLUMNS, SEED, one_arm, row, rows, tally

from evalaction.method.counting.counters import Counters, Spread
from evalaction.method.counting.tally import GridError, Tally, letter_of, reason_of
from evalaction.method.records import ARMS, Usage


def test_a_letter_for_each_way_a_draw_can_go() -> None:
    assert {letter: chr(letter_of(columns)) for letter, columns in COLUMNS.items()} == {letter: letter for letter in COLUMNS}
    assert [reason_of(columns) for columns in COLUMNS.values()] == [None, "mismatch", "not_json", "status:503", "checker:crash"]


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("unknown_item", {"item": "t9999"}),
        ("unknown_arm", {"arm": "control"}),
        ("unknown_draw", {"draw": 2}),
        ("unknown_draw", {"draw": -1}),
        ("wrong_half", {"half": 1}),
    ],
)
def test_a_row_without_a_place_is_refused(code: str, changes: dict[str, Any]) -> None:
    grid = Tally(["t0000"], {}, ["treatment"], 2, SEED)
    with pytest.raises(GridError) as caught:
        grid.add(row(**changes))
    assert caught.value.code == code and grid.rows == 0


def test_a_later_draw_never_replaces_an_earlier_one() -> None:
    grid = one_arm("kp")
    with pytest.raises(GridError, match="never replaced") as caught:
        grid.add(row(draw=0, letter="p"))
    assert caught.value.code == "duplicate_draw"
    assert grid.sides["treatment"].strip(0) == b"kp"


def test_an_extra_item_in_one_arm_is_refused() -> None:
    grid = tally({"treatment": ["p"], "control": ["p"]})
    with pytest.raises(GridError, match="no item 't0001'"):
        grid.add(row("t0001", "treatment"))


@pytest.mark.parametrize(("ids", "arms", "draws"), [([], ["treatment"], 1), (["a"], [], 1), (["a"], ["treatment"], 0)])
def test_an_empty_grid_is_no_grid(ids: list[str], arms: list[str], draws: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        Tally(ids, {}, arms, draws, SEED)  # type: ignore[arg-type]


def test_what_is_missing_is_named_in_draw_order() -> None:
    grid = Tally(["t0000", "t0001"], {}, ARMS, 2, SEED)
    grid.add(row("t0000", "control", 0))
    grid.add(row("t0001", "treatment", 1))
    assert not grid.complete and grid.cells == 8
    assert list(grid.missing())[:3] == [("t0000", "treatment", 0), ("t0001", "treatment", 0), ("t0001", "control", 0)]
    assert len(list(grid.missing())) == 6


def test_reasons_are_counted_by_column_and_found_by_draw() -> None:
    side = one_arm("kkc", "uup", "epp").sides["treatment"]
    assert side.reasons() == {
        "reach": (("status:503", 2),),
        "contract": (("not_json", 1),),
        "check": (("mismatch", 2), ("checker:crash", 1)),
    }
    assert side.lost() == (("status:503", 2), ("checker:crash", 1))
    assert [side.reason(0, 2), side.reason(1, 0), side.reason(1, 2)] == ["not_json", "status:503", None]


def test_a_reason_of_a_passing_check_is_no_failure() -> None:
    grid = Tally(["t0000"], {}, ["treatment"], 1, SEED)
    grid.add(row(columns=COLUMNS["p"].__class__(True, contract=True, check=True, check_reason="match")))
    assert grid.sides["treatment"].reasons() == {"reach": (), "contract": (), "check": ()}


def test_counters_of_the_rest() -> None:
    grid = Tally(["t0000"], {}, ["treatment"], 3, SEED)
    grid.add(row(draw=0, served_model="m-1", fingerprint="f", usage=Usage(input=10, output=4), ms=7))
    grid.add(row(draw=1, served_model="m-2", usage=Usage(input=10), cache_hit="x-cache", ms=9))
    grid.add(row(draw=2, letter="c", served_model="m-1", finish_reason="length"))
    side = grid.sides["treatment"]
    assert (side.served, side.fingerprints) == ({"m-1": 2, "m-2": 1}, {"f": 1})
    assert (side.tokens_in, side.tokens_out, side.cache_marks, side.cut) == (20, 4, {"x-cache": 1}, 1)
    assert list(side.ms) == [7, 9, 40]


def test_identical_texts_are_those_that_are_there() -> None:
    grid = Tally(["t0000", "t0001", "t0002"], {}, ["treatment"], 2, SEED)
    for item, texts in {"t0000": ("a", "a"), "t0001": ("a", "b"), "t0002": (None, None)}.items():
        for draw, text in enumerate(texts):
            grid.add(row(item, draw=draw, text_sha256=text, parsed_sha256="same" if text else None))
    side = grid.sides["treatment"]
    assert (side.same_texts(), side.same_parsed()) == (1, 2)


def test_a_text_that_comes_after_a_missing_one_is_still_a_difference() -> None:
    grid = Tally(["t0000"], {}, ["treatment"], 3, SEED)
    for draw, text in enumerate((None, "a", "a")):
        grid.add(row(draw=draw, text_sha256=text))
    assert grid.sides["treatment"].same_texts() == 0


def test_one_draw_has_nothing_to_be_identical_with() -> None:
    grid = Tally(["t0000"], {}, ["treatment"], 1, SEED)
    grid.add(row(text_sha256="a"))
    assert grid.sides["treatment"].same_texts() == 0


def test_replays_are_id_and_body_of_one_item() -> None:
    grid = Tally(["t0000", "t0001"], {}, ["treatment"], 3, SEED)
    replies: dict[str, list[tuple[str | None, str | None]]] = {
        "t0000": [("a", "x"), ("a", "x"), ("a", "y")],
        "t0001": [("a", "x"), (None, "x"), ("b", None)],
    }
    for item, pairs in replies.items():
        for draw, (response_id, body) in enumerate(pairs):
            grid.add(row(item, draw=draw, response_id=response_id, body_sha256=body))
    side = grid.sides["treatment"]
    assert (side.replayed(), side.repeated_ids()) == (1, 2)
    assert grid.replayed(one_endpoint=True) == 1


def test_arms_at_one_endpoint_may_replay_each_other() -> None:
    grid = Tally(["t0000"], {}, ARMS, 2, SEED)
    for arm, bodies in (("treatment", "xy"), ("control", "xz")):
        for draw, body in enumerate(bodies):
            grid.add(row(arm=arm, draw=draw, response_id="a", body_sha256=body))  # type: ignore[arg-type]
    assert (grid.replayed(one_endpoint=True), grid.replayed(one_endpoint=False)) == (1, 0)


def test_a_repeated_tag_counts_once() -> None:
    grid = tally({"treatment": ["p", "k"]}, tags={"t0000": ("code", "code"), "t0001": ("code", "prose")})
    assert grid.tagged == {"code": [0, 1], "prose": [1]}


@given(st.lists(st.text("pkcue", min_size=3, max_size=3), min_size=1, max_size=6), st.randoms())
def test_the_order_of_rows_leaves_no_trace(strips: list[str], order: random.Random) -> None:
    shuffled = list(rows({"treatment": strips, "control": strips[::-1]}))
    order.shuffle(shuffled)
    first = tally({"treatment": strips, "control": strips[::-1]})
    second = Tally(first.ids, {}, ARMS, 3, SEED)
    for one in shuffled:
        second.add(one)
    for arm in ARMS:
        ours, theirs = first.sides[arm], second.sides[arm]
        assert ours.letters == theirs.letters and ours.reasons() == theirs.reasons() and ours.lost() == theirs.lost()
        assert [ours.reason(0, draw) for draw in range(3)] == [theirs.reason(0, draw) for draw in range(3)]


def test_a_draw_costs_some_bytes_and_its_row_is_let_go() -> None:
    ids = [f"item-{number}" for number in range(2000)]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        grid = Tally(ids, {}, ["treatment"], 10, SEED)
        for item in ids:
            template = row(item)
            for draw in range(10):
                grid.add(replace(template, draw=draw, ms=draw, response_id=f"{item}-{draw}", body_sha256=f"{item}-{draw}"))
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grid.complete and grown / grid.cells < 40


def test_what_happened_behind_the_draws() -> None:
    grid = Tally(["t0000", "t0001"], {}, ARMS, 2, SEED, counters={"treatment": ("hops", "never")})
    grid.add(row(draw=0, finish_reason="LENGTH", counters={"hops": 3, "other": 9}, polls=4, retries=2))
    grid.add(row(draw=1, letter="u", finish_reason="max_output_tokens", polls=1))
    grid.add(row("t0001", draw=0, finish_reason="content_filter", counters={}, retries=1))
    grid.add(row("t0001", draw=1, finish_reason="tool_calls", counters={"hops": 0}))
    grid.add(row(arm="control", draw=0, counters={"hops": 3}))
    side = grid.sides["treatment"]
    assert (side.polls, side.retried, side.retries) == (5, 2, 3)
    assert (side.truncated, side.filtered, side.cut) == ({"LENGTH": 1, "max_output_tokens": 1}, {"content_filter": 1}, 0)
    assert side.counters.names == ("hops", "never")
    assert side.counters.spread("hops", range(4)) == Spread(draws=2, missing=2, low=0, median=Fraction(3, 2), high=3)
    assert side.counters.spread("hops", range(2)) == Spread(draws=1, missing=1, low=3, median=Fraction(3), high=3)
    nothing = Spread(draws=0, missing=4, low=None, median=None, high=None)
    assert side.counters.spread("never", range(4)) == side.counters.spread("other", range(4)) == nothing
    assert grid.sides["control"].counters.names == ()


@given(st.lists(st.none() | st.integers(0, 10**15 - 1), max_size=12))
def test_a_spread_is_that_of_the_draws_that_have_the_counter(values: list[int | None]) -> None:
    counters = Counters(["n"], len(values))
    for cell, value in enumerate(values):
        if value is not None:
            counters.add(cell, {"n": value})
    found, there = counters.spread("n", range(len(values))), sorted(value for value in values if value is not None)
    assert (found.draws, found.missing) == (len(there), len(values) - len(there))
    if there:
        assert (found.low, found.high, found.median) == (there[0], there[-1], statistics.median(map(Fraction, there)))
