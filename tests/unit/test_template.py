from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.errors import SourceError
from evalaction.method.exams.template import Template, read_template
from evalaction.method.records import Message, Quoted

SUMMARIZER = """\
name: Summary
description: Shortens what it is given
model: vendor/small
modelParameters:
  temperature: 0.50
  maxTokens: 200
  topP: 1
messages:
  - role: system
    content: You shorten texts.
  - role: user
    content: |
      Shorten the text:
      <text>{{input}}</text>
testData:
  - input: The fox jumped over {{the}} dog.
    expected: Fox jumps.
evaluators:
  - name: begins well
    string: {startsWith: Fox}
"""


def template(data: str, file: str = "p.yaml") -> Template:
    return read_template(data.encode(), file=file)


def refusal(data: str, file: str = "p.yaml") -> SourceError:
    with pytest.raises(SourceError) as caught:
        template(data, file)
    assert caught.value.file == file
    return caught.value


def test_text() -> None:
    found = template("Say {{a}} and {{ b_1 }}, {{a}}, ${b}, {%.\n", "prompts/p.md")
    assert found.messages == (Message("user", "Say {{a}} and {{ b_1 }}, {{a}}, ${b}, {%.\n"),)
    assert (found.names, found.model, found.params, found.warnings) == (
        frozenset({"a", "b_1"}), None, {}, (),
    )  # fmt: skip
    assert found.filled({"a": "{{b_1}}", "b_1": "${{ x }}"})[0].content == "Say {{b_1}} and ${{ x }}, {{b_1}}, ${b}, {%.\n"


@pytest.mark.parametrize(
    "text", ["a\n {{#if x}}", "a\n {{}}", "a\n {{a b}}", "a\n {{a", "a\n {{{a}}}", "a\n {{1}}", "a\n {{a\n}}", "a\n {{a.b}}"]
)
def test_other_uses_of_braces_are_errors(text: str) -> None:
    error = refusal(text, "p.txt")
    assert re.search(r"`\{\{.*` is not a place; only `\{\{name\}\}` is", error.sentence)
    assert (error.line, error.column) == (2, 2)


YAML = "- role: system\n  content: Be {{how}}.\n- {role: user, content: '{{n}}?'}\n"


@pytest.mark.parametrize(
    ("data", "file"),
    [
        (YAML, "p.yaml"),
        (YAML, "p.YML"),
        ('[{"role": "system", "content": "Be {{how}}."},\t{"role": "user", "content": "{{n}}\\u003f"}]', "p.json"),
    ],
)
def test_chat_messages(data: str, file: str) -> None:
    found = template(data, file)
    assert found.names == {"how", "n"}
    assert found.filled({"how": "{{n}}", "n": "1", "more": "x"}) == (Message("system", "Be {{n}}."), Message("user", "1?"))


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("", 1, "the list of messages must be a list, not empty"),
        ("[]", 1, "the list of messages must not be empty"),
        ("Hello", 1, 'must be a list, not the text "Hello"'),
        ("a: 1\n", 1, "name a file of GitHub's form `….prompt.yml`"),
        ("- x\n", 1, 'a message must be a mapping, not the text "x"'),
        ("- role: user\n", 1, "this message has no `content`"),
        ("- content: x\n", 1, "this message has no `role`"),
        ("- role: user\n  content: x\n  name: y\n", 3, "unknown field `name`"),
        ("- role: user\n  contnt: x\n", 2, "did you mean `content`?"),
        ("- role: tool\n  content: x\n", 1, "`system`, `user` or `assistant`, not `tool`"),
        ("- role: user\n  content: 5\n", 2, "`content` must be text, not 5; put it in quotes"),
        ("- role: user\n  content:\n", 2, "`content` must be text, not empty"),
        ("- role: user\n  content: [x]\n", 2, "`content` must be text, not a list"),
        ("- role: user\n  content: {x: y}\n", 2, "`content` must be text, not a mapping"),
        ("- role: user\n  content: ' '\n", 2, "`content` must not be empty"),
        ("- role: user\n  content: >\n    Hi\n    {{x y}}\n", 2, "`{{x y}}` is not a place"),
        ("- role: user\n  role: user\n", 2, "appears twice"),
        ("- &a {role: user, content: x}\n- *a\n", 1, "anchors"),
    ],
)
def test_chat_messages_that_cannot_be_sent(data: str, line: int, words: str) -> None:
    error = refusal(data)
    assert words in error.sentence
    assert error.line == line and error.column is not None


