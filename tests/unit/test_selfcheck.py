from __future__ import annotations

import copy
import csv
import io
import json
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import GOLDEN

from evalaction.method.selfcheck import selfcheck, three_column_csv


def shipped() -> dict[str, Any]:
    text = resources.files("evalaction").joinpath("data/selfcheck.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def test_every_published_number_is_ours() -> None:
    compared = selfcheck(shipped())
    assert [(one.name, one.expected) for one in compared] == [(one.name, one.got) for one in compared]
    assert all(one.same for one in compared) and len(compared) == 42


def test_the_shipped_numbers_are_the_published_ones() -> None:
    assert shipped() == {name: value for name, value in GOLDEN.items() if name != "not_behind"}


def test_the_fixtures_of_the_first_two_protocols_as_printed() -> None:
    by_name = {one.name: json.loads(one.got) for one in selfcheck(shipped())}
    draws, halves = by_name["draws: fixture"], by_name["halves: fixture"]
    assert (draws["first_pass"], draws["stable_pass"], draws["flip_rate"], draws["tasks_with_runner_error"]) == (
        0.667,
        0.333,
        0.333,
        0,
    )
    assert draws["csv_sha256_12"] == "746778f6ff24"
    assert (halves["earned"], halves["half_signs"], halves["breaks"]) == (False, [1, -1], ["halves_disagree"])
    assert halves["hash"].startswith("6ac8d723")


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (("seed1_fixture", "csv_sha256"), "0", "draws: rows.csv"),
        (("seed2_fixture", "half_signs"), [1, 1], "halves: fixture"),
        (("seed3_rates", "mix_10", "reach"), 0.7, "columns: mix_10"),
        (("float_gap", 1, "exact_rational_sign"), 0, "gap: 3/50 and 2/50"),
        (("seed1_edges", "missing_draw0", "rows"), [["t", 0, "pass"]], "draws: missing_draw0 is refused"),
    ],
)
def test_a_number_that_differs_is_named(path: tuple[Any, ...], value: object, name: str) -> None:
    golden = copy.deepcopy(shipped())
    place = golden
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert [one.name for one in selfcheck(golden) if not one.same] == [name]


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), st.integers(0, 9), st.sampled_from(["pass", "fail"])
        )
    )
)
def test_the_table_is_what_the_csv_module_writes(rows: list[tuple[str, int, str]]) -> None:
    expected = io.StringIO()
    csv.writer(expected).writerows([("task", "draw", "verdict"), *rows])
    assert three_column_csv(rows) == expected.getvalue()
