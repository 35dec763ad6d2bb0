"""Each assert of promptfoo: which replies it accepts after the import, or why it is not carried."""

from __future__ import annotations

from typing import Any

import pytest
from support.importing import beside, exam_of, loads_whole, passes, whys, yaml

from evalaction.importers.imported import MIRROR, Imported
from evalaction.importers.promptfoo import convert
from evalaction.importers.promptfoo.asserts import REFUSED


def made(*asserts: Any, files: dict[str, str] | None = None, **test: Any) -> Imported:
    config = {
        "prompts": ["Answer: {{q}}"],
        "providers": ["openai:gpt-4o-mini"],
        "tests": [{"vars": {"q": "2+2", "n": 4}, "assert": list(asserts), **test}],
    }
    result = convert(yaml(config), file="promptfooconfig.yaml", read=beside(files))
    loads_whole(result)
    return result


A = {"type": "contains", "value": "a"}
SMALL_JSON = {"type": "is-json", "value": {"maxProperties": 1}}
SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("asserts", "good", "bad"),
    [
        ([{"type": "equals", "value": "Yes."}], ["Yes.", " Yes.\n"], ["yes.", "Yes", "Yes. "[:3] + "x"]),
        ([{"type": "equals", "value": 4}], ["4"], ["4.0", "four"]),
        ([{"type": "equals", "value": "{{n}}!"}], ["4!"], ["{{n}}!"]),
        ([{"type": "not-equals", "value": "no"}], ["yes", "no!"], ["no", " no "]),
        ([{"type": "equals", "value": {"a": 1, "b": [True]}}], ['{"b": [true], "a": 1.0}'], ['{"a": 1}', "a"]),
        ([{"type": "contains", "value": "a.b"}], ["xa.by"], ["aXb", "A.B"]),
        ([{"type": "contains", "value": 4.5}], ["is 4.5"], ["is 45"]),
        ([{"type": "icontains", "value": "Refund (5 %)"}], ["a REFUND (5 %) here"], ["refund 5 %"]),
        ([{"type": "not-icontains", "value": "sorry"}], ["fine"], ["SORRY"]),
        ([{"type": "starts-with", "value": "Re:"}], ["Re: x"], ["x Re:", "re:"]),
        ([{"type": "contains-any", "value": ["a", "b{"]}], ["xb{", "a"], ["b"]),
        ([{"type": "contains-any", "value": "left, right"}], ["right"], ["up"]),
        ([{"type": "icontains-any", "value": ["a", "b"]}], ["B"], ["c"]),
        ([{"type": "contains-all", "value": ["a", "b"]}], ["b a"], ["a"]),
        ([{"type": "icontains-all", "value": "a,b"}], ["B A"], ["B"]),
        ([{"type": "not-contains-any", "value": ["a", "b"]}], ["c"], ["a", "b"]),
        ([{"type": "not-contains-all", "value": ["a", "b"]}], ["a", "b", "c"], ["ab", "b a"]),
        ([{"type": "regex", "value": r"^\d+$"}], ["12"], ["1a", "١"]),
        ([{"type": "not-regex", "value": "a|b"}], ["c"], ["xb"]),
        ([{"type": "word-count", "value": 2}], ["two words"], ["one", "three words here"]),
        ([{"type": "word-count", "value": {"min": 2, "max": 3}}], ["a b", "a b c"], ["a", "a b c d"]),
        ([{"type": "word-count", "value": {"min": 2}}], ["a b", "a b c d e"], ["a"]),
        ([{"type": "is-json"}], ["{}", " [1] "], ["x", "{} y"]),
        ([{"type": "is-json", "value": SCHEMA}], ['{"a": 1}'], ['{"a": "1"}', "{}", "a"]),
        ([{"type": "is-json", "value": "required: [a]\ntype: object"}], ['{"a": 1}'], ["{}"]),
        ([{"type": "is-json", "value": "file://s.json"}], ['{"a": 1}'], ["{}"]),
        ([{"type": "is-json", "value": True}, {"type": "contains", "value": "a"}], ['{"a": 1}'], ["{}", "a"]),
        ([{"type": "is-json", "value": SCHEMA}, SMALL_JSON], ['{"a": 1}'], ['{"a": 1, "b": 2}', "{}"]),
        ([A, {"type": "not-contains", "value": "b"}, {"type": "regex", "value": "c$"}], ["a c"], ["c", "abc", "a"]),
        ([{"type": "assert-set", "assert": [A, {"type": "contains", "value": "b"}]}], ["ab"], ["a"]),
        ([{"type": "contains", "value": "a", "metric": "m", "weight": 3, "threshold": 0.5}], ["a"], ["b"]),
    ],
)  # fmt: skip
def test_what_is_carried_accepts_what_promptfoo_accepts(asserts: list[Any], good: list[str], bad: list[str]) -> None:
    result = made(*asserts, files={"s.json": '{"required": ["a"]}'})
    assert (result.carried, result.partial, result.lost_items) == (1, 0, ())
    (item,) = exam_of(result).items
    assert [reply for reply in good if not passes(item, reply)] == []
    assert [reply for reply in bad if passes(item, reply)] == []


