from __future__ import annotations

from fractions import Fraction

import pytest
from support.runs import say

from evalaction.method.telling import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (words.count(1, "draw"), "1 draw"),
        (words.count(2520, "draw"), "2,520 draws"),
        (words.count(0, "reply", "replies"), "0 replies"),
        (words.percent(Fraction(44, 64)), "68.8 %"),
        (words.percent(Fraction(1)), "100 %"),
        (words.percent(Fraction(0)), "0 %"),
        (words.points(Fraction(1, 10)), "10 points"),
        (words.points(Fraction(1, 100)), "1 point"),
        (words.points(Fraction(1, 40)), "2.5 points"),
        (words.decimal(Fraction(80, 39)), "2.1"),
        (words.decimal(Fraction(2)), "2"),
        (words.listed(["a"]), "a"),
        (words.listed(["a", "b"]), "a and b"),
        (words.listed(["a", "b", "c"]), "a, b and c"),
    ],
)
def test_forms(text: str, expected: str) -> None:
    assert text == expected


def test_what_we_did_not_write_is_quoted() -> None:
    assert say(words.quoted(["a", "b"])) == "‹a›, ‹b›"
    assert say(words.quoted("abcde", most=2)) == "‹a›, ‹b› and 3 more"
    assert say(words.tallied([("timeout", 6), ("reset", 1)])) == "‹timeout› × 6, ‹reset› × 1"
    assert say(words.tallied([("a", 3), ("b", 2), ("c", 1)], most=2)) == "‹a› × 3, ‹b› × 2 and 1 other reason"
    assert words.ranked({"b": 1, "a": 1, "c": 2}) == (("c", 2), ("a", 1), ("b", 1))