def test_a_prompt_file_gives_messages_model_and_parameters() -> None:
    found = template(SUMMARIZER, "llm/summary.prompt.yml")
    assert found.messages == (
        Message("system", "You shorten texts."), Message("user", "Shorten the text:\n<text>{{input}}</text>\n"),
    )  # fmt: skip
    assert (found.names, found.model) == (frozenset({"input"}), "vendor/small")
    assert found.params == {"temperature": Decimal("0.50"), "max_tokens": 200, "top_p": 1}
    assert str(found.params["temperature"]) == "0.50"
    why = " is not read: the exam has items and checks"
    assert found.warnings == (("What ", Quoted("llm/summary.prompt.yml"), " says of ", Quoted("testData, evaluators"), why),)
    small = template("messages: [{role: user, content: x}]", "a.PROMPT.YAML")
    assert (small.model, small.params, small.warnings) == (None, {}, ())
    more = template("messages: [{role: user, content: x}]\nauthors: [me]\nversion: 2", "a.prompt.yml")
    assert more.warnings == (("What ", Quoted("a.prompt.yml"), " says of ", Quoted("authors, version"), why),)


def test_response_formats() -> None:
    def found(more: str) -> object:
        return template(f"messages: [{{role: user, content: x}}]\n{more}", "a.prompt.yml").params.get("response_format")

    assert found("responseFormat: text") is None
    assert found("responseFormat: json_object") == {"type": "json_object"}
    schema = {"name": "n", "schema": {"type": "object"}}
    assert found(f"responseFormat: json_schema\njsonSchema: '{json.dumps(schema)}'") == {
        "type": "json_schema",
        "json_schema": schema,
    }


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("name: x", 1, "this prompt file has no `messages`"),
        ("- x", 1, "a prompt file must be a mapping, not a list"),
        ("messages: []", 1, "must not be empty"),
        ("MESSAGES\nmodle: x", 2, "unknown field `modle`; did you mean `model`?"),
        ("MESSAGES\nmodel: 5", 2, "`model` must be text, not 5"),
        ("MESSAGES\nmodelParameters: 5", 2, "`modelParameters` must be a mapping"),
        ("MESSAGES\nmodelParameters:\n  maxTokens: 5\n  max_tokens: 6", 4, "`max_tokens` is given twice, in two spellings"),
        ("MESSAGES\nresponseFormat: xml", 2, "`responseFormat` is `text`, `json_object` or `json_schema`"),
        ("MESSAGES\nresponseFormat: json_schema", 2, "needs `jsonSchema`"),
        ("MESSAGES\nresponseFormat: json_schema\njsonSchema: '{'", 3, "`jsonSchema` is not JSON"),
        ("MESSAGES\nresponseFormat: json_schema\njsonSchema: '[]'", 3, "`jsonSchema` must be a JSON object"),
        ("MESSAGES\njsonSchema: '{}'", 2, "belongs to `responseFormat: json_schema`"),
        ("MESSAGES\nresponseFormat: json_object\nmodelParameters: {responseFormat: 1}", 2, "given twice"),
    ],
)
def test_prompt_files_that_cannot_be_read(more: str, line: int, words: str) -> None:
    error = refusal(more.replace("MESSAGES", "messages: [{role: user, content: x}]"), "a.prompt.yml")
    assert words in error.sentence
    assert error.line == line


def test_sizes() -> None:
    big = "- role: user\n  content: " + "x" * (512 * 1024)
    assert len(template(big).messages[0].content) == 512 * 1024
    for file in ("p.yaml", "p.json", "p.prompt.yml"):
        assert "the limit is 1,048,576" in refusal("x" * (1024 * 1024 + 1), file).sentence


text = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff"), max_size=12)
pieces = st.one_of(text, st.sampled_from(["{{", "}}", "{{a}}", "{{ b }}", "{%", "${{ a }}", "{", "\\1", "\\g<1>"]))


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=8), pieces, pieces)
def test_no_template_and_no_var_makes_another_render(parts: list[str], first: str, second: str) -> None:
    """What comes out is the template cut at its places, with the vars between, whatever is in either."""
    source = "x" + "".join(parts)
    try:
        found = template(source, "p.txt")
    except SourceError as error:
        assert "is not a place" in error.sentence
        return
    values = {"a": first, "b": second}
    literal = re.split(r"\{\{[ \t]*[A-Za-z_][A-Za-z0-9_]*[ \t]*\}\}", source)
    named = re.findall(r"\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}", source)
    if not set(named) <= set(values):
        return
    wanted = literal[0] + "".join(values[name] + after for name, after in zip(named, literal[1:], strict=True))
    assert found.filled(values) == (Message("user", wanted),)
    chat = template(json.dumps([{"role": "user", "content": source}]), "p.json")
    assert chat.filled(values) == found.filled(values)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=80) | st.text(alphabet="[]{}:,-#'\" \nmesagrolcnt&*!", max_size=80).map(str.encode))
def test_any_bytes_are_a_template_or_a_placed_error(data: bytes) -> None:
    for file in ("p.txt", "p.yaml", "p.json", "p.prompt.yml"):
        try:
            read_template(data, file=file)
        except SourceError as error:
            assert error.file == file and error.line is not None
