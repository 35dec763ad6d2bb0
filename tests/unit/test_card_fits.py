"""The quick look at a card says what the library says, and never accepts what the library refuses."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.cards import SMALLEST, text, two_arms

from evalaction import schemas
from evalaction.method.cards.fits import fits
from evalaction.method.cards.parse import read_card
from evalaction.method.cards.schema import first_error

SCHEMA = schemas.load("card")
EXAMPLES = sorted(Path(__file__).parent.parent.parent.glob("examples/*/card.*"))
CARDS = [SMALLEST, two_arms(), *(read_card(path.read_bytes(), file=path.name).value for path in EXAMPLES)]
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    10**9,
    0.5,
    -0.5,
    1.0,
    "",
    "base",
    "none",
    "a" * 5000,
    "9",
    [],
    ["a"],
    [1],
    {},
    {"a": 1},
]


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, held in inner for place in _places(held, (*at, key)))]


def _read(value: Any) -> Any:
    return read_card(json.dumps(value, default=float).encode(), file="card.json").value


def _agreed(value: Any) -> bool:
    quick = fits(value, SCHEMA, SCHEMA)
    assert quick == Draft202012Validator(SCHEMA).is_valid(value)
    return quick


@pytest.mark.parametrize("value", CARDS, ids=range(len(CARDS)))
def test_good_cards_fit(value: Any) -> None:
    assert _agreed(_read(value))


def odd(data: st.DataObject) -> Any:
    """A copy: a later change may lie inside it."""
    return copy.deepcopy(data.draw(st.sampled_from(ODD)))


@given(st.data())
@settings(max_examples=300)
def test_a_changed_card_fits_exactly_where_the_library_says_so(data: st.DataObject) -> None:
    value: Any = copy.deepcopy(data.draw(st.sampled_from(CARDS)))
    for _ in range(data.draw(st.integers(1, 3))):
        *parents, last = data.draw(st.sampled_from(_places(value)[1:] or [("name",)]))
        place = value
        for key in parents:
            place = place[key]
        match data.draw(st.sampled_from(["set", "add", "drop"])):
            case "add" if isinstance(place, dict):
                place[data.draw(st.sampled_from(["extra", "url", "items", "control", "margin", "api"]))] = odd(data)
            case "drop":
                del place[last]
            case _:
                place[last] = odd(data)
    _agreed(_read(value))


KEYWORDS: list[tuple[dict[str, Any], list[Any]]] = [
    ({"type": ["integer", "null"]}, [1, True, None, "1", 1.5]),
    ({"type": "number"}, [1, True, "1"]),
    ({"enum": ["a", "b"]}, ["a", "c", 1, None]),
    ({"const": "a"}, ["a", "b", True]),
    ({"$ref": "#/$defs/short"}, ["a", "abc", 1]),
    ({"anyOf": [{"type": "string"}, {"type": "integer", "exclusiveMinimum": 0}]}, ["", 0, 1, None]),
    ({"type": "integer", "exclusiveMaximum": 3, "minimum": 1, "maximum": 5}, [0, 1, 2, 3]),
    ({"minItems": 1, "maxItems": 2, "items": {"type": "string"}}, [[], ["a"], [1], ["a", "b", "c"], "a"]),
    ({"required": ["a"], "minProperties": 2, "additionalProperties": True}, [{"a": 1}, {"a": 1, "b": 2}, {"b": 1, "c": 1}, 1]),
    ({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}, [{"a": "x"}, {"a": 1}, {"b": ""}]),
    ({"additionalProperties": False}, [{}, {"a": 1}, []]),
    ({"pattern": "^a"}, ["ab", "ba", 1]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "values"), KEYWORDS, ids=[" ".join(schema) for schema, _ in KEYWORDS])
def test_every_keyword_means_what_it_means_to_the_library(schema: dict[str, Any], values: list[Any]) -> None:
    root = {**schema, "$defs": {"short": {"type": "string", "maxLength": 2, "minLength": 1}}}
    said = [fits(value, root, root) for value in values]
    assert said == [Draft202012Validator(root).is_valid(value) for value in values]
    assert True in said
    assert False in said


@pytest.mark.parametrize("schema", [{"not": {"type": "string"}}, {"$ref": "other.json"}, {"enum": [1]}, {"uniqueItems": True}])
def test_of_what_it_does_not_know_it_says_no(schema: dict[str, Any]) -> None:
    root = {**schema, "$defs": {}}
    assert not fits(1, root, root)


def test_a_good_card_is_read_without_the_library() -> None:
    code = """
import sys
from evalaction import schemas
from evalaction.method.cards.parse import parse_card
parse_card(sys.stdin.buffer.read(), file="card.json", schema=schemas.load("card"))
assert "jsonschema" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], input=text(two_arms()), check=True)


def test_the_library_has_the_last_word_on_what_it_does_not_know() -> None:
    document = read_card(b'{"a": [1, 2]}', file="card.json")
    schema = {"properties": {"a": {"type": "array", "uniqueItems": True}}}
    assert not fits(document.value, schema, schema)
    assert first_error(document, schema) is None
    again = read_card(b'{"a": [1, 1]}', file="card.json")
    assert first_error(again, schema) is not None
