"""A `.prompt.yml` of GitHub Models: its test data are items, its rules one check, the file itself the prompt."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.importing import card_of, exam_of, loads_whole, passes, yaml

from evalaction.errors import SourceError, UsageError
from evalaction.importers.imported import MIRROR, Imported
from evalaction.importers.prompt_yml import EDGES, convert
from evalaction.method.exams.template import read_template

WHOLE = b"""\
name: Triage
model: openai/gpt-4o-mini
modelParameters: {temperature: 0.20, maxTokens: 50}
# what it is asked
messages:
  - role: system
    content: You sort mail.
  - role: user
    content: "Sort: {{mail}}"
testData:
  - mail: I want my money back
    expected: refund
  - mail: 42
    expected: other
evaluators:
  - name: says it
    string: {contains: "{{expected}}"}
  - name: short
    string:
      startsWith: Sort
"""


def made(data: bytes) -> Imported:
    result = convert(data, file="triage.prompt.yml")
    loads_whole(result)
    return result


def changed(**changes: Any) -> Imported:
    base: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "user", "content": "{{a}}"}],
        "testData": [{"a": "x", "expected": "y"}],
        "evaluators": [{"name": "e", "string": {"contains": "y"}}],
    }
    return made(yaml(base | changes))


def test_test_data_are_items_and_rules_hold_together() -> None:
    result = made(WHOLE)
    first, second = exam_of(result).items
    assert (
        passes(first, "sorted as REFUND".replace("sorted", "Sorted"))
        and not passes(first, "Refund")
        and not passes(first, "Sort it")
    )
    assert second.vars == {"mail": "42", "expected": "other"}
    assert (result.carried, result.partial, result.lost_parts) == (2, 0, ())


def test_the_file_stays_a_prompt_file() -> None:
    result = made(WHOLE)
    data = result.files["prompts/prompt.prompt.yml"]
    assert b"# what it is asked" in data and b"testData" not in data and b"evaluators" not in data
    template = read_template(data, file="prompt.prompt.yml")
    assert template.model == "openai/gpt-4o-mini" and template.names == {"mail"} and template.warnings == ()
    (endpoint,) = card_of(result).endpoints.values()
    assert (endpoint.url_env, endpoint.key_env, endpoint.model) == ("EVAL_URL", "EVAL_KEY", "openai/gpt-4o-mini")


def test_what_a_prompt_file_cannot_say_here_is_carried_in_parts() -> None:
    result = changed(responseFormat="json_schema", jsonSchema={"type": "object"}, modelParameters={"maxTokens": 5, "topP": 1})
    assert "prompts/prompt.json" in result.files
    assert "only its messages, model and parameters are carried" in result.lost_parts[0].why and result.lost_parts[0].line
    (endpoint,) = card_of(result).endpoints.values()
    assert dict(endpoint.params) == {"max_tokens": 5, "top_p": 1}


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ({"equals": "Yes"}, ["Yes", " Yes\n"], ["yes", "Yes!"]),
        ({"contains": "Ab"}, ["xABx"], ["a b"]),
        ({"startsWith": "Summary -"}, ["summary - x"], ["a summary - x"]),
        ({"endsWith": "."}, ["Done.", "Done.\n"], ["Done"]),
        ({"contains": "{{ expected }}"}, ["Y"], ["x"]),
    ],
)
def test_rules(rule: dict[str, str], good: list[str], bad: list[str]) -> None:
    (item,) = exam_of(changed(evaluators=[{"name": "e", "string": rule}])).items
    assert all(passes(item, reply) for reply in good) and not any(passes(item, reply) for reply in bad)


def test_a_block_of_yaml_ends_in_a_line_break_that_no_trimmed_reply_has() -> None:
    result = changed(evaluators=[{"name": "e", "string": {"startsWith": "Yes\n", "endsWith": "x"}}])
    assert EDGES not in result.notes
    result = changed(evaluators=[{"name": "e", "string": {"equals": "Yes\n"}}])
    assert EDGES in result.notes and passes(exam_of(result).items[0], "Yes")
    result = changed(evaluators=[{"name": "e", "string": {"endsWith": "yes.\n"}}, {"name": "f", "string": {"contains": "a"}}])
    assert EDGES in result.notes and passes(exam_of(result).items[0], "Aha, yes.")


def test_model_graded_evaluators_are_named_and_the_rest_is_kept() -> None:
    graded = [
        {"name": "a", "uses": "github/similarity"},
        {"name": "b", "llm": {"modelId": "x"}},
        {"name": "c", "string": {"contains": "y"}},
    ]
    result = changed(evaluators=graded)
    assert (result.carried, result.partial) == (1, 1)
    assert [(loss.what, loss.why) for loss in result.lost_parts][:2] == [("evaluator a", MIRROR), ("evaluator b", MIRROR)]
    alone = changed(evaluators=graded[:2])
    assert alone.carried == 0 and "nothing to compare" in alone.lost_items[0].why


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"evaluators": [{"name": "e", "string": {"notContains": "x"}}]}, "has no rule that gh-models knows"),
        ({"evaluators": [{"name": "e", "string": {"contains": "y", "endsWith": "z"}}]}, "takes one rule of an evaluator"),
        ({"evaluators": [{"name": "e", "regex": {"pattern": "x"}}]}, "is not of the kinds"),
        ({"evaluators": [{"name": "e", "string": {"contains": "{{#if}}"}}]}, "more than a name"),
        ({"testData": [{"a": "x", "b": [1]}]}, "a list or a mapping is not a text"),
        ({"testData": [{"a": "x", "b-c": "y"}]}, "letters, digits"),
        ({"strange": 1}, "no field of a prompt file"),
    ],
)
def test_parts_that_have_no_place_are_named(changes: dict[str, Any], why: str) -> None:
    assert any(why in loss.why for loss in changed(**changes).lost_parts)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"testData": [{"b": "x"}]}, "it has no `a`"),
        ({"testData": ["x"]}, "not a mapping"),
        ({"testData": [{"a": {"b": 1}}]}, "its `a`: a list or a mapping"),
        (
            {"testData": [{"a": "x", "e": ""}], "evaluators": [{"name": "e", "string": {"contains": "{{e}}"}}]},
            "compares with nothing",
        ),
        ({"evaluators": []}, "nothing to compare"),
    ],
)
def test_tests_that_cannot_be_carried_are_named(changes: dict[str, Any], why: str) -> None:
    result = changed(**changes)
    assert result.carried == 0 and why in result.lost_items[0].why and result.lost_items[0].line


@pytest.mark.parametrize("messages", [[{"role": "tool", "content": "x"}], [{"role": "user", "content": "{{a.b}}"}], ["x"]])
def test_messages_that_are_no_template_end_the_import(messages: Any) -> None:
    with pytest.raises(UsageError, match="so there is no arm"):
        changed(messages=messages)


def test_a_file_without_test_data_is_a_template_already() -> None:
    with pytest.raises(UsageError, match="can name it as its `template`"):
        changed(testData=[])
    with pytest.raises(SourceError, match="no prompt file"):
        made(b"[1]")


_VALUES = st.one_of(st.text(max_size=6), st.integers(-3, 3), st.booleans(), st.none(), st.lists(st.text(max_size=2), max_size=2))
_RULES = st.dictionaries(
    st.sampled_from(["equals", "contains", "startsWith", "endsWith", "odd"]), st.text(max_size=6), max_size=2
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from(["a", "b", "c d"]), _VALUES, max_size=3), min_size=1, max_size=5),
    st.lists(st.fixed_dictionaries({"name": st.text(max_size=5), "string": _RULES}), max_size=3),
)
def test_whatever_is_imported_can_be_read_and_counts_add_up(tests: list[Any], evaluators: list[Any]) -> None:
    assert changed(testData=tests, evaluators=evaluators).total == len(tests)
