"""Typed reading of an object that somebody else may have written."""

from __future__ import annotations

from typing import Any

import pytest

from evalaction.errors import SourceError
from evalaction.method.reading.fields import Fields

VALUE: dict[str, Any] = {
    "text": "a", "digest": "0" * 64, "word": "partial_grid", "count": 3, "flag": True, "texts": ["a", "b"], "counts": [1, 4],
    "some": ["a", None], "map": {"a": "b"}, "part": {"x": 1}, "parts": [{"x": 1}, {"x": 2}], "pairs": [["id", ["tag"]]],
}  # fmt: skip


def fields(**changes: Any) -> Fields:
    return Fields({**VALUE, **changes}, file="f.json")


def test_everything_is_read_as_it_is_typed() -> None:
    found = fields()
    assert (found.text("text"), found.maybe_text("text"), found.maybe_text("nowhere")) == ("a", "a", None)
    assert (found.digest("digest"), found.maybe_digest("digest"), found.maybe_digest("nowhere")) == ("0" * 64, "0" * 64, None)
    assert (found.word("word"), found.one_of("text", ("a", "b"))) == ("partial_grid", "a")
    assert (found.count("count"), found.maybe_count("count"), found.maybe_count("nowhere")) == (3, 3, None)
    assert (found.flag("flag"), found.maybe_flag("flag"), found.maybe_flag("nowhere")) == (True, True, False)
    assert (found.texts("texts"), found.maybe_texts("texts"), found.maybe_texts("nowhere")) == (("a", "b"), ("a", "b"), ())
    assert (found.maybe_counts("counts"), found.maybe_counts("nowhere")) == ((1, 4), ())
    assert (found.texts_or_none("some"), found.texts_or_none("nowhere")) == (("a", None), ())
    assert (found.mapping("map"), found.maybe_mapping("map"), found.maybe_mapping("nowhere")) == ({"a": "b"}, {"a": "b"}, {})
    assert found.part("part").count("x") == 1
    assert found.maybe_part("part") and found.maybe_part("nowhere") is None
    assert [one.count("x") for one in found.parts("parts")] == [one.count("x") for one in found.maybe_parts("parts")] == [1, 2]
    assert found.maybe_parts("nowhere") == [] and found.parts("pairs")[0].pair_of_texts() == ("id", ("tag",))
    found.nothing_else()


@pytest.mark.parametrize(
    ("name", "method", "value", "says"),
    [
        ("text", "text", 1, "/text must be text"),
        ("digest", "digest", "0" * 63, "/digest must be 64 lower-case hex digits"),
        ("digest", "maybe_digest", "A" * 64, "/digest must be 64"),
        ("word", "word", "Partial grid", "/word must be a code"),
        ("count", "count", -1, "/count must be a whole number"),
        ("count", "count", True, "/count must be a whole number"),
        ("count", "maybe_count", "3", "/count must be a whole number"),
        ("flag", "flag", 1, "/flag must be true or false"),
        ("texts", "texts", "ab", "/texts must be a list"),
        ("texts", "texts", [1], "/texts must be text"),
        ("counts", "maybe_counts", [4, 1], "/counts must be ascending"),
        ("counts", "maybe_counts", [1, "4"], "/counts must be ascending"),
        ("some", "texts_or_none", [1], "/some must be text"),
        ("map", "mapping", [], "/map must be an object"),
        ("map", "mapping", {"a": 1}, "/map must be text"),
        ("parts", "parts", {}, "/parts must be a list"),
    ],
)
def test_a_wrong_type_is_a_sentence_with_the_name(name: str, method: str, value: Any, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        getattr(fields(**{name: value}), method)(name)
    assert says in caught.value.sentence


def test_what_is_missing_unknown_or_no_object() -> None:
    with pytest.raises(SourceError, match="/nowhere is missing"):
        fields().text("nowhere")
    with pytest.raises(SourceError, match="is not a known field"):
        fields().nothing_else()
    with pytest.raises(SourceError, match="must be one of a, b"):
        fields(text="c").one_of("text", ("a", "b"))
    with pytest.raises(SourceError, match="/part/y is missing"):
        fields().part("part").text("y")
    with pytest.raises(SourceError, match="a pair of an id and its tags"):
        Fields(["id"], file="f.json").pair_of_texts()
    with pytest.raises(SourceError, match="is missing"):
        Fields([], file="f.json").text("text")
    Fields([], file="f.json").nothing_else()
