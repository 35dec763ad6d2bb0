"""YAML as other tools read it: anchors are followed within a bound, values keep their lines, what is odd is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.errors import SourceError
from evalaction.importers.loose_yaml import MAX_VALUES, plain_date, read_loose


def value(text: str) -> Any:
    return read_loose(text.encode(), file="x.yaml").value


def test_scalars_are_those_of_yaml_1_2() -> None:
    assert value("[yes, no, 1_0, 017, 0.50, ~, true, '5', 12:30:45]") == [
        "yes", "no", "1_0", 17, Decimal("0.50"), None, True, "5", "12:30:45",
    ]  # fmt: skip


def test_anchors_and_aliases_are_followed() -> None:
    assert value("a: &x {b: 1}\nc: *x\nd: [*x, 2]") == {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, 2]}


def test_merge_keys_yield_to_what_is_written() -> None:
    text = "base: &a {x: 1, y: 2}\nmore: &b {y: 3, z: 4}\none: {<<: *a, x: 9}\ntwo:\n  <<: [*a, *b]\n  w: 5\n"
    assert value(text)["one"] == {"x": 9, "y": 2}
    assert value(text)["two"] == {"w": 5, "x": 1, "y": 2, "z": 4}
    assert value("'<<': 1") == {"<<": 1}


def test_values_and_keys_know_their_lines() -> None:
    document = read_loose(b"a:\n  - x: 1\n  - &t\n    y:\n      z: 2\nb: *t\n", file="x.yaml")
    assert document.place(("a", 1, "y")) == (5, 7) and document.key_place(("a", 1, "y")) == (4, 5)
    assert document.key_place(("b",)) == (6, 1) and document.place(("b", "y")) == (5, 7)


def test_a_date_without_quotes_is_known_as_one() -> None:
    document = read_loose(b"a: 2024-01-31\nb: '2024-01-31'\nc: 2024\nd: {e: 2024-01-31 10:00:00}\n", file="x.yaml")
    assert [plain_date(document, (name,)) for name in "abc"] == [True, False, False]
    assert plain_date(document, ("d", "e")) and not plain_date(document, ("d",)) and not plain_date(document, ("z",))


def test_two_escapes_may_be_one_character() -> None:
    assert value('"\\ud83d\\ude00"') == "😀"


def test_an_empty_file_holds_nothing() -> None:
    assert value("") is None and value("# only a comment\n") is None


def test_json_is_read_too() -> None:
    assert value('{"a": [1, 2.50]}') == {"a": [1, Decimal("2.50")]}


def test_aliases_that_stand_for_too_much_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(SourceError, match=f"over {MAX_VALUES:,} values"):
        value("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: *nowhere", "x.yaml:1:4: the alias `*nowhere` has no anchor before it"),
        ("a: &a [*a]", "has no anchor before it"),
        ("a: 1\nb: 2\na: 3", "x.yaml:3:1: the key `a` appears twice"),
        ("a: !!python/object x", "tags"),
        ("--- 1\n--- 2", "only one YAML document"),
        ("? [a]\n: 1", "a key must be text"),
        ("a: .nan", "not a number that can be compared"),
        ("a: [1", "this is not YAML"),
        ("a:\n\t- 1", "x.yaml:2:1: a tab cannot separate or indent anything here; use spaces"),
        ('a: "\\ud83d"', "half of a character"),
        ("a: \x07", "this is not YAML"),
        ("[" * 60 + "]" * 60, "levels deep"),
        ("\ufeffa: 1", "byte order mark"),
    ],
)
def test_what_is_odd_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(SourceError) as found:
        value(text)
    assert sentence in found.value.sentence


@given(st.text("ab:-[]{}&*!|>'\"#%@ \n\t<,?0.", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = read_loose(text.encode(), file="x.yaml")
    except SourceError:
        return
    assert () in document.spots
