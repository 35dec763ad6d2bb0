from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import GOLDEN, one_arm, row, tally

from evalaction.method.counting.rates import column_rates, draw_rates, percentile_ms, rates_of, tag_reports
from evalaction.method.counting.tally import Tally
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.report import DrawRates

STRIPS = st.integers(1, 5).flatmap(lambda k: st.lists(st.text("pkcue", min_size=k, max_size=k), min_size=1, max_size=8))


def draws(*strips: str) -> DrawRates:
    return draw_rates((strip.encode() for strip in strips), len(strips[0]))


@pytest.mark.parametrize(
    ("name", "letters"), [("all_reach_fail", "uuuu"), ("reach_ok_contract_all_fail", "ccc"), ("mix_10", "pppkkkccuu")]
)
def test_conditional_rates_of_the_third_protocol(name: str, letters: str) -> None:
    golden, got = GOLDEN["seed3_rates"][name], column_rates(letters.encode())
    values = [rate.value for rate in (got.reach, got.contract, got.check)]
    assert [None if value is None else float(value) for value in values] == [
        golden["reach"],
        golden["contract_given_reach"],
        golden["check_given_contract"],
    ]
    assert got.reach.total == golden["n"]


def test_the_product_of_the_columns_is_end_to_end() -> None:
    got = column_rates(b"pppkkkccuu")
    assert got.reach.value and got.contract.value and got.check.value
    assert got.reach.value * got.contract.value * got.check.value == got.end_to_end.value == Rate(3, 10).value


def test_a_checker_error_is_in_none_of_the_columns() -> None:
    got = column_rates(b"pke")
    assert (got.reach, got.contract, got.check, got.end_to_end, got.checker_errors) == (
        Rate(3, 3),
        Rate(3, 3),
        Rate(1, 2),
        Rate(1, 3),
        1,
    )


def test_a_zero_denominator_is_not_a_hundred_percent() -> None:
    got = column_rates(b"uu")
    assert (str(got.reach), str(got.contract), str(got.check), str(got.end_to_end)) == ("0/2", "n/a", "n/a", "0/2")


@pytest.mark.parametrize(
    "name", [name for name in GOLDEN["seed1_edges"] if "missing" not in name and "dup" not in name and name != "ragged_K"]
)
def test_edges_of_the_first_protocol_are_the_low_bounds(name: str) -> None:
    case = GOLDEN["seed1_edges"][name]
    letters = {"pass": "p", "fail": "k", "runner_error": "u"}
    got = draws("".join(letters[verdict] for _, _, verdict in sorted(case["rows"], key=lambda one: one[1])))
    assert got.flip is not None
    assert case["summarize"] == {
        "tasks": got.first.total,
        "first_pass": float(got.first.low),
        "stable_pass": float(got.stable.low),
        "flip_rate": float(got.flip.low),
        "tasks_with_runner_error": got.runner_error_items,
    }


@pytest.mark.parametrize(
    ("strip", "first", "stable", "flip", "lost"),
    [
        ("ppp", (1, 1), (1, 1), (0, 0), 0),
        ("ppk", (1, 1), (0, 0), (1, 1), 0),
        ("ppc", (1, 1), (0, 0), (1, 1), 0),
        ("kck", (0, 0), (0, 0), (0, 0), 0),
        ("ppu", (1, 1), (0, 1), (0, 1), 1),
        ("upp", (0, 1), (0, 1), (0, 1), 1),
        ("epp", (0, 1), (0, 1), (0, 1), 1),
        ("puk", (1, 1), (0, 0), (1, 1), 1),
        ("kuk", (0, 0), (0, 0), (0, 1), 1),
        ("uuu", (0, 1), (0, 1), (0, 1), 1),
    ],
)
def test_bounds(strip: str, first: tuple[int, int], stable: tuple[int, int], flip: tuple[int, int], lost: int) -> None:
    got = draws(strip)
    assert (got.first, got.stable, got.flip) == (Bounded(*first, 1), Bounded(*stable, 1), Bounded(*flip, 1))
    assert got.runner_error_items == lost