@pytest.mark.parametrize("kind", sorted(REFUSED))
@pytest.mark.parametrize("prefix", ["", "not-"])
def test_what_is_refused_says_why(kind: str, prefix: str) -> None:
    result = made({"type": prefix + kind, "value": "x"})
    assert result.carried == 0 and REFUSED[kind] in result.lost_items[0].why and f"`{prefix}{kind}`" in result.lost_items[0].why


def test_a_model_that_grades_is_a_mirror() -> None:
    for kind in ("llm-rubric", "model-graded-closedqa", "factuality", "g-eval", "promptfoo:redteam:harmful"):
        assert MIRROR in made({"type": kind, "value": "polite"}).lost_items[0].why


def test_a_test_keeps_what_can_be_said_and_names_the_rest() -> None:
    result = made(A, {"type": "llm-rubric", "value": "polite"}, {"type": "latency", "threshold": 100})
    assert (result.carried, result.partial) == (1, 1)
    assert [loss.what for loss in result.lost_parts] == ["test-0001: assert `llm-rubric`", "test-0001: assert `latency`"]
    lines = [loss.line for loss in result.lost_parts if loss.line is not None]
    assert lines[0] + 4 == lines[1], "each at its own place"
    assert "max_p95_ms" in result.lost_parts[1].why


@pytest.mark.parametrize(
    ("assertion", "why"),
    [
        ({"type": "contains"}, "has no value"),
        ({"type": "contains", "value": ""}, "an empty one"),
        ({"type": "contains-any", "value": ["a", ""]}, "an empty one"),
        ({"type": "contains-any", "value": "'a', b"}, "write it as a YAML list"),
        ({"type": "contains", "value": "file://x.txt"}, "write it out"),
        ({"type": "contains", "value": "{{ q | upper }}"}, "more than a name"),
        ({"type": "contains", "value": "{% if q %}a{% endif %}"}, "more than a name"),
        ({"type": "contains", "value": "a", "transform": "output.x"}, "`transform`, which changes what is compared"),
        ({"type": "equals", "value": "x", "normalizeUnicode": True}, "`normalizeUnicode`"),
        ({"type": "equals", "value": {"a": "{{q}}"}}, "a template inside JSON"),
        ({"type": "not-equals", "value": {"a": 1}}, "only one check fits"),
        ({"type": "regex", "value": "(?i)x"}, "no JavaScript"),
        ({"type": "regex"}, "has no pattern"),
        ({"type": "word-count", "value": "{{n}}"}, "whole numbers"),
        ({"type": "not-is-json"}, "no contract"),
        ({"type": "is-json", "value": False}, "nothing fits"),
        ({"type": "is-json", "value": [1]}, "no mapping"),
        ({"type": "is-json", "value": "a: ["}, "cannot be read"),
        ({"type": "is-json", "value": "file://gone.json"}, "the file `gone.json` is not there"),
        ({"type": "is-json", "value": {"properties": {"a": {"type": "string", "format": "email"}}}}, "`format`"),
        ({"type": "is-json", "value": {"type": "objekt"}}, "objekt"),
        ({"type": "is-json", "value": {"pattern": "("}}, "("),
        ({"type": "assert-set", "threshold": 0.5, "assert": []}, "mean of scores"),
        ({"type": "containz", "value": "x"}, "is not an assert that this importer knows"),
        ({"type": "trajectory:step-count", "value": 3}, "looks at a trace"),
        ({"value": "x"}, "has no type"),
        ("contains: x", "not a mapping"),
        ({"$ref": "#/assertionTemplates/gone"}, "its template is not there"),
        ({"type": "contains", "value": "x", "weight": 0}, "decides nothing"),
    ],
)
def test_what_has_not_the_same_meaning_is_left_out(assertion: Any, why: str) -> None:
    result = made(assertion)
    assert result.carried == 0 and why in result.lost_items[0].why, whys(result)


def test_a_property_called_format_is_no_format() -> None:
    schema = {"properties": {"format": {"type": "string"}}, "enum": [{"format": "x"}]}
    assert made({"type": "is-json", "value": schema}).carried == 1


def test_schemas_of_two_drafts_are_not_one() -> None:
    other = {"type": "is-json", "value": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}}
    result = made(SMALL_JSON, other)
    assert result.partial == 1 and "another draft" in result.lost_parts[0].why


def test_json_equality_wins_over_texts_beside_it() -> None:
    result = made({"type": "contains", "value": "b"}, {"type": "equals", "value": {"a": 1}})
    (item,) = exam_of(result).items
    assert passes(item, '{"a": 1}') and result.partial == 1
    assert result.lost_parts[0].what == "test-0001: assert `contains`"


def test_without_an_assert_there_is_nothing_to_carry() -> None:
    assert "passes it whatever comes" in made().lost_items[0].why
