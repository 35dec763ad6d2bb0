"""Contract: extraction, strict JSON, reasons with their details, what counts as cut off."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.checks.contract import Contract, misfit, read
from evalaction.checks.extract import last_number
from evalaction.checks.schema import compile_schema
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.counting.reasons import CUT_BY_LENGTH
from evalaction.method.records import Extract

RAW = Contract(extract="raw", json=False)
FENCED = Contract(extract="fenced", json=False)
JSON = Contract(extract="json", json=True)
FENCED_JSON = Contract(extract="fenced", json=True)
LAST = Contract(extract="last_number", json=False, number=True)


def code(reason: str | None) -> str | None:
    return reason.partition(": ")[0] if reason else None


def test_raw_takes_everything_and_compares_the_stripped_text() -> None:
    form = read(RAW, "  yes \n")
    assert (form.text, form.value, form.reason) == ("  yes \n", "yes", None)
    assert form.parsed_sha256 == read(RAW, "yes").parsed_sha256
    assert form.text_sha256 != read(RAW, "yes").text_sha256


@pytest.mark.parametrize(
    ("output", "block"),
    [
        ("```\nx = 1\n```", "x = 1"),
        ("Sure!\n\n```python\nx = 1\ny = 2\n```\nDone.", "x = 1\ny = 2"),
        ("~~~json\n{}\n~~~", "{}"),
        ("~~~ a ` in the info\nx\n~~~", "x"),
        ("````\n```\ninner\n```\n````", "```\ninner\n```"),
        ("```\n~~~\nx\n```", "~~~\nx"),
        ("```\nx\n`````", "x"),
        ("```\nx\n``` not a closing fence\ny\n```", "x\n``` not a closing fence\ny"),
        ("  ```\n  x\n    y\n  ```", "x\n  y"),
        ("```\r\nx\r\ny\r\n```\r\n", "x\r\ny"),
        ("```\n```", ""),
        ("    ```\n    indented code, no fence\n```\nx\n```", "x"),
        ("``` in a sentence ``` is no fence\n```\nx\n```", "x"),
    ],
)
def test_the_one_fenced_block(output: str, block: str) -> None:
    form = read(FENCED, output)
    assert (form.text, form.reason) == (block, None)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("x = 1", "no_block"),
        ("`x`", "no_block"),
        ("```python\nx = 1", "no_block"),
        ("````\nx\n```", "no_block"),
        ("```\na\n```\n```\nb\n```", "many_blocks"),
        ("```\na\n```\n~~~\nb", "many_blocks"),
    ],
)
def test_no_block_or_many(output: str, reason: str) -> None:
    form = read(FENCED, output)
    assert code(form.reason) == reason
    assert form.text == output and form.parsed_sha256 is None


def test_a_fence_cut_by_length_is_truncated_and_prose_is_not() -> None:
    assert code(read(FENCED, "```python\nx = 1", "length").reason) == "truncated"
    assert code(read(FENCED, "I would write", "length").reason) == "no_block"
    assert code(read(FENCED, "```\na\n```\n```\nb", "length").reason) == "many_blocks"


def test_json_inside_the_block() -> None:
    assert read(FENCED_JSON, '```json\n{"a": "```"}\n```').value == {"a": "```"}
    assert code(read(FENCED_JSON, "```json\n{'a': 1}\n```").reason) == "not_json"
    # The block is whole, so what is wrong in it is not the cut's doing.
    assert code(read(FENCED_JSON, '```json\n{"a":\n```\nand so', "length").reason) == "not_json"


@pytest.mark.parametrize(
    "text",
    [
        'Here you are: {"a": 1}',
        '```json\n{"a": 1}\n```',
        '{"a": 1,}',
        '{"a": NaN}',
        "Infinity",
        "-Infinity",
        '{"a": 1, "a": 1}',
        "\ufeff{}",
        "[" * 100_000,
        "[" * 201 + "]" * 201,
        "1" * 1_001,
        "1e400",
        "{'a': 1}",
        '{"a": 1} trailing',
        '{"a": 01}',
        '"a\nb"',
        "",
        "nul",
    ],
)
def test_not_json(text: str) -> None:
    form = read(JSON, text)
    assert code(form.reason) == "not_json"
    assert form.reason and len(form.reason) > len("not_json: ")
    assert len(form.reason) <= 240 and form.reason.isprintable()
    assert form.parsed_sha256 is None


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("[" * 201 + "]" * 201, "200 levels"),
        ("9" * 1_001, "1,000 digits"),
        ("1e400", "range of a double"),
        ("[NaN]", "NaN"),
        ('{"k": 1, "k": 2}', '"k" appears twice'),
        ("```json\n{}\n```", "extract: fenced"),
        ('{"a" 1}', "character 5"),
    ],
)
def test_the_detail_says_why(text: str, detail: str) -> None:
    assert detail in (read(JSON, text).reason or "")


@pytest.mark.parametrize(
    "text",
    [
        '{"a"',
        '{"a": ',
        '{"a": 1',
        '{"a": 1,',
        '{"a": "b',
        '{"a": "\\',
        '{"a": "\\u12',
        "[tru",
        "[1.",
        "[1e-",
        "[-",
        "{",
        '"ab\\n',
    ],
)
def test_cut_off_json_is_truncated_only_when_the_provider_says_so(text: str) -> None:
    for word in CUT_BY_LENGTH:
        assert code(read(JSON, text, word.upper()).reason) == "truncated"
    assert code(read(JSON, text, "stop").reason) == "not_json"
    assert code(read(JSON, text).reason) == "not_json"


@pytest.mark.parametrize(
    "text", ["Sure, here is the", "{'a': 'b", '{"a": 1} and then', '{"a": NaN, "b', "[1, two, thr", "[" * 300]
)
def test_a_cut_explains_only_what_failed_at_the_end(text: str) -> None:
    assert code(read(JSON, text, "length").reason) == "not_json"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=5), st.lists, max_leaves=8
    )
)
@settings(max_examples=100, deadline=None)
def test_every_cut_of_an_array_is_truncated(value: Json) -> None:
    text = canonical.dumps([value])
    for end in range(1, len(text)):
        assert code(read(JSON, text[:end], "length").reason) == "truncated", text[:end]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2 + 2 = 4", "4"),
        ("The total is 1,234.50.", "1234.50"),
        ("it is -4", "-4"),
        ("it is −4", "-4"),
        ("10-4", "4"),
        ("(3)-4", "4"),
        ("x=+7!", "+7"),
        ("1, 2, 3", "3"),
        ("3.14.", "3.14"),
        ("so ...42", "42"),
        ("答案是42。", "42"),
        ("about .5", ".5"),
        ("6.02e23 atoms", "6.02e23"),
        ("version 1.2.3", "1.2"),
        ("1,2345", "2345"),
        ("$5 for GPT4", "5"),
    ],
)
def test_last_number(text: str, number: str) -> None:
    assert last_number(text) == number


def test_no_number_is_a_form_that_is_missing() -> None:
    form = read(LAST, "four, of course")
    assert code(form.reason) == "no_number"
    assert form.text == "four, of course"


def test_equal_values_have_one_parsed_digest() -> None:
    assert read(JSON, '{"b": 1.0, "a": [10]}').parsed_sha256 == read(JSON, '{"a":[1e1],"b":1}').parsed_sha256
    assert read(LAST, "It is 4.0").parsed_sha256 == read(LAST, "4").parsed_sha256
    assert read(JSON, "true").parsed_sha256 != read(JSON, "1").parsed_sha256
    assert read(JSON, "-0.0").parsed_sha256 == read(JSON, "0").parsed_sha256
    assert read(JSON, '"1"').parsed_sha256 != read(JSON, "1").parsed_sha256


def test_the_schema_comes_after_the_form() -> None:
    contract = Contract(
        extract="json", json=True, misfit=compile_schema({"type": "object", "properties": {"s": {"enum": ["x"]}}})
    )
    assert misfit(contract, read(contract, '{"s": "x"}')) is None
    assert misfit(contract, read(contract, '{"s": "y"}')) == "schema: /s: 'y' is not one of ['x']"
    assert code(misfit(contract, read(contract, "{"))) == "not_json"
    assert read(contract, '{"s": "y"}').parsed_sha256 is not None


def test_a_reason_is_bounded_and_printable_whatever_the_output_holds() -> None:
    contract = Contract(extract="json", json=True, misfit=compile_schema({"enum": [1]}))
    for text in ('"' + "x" * 100_000 + '"', '"\\ud800\\u0000\\u202e\\u001b[31m"'):
        reason = misfit(contract, read(contract, text))
        assert reason and len(reason) <= 240 and reason.isprintable()
        assert reason.encode("utf-8")


extracts = st.sampled_from(["raw", "fenced", "json", "last_number"])
finish = st.none() | st.sampled_from(["length", "stop", ""])
nasty = st.text(st.sampled_from('`~{}[]",:\\0123456789-+.eE tfnN\n\r−�é\ud800'), max_size=40) | st.text(max_size=60)


@given(nasty, extracts, st.booleans(), finish)
@settings(max_examples=300, deadline=None)
def test_reading_never_raises(text: str, extract: Extract, strict: bool, finish_reason: str | None) -> None:
    form = read(Contract(extract=extract, json=strict or extract == "json", number=True), text, finish_reason)
    assert len(form.text_sha256) == 64
    assert (form.parsed_sha256 is None) == (form.reason is not None)
    assert code(form.reason) in {None, "not_json", "no_block", "many_blocks", "no_number", "truncated"}


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.decimals(-(10**6), 10**6, places=3).map(lambda d: d.quantize(Decimal("0.001")))
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4), max_leaves=20
)


@given(values)
@settings(max_examples=150, deadline=None)
def test_strict_json_round_trip(value: Json) -> None:
    form = read(JSON, canonical.dumps(value))
    assert form.reason is None and form.value == value
    assert canonical.dumps(form.value) == canonical.dumps(value)