def test_unreached_draws_stay_in_the_denominator() -> None:
    got = rates_of(one_arm("p", "p", "u", "u", "k", "k", "k", "k").sides["treatment"], range(8))
    assert (str(got[0].reach), str(got[0].end_to_end), got[1].first) == ("6/8", "2/8", Bounded(2, 4, 8))


def test_nine_of_ten_is_not_stable_and_lost_draws_never_make_it_so() -> None:
    assert draws("p" * 9 + "k").stable == Bounded(0, 0, 1)
    assert draws("pppuu").stable == Bounded(0, 1, 1)


def test_one_draw_cannot_flip() -> None:
    got = draws("p", "u", "k")
    assert got.flip is None and got.first == got.stable == Bounded(1, 2, 3)


def test_tags_have_the_same_tables() -> None:
    grid = tally({"treatment": ["pp", "pk", "kk"]}, tags={"t0000": ("b",), "t0001": ("a", "b")})
    by_tag = {report.tag: report for report in tag_reports(grid.sides["treatment"], grid.tagged)}
    assert list(by_tag) == ["a", "b"]
    assert by_tag["b"].draws.stable == Bounded(1, 1, 2) and by_tag["b"].columns.check == Rate(3, 4)
    assert by_tag["a"].draws.flip == Bounded(1, 1, 1)


@pytest.mark.parametrize(
    ("unreached", "slow", "quick"),
    [(0, 95, 95), (5, 100, 95), (6, None, 95), (50, None, 95), (100, None, 0)],
)
def test_p95_takes_the_nearest_rank_and_unreached_for_ever(unreached: int, slow: int | None, quick: int | None) -> None:
    grid = Tally(["t0000"], {}, ["treatment"], 100, "freeze-me-before-running")
    for draw in range(100):
        lost = draw < unreached
        grid.add(row(draw=draw, letter="u" if lost else "p", ms=3 if lost else draw + 1))
    side = grid.sides["treatment"]
    assert percentile_ms(side, [0], 95, unreached_ms=None) == slow
    assert percentile_ms(side, [0], 95, unreached_ms=0) == quick
    assert percentile_ms(side, [], 95, unreached_ms=None) is None


@given(STRIPS, st.randoms())
def test_order_of_items_and_of_later_draws_changes_nothing(strips: list[str], order: random.Random) -> None:
    def shuffled(strip: str) -> str:
        rest = list(strip[1:])
        order.shuffle(rest)
        return strip[0] + "".join(rest)

    moved = [shuffled(strip) for strip in strips]
    order.shuffle(moved)
    assert draws(*moved) == draws(*strips)
    assert column_rates("".join(moved).encode()) == column_rates("".join(strips).encode())


@given(STRIPS, st.data())
def test_losing_a_draw_raises_no_numerator_and_only_widens_bounds(strips: list[str], data: st.DataObject) -> None:
    item = data.draw(st.integers(0, len(strips) - 1))
    draw = data.draw(st.integers(0, len(strips[0]) - 1))
    letter = data.draw(st.sampled_from("ue"))
    lost = list(strips)
    lost[item] = strips[item][:draw] + letter + strips[item][draw + 1 :]
    before, after = draws(*strips), draws(*lost)
    for name in ("first", "stable", "flip"):
        ours, theirs = getattr(before, name), getattr(after, name)
        assert ours is None or (theirs.low <= ours.low and theirs.high >= ours.high and theirs.total == ours.total)
    columns, fewer = column_rates("".join(strips).encode()), column_rates("".join(lost).encode())
    assert fewer.end_to_end.hits <= columns.end_to_end.hits and fewer.check.hits <= columns.check.hits
    assert fewer.end_to_end.total == columns.end_to_end.total == fewer.reach.total
