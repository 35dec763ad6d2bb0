"""The named checks: what each accepts, and reasons that say what differed without lying in either direction."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.checks.equality import at, difference, parse_pointer
from evalaction.checks.extract import one_number
from evalaction.checks.kinds import KINDS, BadCheck, prepare
from evalaction.checks.words import REASON_LENGTH, around, clipped, one_line
from evalaction.method.canonical import Json
from evalaction.method.numbers import Threshold
from evalaction.method.records import Check, CheckKind


def reason(kind: CheckKind, expected: Json, text: str, value: Json = None, **fields: Any) -> str | None:
    return prepare(Check(kind=kind, expected=expected, **fields))(text, value)


@pytest.mark.parametrize(
    ("kind", "expected", "passes", "fails"),
    [
        ("exact", " yes\n", ["yes", "\tyes "], ["Yes", "yesterday", "yes.", "ye", ""]),
        ("exact", "1", ["1"], ["10", "01", "1.0"]),
        ("exact", "é", ["é"], ["e\u0301"]),
        ("contains", "pass", ["pass", "password", "it passes"], ["Pass", "pas s"]),
        ("regex", r"\b1\b", ["1", "a 1 b"], ["10", "21"]),
        ("regex", r"(?i)^yes$", ["YES", " yes\n"], ["yes no", "yesterday"]),
        ("regex", r"(?s)a.b", ["a\nb"], ["ab"]),
        ("number", 25, ["25", " 25.0 ", "2.5e1", "+25", "25."], ["5", "2 5", "25 apples", "", "nan", "25,0", "0x19"]),
        ("number", Decimal("-0.5"), ["-.5", "−0.5", "-5e-1"], ["0.5", "--0.5"]),
        ("number", "42", ["42"], ["41"]),
    ],
)
def test_texts(kind: CheckKind, expected: Json, passes: list[str], fails: list[str]) -> None:
    for text in passes:
        assert reason(kind, expected, text) is None, text
    for text in fails:
        assert reason(kind, expected, text), text


@pytest.mark.parametrize(
    ("expected", "tolerance", "passes", "fails"),
    [
        (Decimal("0.3"), "0.1", ["0.2", "0.4", "0.30"], ["0.1999999999999999999999", "0.4000000000000000000001"]),
        (10, None, ["10", "1e1"], ["10.000000000000000000000000001"]),
        (10**30, "1", [str(10**30 + 1)], [str(10**30 + 2)]),
        (0, "0", ["0", "-0.0"], ["1e-400"]),
    ],
)
def test_a_tolerance_is_exact(expected: Json, tolerance: str | None, passes: list[str], fails: list[str]) -> None:
    limit = Threshold.of(tolerance) if tolerance else None
    for text in passes:
        assert reason("number", expected, text, tolerance=limit) is None
    for text in fails:
        assert (reason("number", expected, text, tolerance=limit) or "").startswith("differs: ")


@pytest.mark.parametrize("text", ["1e9999999", "1e-9999999", "1e401", "9" * 1_001, "٣", "1_000", "½", "twelve", "4 5"])
def test_what_is_not_one_number_is_a_fail_at_once(text: str) -> None:
    assert (reason("number", 4, text) or "").startswith("not_a_number: ")


@pytest.mark.parametrize(
    ("expected", "value", "same"),
    [
        (1, Decimal("1.0"), True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        ("1", 1, False),
        (None, None, True),
        (None, False, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ([], {}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": {"b": [1, {"c": True}]}}, {"a": {"b": [1, {"c": 1}]}}, False),
    ],
)
def test_json_equality(expected: Json, value: Json, same: bool) -> None:
    assert (reason("json", expected, "", value) is None) == same
    assert (reason("json", value, "", expected) is None) == same


def test_a_pointer_chooses_the_part() -> None:
    value: Json = {"a/b": [{"~": 7}], "": 8, "list": [1]}
    assert reason("json", 7, "", value, pointer="/a~1b/0/~0") is None
    assert reason("json", 8, "", value, pointer="/") is None
    assert reason("json", value, "", value, pointer="") is None
    for missing in ("/nothing", "/list/1", "/list/-", "/list/00", "/list/-1", "/list/x", "/list/0/deeper", "/a~1b/0/~0/x"):
        assert (reason("json", None, "", value, pointer=missing) or "").startswith("no_such_place: ")


@pytest.mark.parametrize(
    ("kind", "expected", "text", "value", "fields", "said"),
    [
        ("exact", "red", "green", None, {}, 'differs: expected "red", got "green"'),
        ("exact", "green", "red", None, {}, 'differs: expected "green", got "red"'),
        ("contains", "a", "b", None, {}, 'missing: "a" is not in "b"'),
        ("contains", "b", "a", None, {}, 'missing: "b" is not in "a"'),
        ("regex", "^a$", "b", None, {}, 'no_match: "^a$" matches nothing in "b"'),
        ("number", 42, "41", None, {}, 'differs: expected 42, got "41"'),
        ("number", 41, "42", None, {"tolerance": Threshold.of("0.50")}, 'differs: expected 41 within 0.50, got "42"'),
        ("json", {"a": 1}, "", {"a": True}, {}, "differs: at /a: expected 1, got true"),
        ("json", {"a": True}, "", {"a": 1}, {}, "differs: at /a: expected true, got 1"),
        ("json", {"a": 1}, "", {}, {}, 'differs: at the top: the key "a" is missing'),
        ("json", {}, "", {"a": 1}, {}, 'differs: at the top: the key "a" is not expected'),
        ("json", [1, 2], "", [1], {"pointer": ""}, "differs: at the top: expected an array of 2, got an array of 1"),
        ("json", 1, "", {"x": {"y": 2}}, {"pointer": "/x/y"}, "differs: at /x/y: expected 1, got 2"),
    ],
)
def test_the_reason_names_both_sides_the_right_way_round(
    kind: CheckKind, expected: Json, text: str, value: Json, fields: dict[str, Any], said: str
) -> None:
    assert reason(kind, expected, text, value, **fields) == said


def test_a_long_text_shows_the_place_of_the_first_difference() -> None:
    said = reason("exact", "x" * 500 + "A" + "y" * 500, "x" * 500 + "B" + "y" * 500) or ""
    assert "A" in said and "B" in said and len(said) <= REASON_LENGTH


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (Check(kind="exact", expected=42), "expects a text"),
        (Check(kind="contains", expected=None), "expects a text"),
        (Check(kind="regex", expected="("), "does not compile"),
        (Check(kind="regex", expected="a{2,1}"), "does not compile"),
        (Check(kind="regex", expected=1), "expects a text"),
        (Check(kind="number", expected=True), "expects one number"),
        (Check(kind="number", expected="4 or 5"), "expects one number"),
        (Check(kind="number", expected=None), "expects one number"),
        (Check(kind="number", expected=1, tolerance=Threshold.of("-1")), "not negative"),
        (Check(kind="json", expected=1, pointer="a"), "begins with"),
        (Check(kind="json", expected=1, pointer="/~2"), "~0"),
        (Check(kind="python", expected=1), "no check called"),
    ],
)
def test_a_check_that_cannot_be_used(check: Check, sentence: str) -> None:
    with pytest.raises(BadCheck, match=sentence) as refused:
        prepare(check)
    assert str(refused.value).isprintable()


def test_every_kind_is_in_the_table() -> None:
    assert set(KINDS) == {"exact", "contains", "regex", "number", "json"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.decimals(-99, 99, places=1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(json_values, json_values)
@settings(max_examples=150, deadline=None)
def test_equality_is_reflexive_and_symmetric(one: Json, other: Json) -> None:
    assert difference(one, one) is None
    assert (difference(one, other) is None) == (difference(other, one) is None)


@given(st.text(st.characters(), max_size=80), st.sampled_from(["exact", "contains", "regex"]))
@settings(max_examples=150, deadline=None)
def test_reasons_are_bounded_and_can_be_written(text: str, kind: CheckKind) -> None:
    said = reason(kind, "never\x00there", text)
    assert said and len(said) <= REASON_LENGTH and said.isprintable() and said.encode("utf-8")


@given(st.text(max_size=200), st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_quotations_are_bounded(text: str, place: int) -> None:
    assert len(around(text, place)) <= 120
    assert len(one_line(text, 50)) <= 50
    assert one_line("abc") == "abc" and one_line("x" * 60, 50) == "x" * 49 + "…"


def test_containers_are_shown_by_their_size() -> None:
    assert clipped([1, 2]) == "an array of 2"
    assert clipped({"a": 1}) == "an object of 1"
    assert clipped(Decimal("1.50")) == "1.50"


@given(st.decimals(-(10**9), 10**9, allow_nan=False))
@settings(max_examples=100, deadline=None)
def test_every_decimal_is_one_number(value: Decimal) -> None:
    assert one_number(str(value)) == str(value)


def test_pointers_find_what_they_name() -> None:
    assert parse_pointer("") == ()
    assert parse_pointer("/a//~01") == ("a", "", "~1")
    assert at({"a": {"": [0, 1]}}, ("a", "", "1")) == 1
