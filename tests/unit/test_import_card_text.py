"""A card that an importer writes says what it was given, whatever the texts look like."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.importers.card_text import flow
from evalaction.importers.imported import Imported, Loss, NotCarried, unique_ids, usable_id
from evalaction.importers.places import filled, number_of, text_of
from evalaction.method.reading.source import load

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "yes",
        "null",
        "1.0",
        "~",
        "a: b",
        "# x",
        "- y",
        "{z}",
        "\u2028",
        "\x85",
        "\x7f",
        "\ufeff",
        "'",
        '"',
        "\\",
        "*a",
        "&a",
        "!t",
        "a,b",
    ]
)
_VALUES = st.recursive(
    st.one_of(_TEXTS, st.integers(), st.booleans(), st.none(), st.decimals(-9, 9, places=2)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS.filter(bool), inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_every_value_is_read_back_as_it_was(value: Any) -> None:
    text = f"field: {flow(value)}\n"
    assert load(text.encode(), file="card.yaml").value == {"field": value}


def test_what_needs_no_quotes_has_none() -> None:
    assert flow({"api": "openai", "n": Decimal("0.50"), "url": "https://x"}) == '{api: openai, n: 0.50, url: "https://x"}'


@given(st.lists(st.text(max_size=6), max_size=8))
def test_ids_are_usable_and_apart(wanted: list[str]) -> None:
    from evalaction.method.exams.items import same_id

    ids = unique_ids(wanted, "test")
    assert len(ids) == len({same_id(one) for one in ids}) == len(wanted) and all(map(usable_id, ids))


def test_a_record_in_which_something_got_lost_cannot_be_built() -> None:
    loss = Loss(file="x", line=None, what="a", why="b")
    assert loss.place == "x"
    with pytest.raises(ValueError, match="neither carried nor lost"):
        Imported(noun="test", total=2, carried=0, files={}, lost_items=(loss,))
    with pytest.raises(ValueError, match="exactly when"):
        Imported(noun="test", total=1, carried=1, files={})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4, "4"),
        (Decimal("4.0"), "4"),
        (Decimal("0.5"), "0.5"),
        (Decimal("1e3"), "1000"),
        (-2, "-2"),
        (Decimal("0.0001"), "0.0001"),
    ],
)
def test_numbers_are_written_as_javascript_does(value: Any, text: str) -> None:
    assert number_of(value) == text == text_of(value)


@pytest.mark.parametrize("value", [2**53, Decimal("1e-7"), Decimal("1e300")])
def test_numbers_that_might_differ_are_refused(value: Any) -> None:
    with pytest.raises(NotCarried, match="put it in quotes"):
        number_of(value)


def test_places_are_filled_once() -> None:
    assert filled("{{a}} {{ b }} {{c}}", {"a": "{{b}}", "b": "x"}) == "{{b}} x "
