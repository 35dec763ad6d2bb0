"""Records that contradict themselves cannot be built."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from support.runs import row, tally

from evalaction.method.canonical import Json, digest, dumps, encode
from evalaction.method.counting import tally as tally_module
from evalaction.method.counting.tally import Tally
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import Columns, Completion


@pytest.mark.parametrize(
    "columns",
    [
        {"reach": False},
        {"reach": True, "reach_reason": "timeout", "contract": True, "check": True},
        {"reach": False, "reach_reason": "timeout", "contract": True},
        {"reach": False, "reach_reason": "timeout", "check": True},
        {"reach": True},
        {"reach": True, "contract": False},
        {"reach": True, "contract": True, "contract_reason": "not_json", "check": True},
        {"reach": True, "contract": False, "contract_reason": "not_json", "check": True},
        {"reach": True, "contract": False, "contract_reason": "not_json", "check_reason": "differs"},
        {"reach": True, "contract": True},
        {"reach": True, "contract": True, "check_reason": "differs"},
        {"reach": True, "contract": True, "check": False},
        {"reach": True, "contract": True, "check": False, "check_reason": "checker:crash"},
        {"reach": True, "contract": True, "check": True, "check_reason": "checker:crash"},
    ],
)
def test_a_later_column_never_outlives_an_earlier_one(columns: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"reach|contract|check"):
        Columns(**columns)


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": None},
        {"reason": None, "output": ""},
        {"reason": None, "output": " \n"},
        {"reason": "timeout", "output": "42"},
    ],
)
def test_a_draw_has_an_output_or_a_reason(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="gradable output or a reach reason"):
        Completion(**fields)
    assert (Completion(reason=None, output="42").output, Completion(reason="timeout").output) == ("42", None)


@pytest.mark.parametrize(("hits", "total"), [(-1, 2), (3, 2), (1, 0)])
def test_a_rate_is_a_part_of_a_whole(hits: int, total: int) -> None:
    with pytest.raises(ValueError, match="not a rate"):
        Rate(hits, total)


@pytest.mark.parametrize("bounds", [(2, 1, 3), (-1, 1, 3), (1, 4, 3)])
def test_bounds_are_in_order(bounds: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="not a bounded count"):
        Bounded(*bounds)


def test_nothing_over_nothing_prints_na() -> None:
    assert (str(Rate(0, 0)), Rate(0, 0).value, str(Bounded(0, 0, 0))) == ("n/a", None, "n/a")
    assert (str(Bounded(1, 2, 4)), str(Bounded(1, 1, 4))) == ("1–2/4", "1/4")


def test_canonical_text_has_one_form() -> None:
    value: Json = {"b": [1, Decimal("0.20"), None, True], "a": "é"}
    assert dumps(value) == '{"a":"é","b":[1,0.20,null,true]}'
    assert dumps(value, sort_keys=False) == '{"b":[1,0.20,null,true],"a":"é"}'
    assert dumps(0.5) == "0.5" and len(digest(value)) == 64
    assert encode("\ud800") == b'"\xed\xa0\x80"'


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("Infinity"), float("nan"), float("inf"), [Decimal("-Infinity")]])
def test_what_is_no_number_is_no_json(value: Any) -> None:
    with pytest.raises(ValueError, match=r"NaN|JSON"):
        dumps(value)


@pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="not JSON"):
        dumps(value)


def test_reasons_are_kept_with_their_details_up_to_a_number() -> None:
    grid = Tally([f"t{number}" for number in range(tally_module.MAX_DETAILS + 2)], {}, ["treatment"], 1, "s")
    for number, item in enumerate(grid.ids):
        columns = Columns(True, contract=True, check=False, check_reason=f"differs: expected {number}")
        grid.add(row(item, half=grid.halves[number], columns=columns))
    side = grid.sides["treatment"]
    assert side.reason(0, 0) == "differs: expected 0"
    assert side.reason(tally_module.MAX_DETAILS + 1, 0) == side.reason(tally_module.MAX_DETAILS, 0) == "differs"
    assert side.reasons()["check"] == (("differs", len(grid.ids)),)


def test_an_empty_grid_cannot_be_counted() -> None:
    with pytest.raises(ValueError, match="at least one item"):
        Tally([], {}, ["treatment"], 1, "s")
    assert tally({"treatment": ["p"]}).complete
