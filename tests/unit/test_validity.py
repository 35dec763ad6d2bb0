from __future__ import annotations

import pytest
from support.runs import one_arm, say

from evalaction.method.card import Validity
from evalaction.method.judging.validity import Region, invalid_reasons


def reasons(letters: str, *, items: int = 40, min_items: int = 30) -> tuple[str, ...]:
    return invalid_reasons(letters.encode(), items=items, min_items=min_items, validity=Validity())


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("p" * 40, ()),
        ("u" * 2 + "p" * 38, ()),  # 5 % is not above 5 %
        ("u" * 3 + "p" * 37, ("transport", "unscored_mass")),
        ("uuee" + "p" * 36, ("unscored_mass",)),
        ("e" * 2 + "p" * 38, ()),
        ("e" * 3 + "p" * 37, ("unscored_mass",)),
        ("u" * 40, ("transport", "unscored_mass")),
        ("k" * 40, ()),
    ],
)
def test_reasons_over_all_planned_draws(letters: str, expected: tuple[str, ...]) -> None:
    assert reasons(letters) == expected


def test_too_few_items_come_first() -> None:
    assert reasons("u" * 29, items=29) == ("below_min_items", "transport", "unscored_mass")
    assert reasons("p" * 29 * 5, items=29) == ("below_min_items",)
    assert reasons("p" * 30, items=30) == ()


def test_ceilings_are_exact_where_floats_are_not() -> None:
    for size in range(20, 2001, 20):
        assert reasons("u" * (size // 20) + "p" * (size - size // 20), items=size, min_items=1) == ()
        assert "transport" in reasons("u" * (size // 20 + 1) + "p" * (size - size // 20 - 1), items=size, min_items=1)


def test_the_break_says_where_how_many_and_why() -> None:
    side = one_arm(*["u"] * 3, *["e"] * 2, *["p"] * 35).sides["treatment"]
    lost = Region(arm="treatment", side=side, items=range(40))
    assert [(found.code, say(found.sentence)) for found in lost.breaks(Validity())] == [
        (
            "treatment:transport",
            "treatment: 3 of 40 draws did not reach (7.5 %, ceiling 0.05); in the whole arm ‹status:503› × 3.",
        )
    ]
    half = Region(arm="treatment", side=side, items=range(2, 40), half=0, min_items=30)
    assert [(found.code, say(found.sentence)) for found in half.breaks(Validity())] == [
        (
            "treatment.h0:unscored_mass",
            "treatment, half 0: 35 of 38 draws have a verdict (floor 0.95); 1 did not reach and the checker itself failed on 2.",
        )
    ]
    small = Region(arm="treatment", side=side, items=range(5, 30), half=1, min_items=30)
    assert [say(found.sentence) for found in small.breaks(Validity())] == [
        "treatment, half 1: 25 items, the card asks for at least 30 in each half."
    ]
    assert Region(arm="treatment", side=side, items=range(5, 40)).breaks(Validity()) == ()
