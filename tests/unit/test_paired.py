from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.runs import tally

from evalaction.method.counting.paired import discordant, flips, moved_column, pairs
from evalaction.method.report import ColumnName

STRIP = st.text("pkcue", min_size=3, max_size=3)


def listed(treatment: list[str], control: list[str]) -> list[tuple[str, str, str, str | None]]:
    found = pairs(tally({"treatment": treatment, "control": control}))
    return [(pair.kind, pair.item, pair.column, pair.reason) for pair in found]


def test_each_kind_with_the_first_column_that_differs() -> None:
    treatment = ["kpp", "ppp", "ppc", "ppp", "ppp", "upp", "ppp"]
    control = ["ppp", "cpp", "ppp", "pkp", "ppp", "ppp", "upp"]
    assert listed(treatment, control) == [
        ("lost", "t0000", "check", "mismatch"),
        ("broke", "t0000", "check", "mismatch"),
        ("broke", "t0002", "contract", "not_json"),
        ("broke", "t0005", "reach", "status:503"),
        ("gained", "t0001", "contract", "not_json"),
        ("steadied", "t0001", "contract", "not_json"),
        ("steadied", "t0003", "check", "mismatch"),
        ("steadied", "t0006", "reach", "status:503"),
    ]


def test_a_lost_draw_is_neither_lost_nor_gained() -> None:
    assert listed(["u", "p", "e"], ["p", "u", "p"]) == []


def test_the_first_draw_that_differs_names_the_column() -> None:
    assert listed(["puk"], ["ppp"]) == [("broke", "t0000", "reach", "status:503")]
    assert listed(["pek"], ["ppp"]) == [("broke", "t0000", "check", "checker:crash")]


def test_at_one_draw_stable_is_draw_0_and_is_not_listed_twice() -> None:
    assert listed(["k", "p"], ["p", "c"]) == [("lost", "t0000", "check", "mismatch"), ("gained", "t0001", "contract", "not_json")]


def test_columns_are_compared_only_where_both_came_so_far() -> None:
    #           reach   contract  check  u/c  c/k  e/k  k/e  e/p  u/e  both fail
    treatment = ["u", "p", "c", "p", "k", "p", "u", "c", "e", "k", "e", "u", "k"]
    control = ["p", "u", "p", "c", "p", "k", "c", "k", "k", "e", "p", "e", "k"]
    grid = tally({"treatment": treatment, "control": control})
    assert discordant(grid) == {"reach": (3, 1), "contract": (2, 1), "check": (1, 1)}


def test_the_column_that_moved_is_the_earliest_with_most_pairs_and_at_least_two() -> None:
    counts: dict[ColumnName, tuple[int, int]] = {"reach": (1, 0), "contract": (2, 1), "check": (0, 3)}
    assert moved_column(counts) == "contract"
    assert moved_column({**counts, "check": (2, 2)}) == "check"
    assert moved_column({"reach": (1, 0), "contract": (0, 1), "check": (0, 0)}) is None
    assert moved_column({"reach": (1, 1), "contract": (0, 2), "check": (0, 0)}) == "reach"


def test_flips_of_both_arms_fewest_passes_first() -> None:
    grid = tally({"treatment": ["ppk", "pkc", "ppp", "puu"], "control": ["ppp", "kup", "ccc", "ppp"]})
    assert [(flip.arm, flip.item, flip.strip, flip.other, flip.reason) for flip in flips(grid)] == [
        ("treatment", "t0001", "pkc", "kup", "mismatch"),
        ("treatment", "t0000", "ppk", "ppp", "mismatch"),
        ("control", "t0001", "kup", "pkc", "mismatch"),
    ]
    assert [(flip.item, flip.other) for flip in flips(tally({"treatment": ["pk"]}))] == [("t0000", None)]


@given(st.lists(st.tuples(STRIP, STRIP), min_size=1, max_size=6))
def test_swapping_the_arms_swaps_the_lists(both: list[tuple[str, str]]) -> None:
    ours, theirs = [pair[0] for pair in both], [pair[1] for pair in both]
    opposite = {"lost": "gained", "gained": "lost", "broke": "steadied", "steadied": "broke"}
    swapped = sorted((opposite[kind], item, column, reason or "") for kind, item, column, reason in listed(theirs, ours))
    assert swapped == sorted((kind, item, column, reason or "") for kind, item, column, reason in listed(ours, theirs))
    counts = discordant(tally({"treatment": ours, "control": theirs}))
    mirrored = discordant(tally({"treatment": theirs, "control": ours}))
    assert mirrored == {column: pair[::-1] for column, pair in counts.items()}
