"""JSON Schema: exact numbers, every draft, no fetching, and what is refused or warned of when the exam is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from evalaction.checks.schema import BadSchema, compile_schema
from evalaction.checks.schema_check import check_schema, known_keywords
from evalaction.method.canonical import Json
from evalaction.method.reading.strict_json import loads

DRAFT_07 = "http://json-schema.org/draft-07/schema#"


def fits(schema: str, value: str) -> bool:
    return compile_schema(loads(schema))(loads(value)) is None


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ('{"type": "integer"}', ["1", "1.0", "1e2", "-0.0"], ["1.5", "true", '"1"', "null"]),
        ('{"type": "number"}', ["1", "1.5", "1e-300"], ["true", '"1"']),
        ('{"type": "boolean"}', ["true"], ["1", "0", "1.0"]),
        ('{"multipleOf": 0.1}', ["0.3", "1", "1e300", "0"], ["0.25", "0.30000000000000000001"]),
        ('{"multipleOf": 3}', ["9", "9.0", "3e2"], ["10", "9.5"]),
        ('{"minimum": 0.3}', ["0.3", "0.30", "1"], ["0.29999999999999999999"]),
        ('{"exclusiveMaximum": 1}', ["0.99999999999999999999"], ["1", "1.0"]),
        ('{"enum": [1, "a", null]}', ["1", "1.0", '"a"', "null"], ["true", '"1"', "false"]),
        ('{"const": true}', ["true"], ["1", "1.0"]),
        ('{"const": {"a": [0]}}', ['{"a": [0.0]}'], ['{"a": [false]}']),
        ('{"uniqueItems": true}', ["[1, true]", "[]"], ["[1, 1.0]", '[{"a": 1}, {"a": 1.0}]']),
        ('{"minLength": 2.0}', ['"ab"'], ['"a"']),
        ('{"format": "email"}', ['"no address"'], []),
        ('{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}', ["1"], ["1.0"]),
        ('{"$schema": "http://json-schema.org/draft-03/schema#", "divisibleBy": 0.1}', ["0.3"], ["0.25"]),
        ('{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}', ["[1.0]"], ["[1.5]"]),
        ("true", ["1", "null"], []),
        ("false", [], ["1", "null"]),
    ],
)
def test_values(schema: str, good: list[str], bad: list[str]) -> None:
    check_schema(loads(schema))
    for value in good:
        assert fits(schema, value), value
    for value in bad:
        assert not fits(schema, value), value


def test_numbers_stay_exact_where_a_schema_is_entered_again() -> None:
    schema = (
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"n": {"type": "integer", "multipleOf": 0.1},'
        ' "next": {"$ref": "#"}}}'
    )
    assert fits(schema, '{"next": {"next": {"n": 1.0}}}')
    assert not fits(schema, '{"next": {"next": {"n": 1.5}}}')


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ('{"properties": {"a/b": {"enum": ["x"]}}}', '{"a/b": "y"}', "/a~1b: 'y' is not one of ['x']"),
        ('{"required": ["status"]}', "{}", "the value: 'status' is a required property"),
        ('{"items": {"maximum": 2.50}}', "[1, 3.10]", "/1: 3.10 is greater than the maximum of 2.50"),
        ('{"anyOf": [{"type": "object", "required": ["k"]}, {"type": "null"}]}', "{}", "the value: 'k' is a required property"),
        ("false", "1", "the value: False schema does not allow 1"),
    ],
)
def test_the_misfit_is_named_with_its_place(schema: str, value: str, said: str) -> None:
    assert compile_schema(loads(schema))(loads(value)) == said


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (5, "JSON object or true or false"),
        ("string", "JSON object or true or false"),
        ({"type": "strin"}, "/type: 'strin'"),
        ({"minLength": -1}, "/minLength"),
        ({"properties": {"a": {"type": 5}}}, "/properties/a/type"),
        ({"required": "a"}, "/required"),
        ({"pattern": "("}, "does not compile"),
        ({"properties": {"a": {"patternProperties": {"[": True}}}}, "does not compile"),
        ({"$schema": "https://example.org/my-draft"}, "no draft known here"),
        ({"$schema": 7}, "no draft known here"),
        ({"$ref": "https://example.org/s.json"}, "nothing is fetched"),
        ({"$ref": "file:///etc/passwd"}, "nothing is fetched"),
        ({"properties": {"a": {"$ref": "#/$defs/missing"}}}, "leads nowhere"),
        ({"$ref": "#missing"}, "leads nowhere"),
        ({"$ref": "#/allOf/x", "allOf": [True]}, "leads nowhere"),
        ({"$schema": DRAFT_07, "definitions": {"a": {"$ref": 5}}}, "/definitions/a/$ref"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"a": {"$ref": 5}}}, "leads nowhere"),
        ({"$ref": "#/enum/0", "enum": ["x"]}, "no schema"),
        ({"$ref": "#/components/a", "components": {"a": {"type": 5}}}, "/type: 5"),
        ({"$ref": "#"}, "never ends"),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
            "never ends",
        ),
        ({"properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}}, "never ends"),
        ({"dependentSchemas": {"k": {"$ref": "#"}}}, "never ends"),
        ({"if": {"$dynamicRef": "#me"}, "$dynamicAnchor": "me"}, "never ends"),
        ({"properties": {"a": {"$schema": DRAFT_07}}}, "Only the root"),
    ],
)
def test_refused_before_anything_is_judged(schema: Any, sentence: str) -> None:
    with pytest.raises(BadSchema) as refused:
        check_schema(schema)
    assert sentence in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"properties": {"next": {"$ref": "#"}, "all": {"items": {"$ref": "#"}}}},
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
        {
            "$id": "https://example.org/root",
            "properties": {"a": {"$ref": "part"}},
            "$defs": {"p": {"$id": "part", "type": "null"}},
        },
        {"properties": {"$ref": {"type": "string"}, "requird": {}}, "enum": [{"$ref": "#/nowhere"}], "default": {"$ref": 1}},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"$schema": DRAFT_07, "definitions": {"x": {"type": "integer"}}, "items": {"$ref": "#/definitions/x"}},
        {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}},
        {"x-note": "ours", "title": "t", "examples": [1], "deprecated": True, "$comment": "c"},
    ],
)
def test_accepted_without_a_warning(schema: Json) -> None:
    assert check_schema(schema) == []


def test_a_misspelt_keyword_is_warned_of() -> None:
    warnings = check_schema({"requird": ["a"], "items": {"additionalPropertys": False, "format": "date"}})
    assert [keyword for keyword, _ in warnings] == ["requird", "additionalPropertys", "format"]
    assert "Did you mean required?" in warnings[0][1]
    assert "Did you mean additionalProperties?" in warnings[1][1]
    assert "not checked" in warnings[2][1]


def test_every_draft_knows_its_own_keywords() -> None:
    import jsonschema

    for draft, keywords in (
        (jsonschema.Draft3Validator, {"divisibleBy", "$ref", "extends"}),
        (jsonschema.Draft4Validator, {"oneOf", "$ref", "id"}),
        (jsonschema.Draft7Validator, {"if", "const", "$id"}),
        (jsonschema.Draft201909Validator, {"unevaluatedItems", "$recursiveRef", "$vocabulary", "dependentRequired"}),
        (jsonschema.Draft202012Validator, {"prefixItems", "$dynamicRef", "deprecated", "contentSchema", "$defs"}),
    ):
        assert keywords <= known_keywords(draft)
        assert "requird" not in known_keywords(draft)
