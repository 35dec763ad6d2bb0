from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.method.canonical import dumps
from evalaction.method.reading.strict_json import NotJson, loads

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ('{"a":1,"b":2,"a":1}', 'the key "a" appears twice in one object'),
        ("[" * 100_000, "nested over 200 levels deep"),
        ('{"a":' * 201 + "1" + "}" * 201, "nested over 200 levels deep"),
        ("9" * 5_000, "a number of over 1,000 digits"),
        ("0." + "1" * 1_000, "a number of over 1,000 digits"),
        ("1e400", "a number beyond the range of a double"),
        ("-1e309", "a number beyond the range of a double"),
        ("1e-99999999999999999999999999", "a number beyond the range of a double"),
        ("", "expecting value"),
        ("{} {}", "extra data"),
        ("[1,]", ""),
        ("01", "extra data"),
        ("'a'", "expecting value"),
        ("\ufeff1", "expecting value"),
        ('"\x01"', "invalid control character at"),
        ('{"a":1', ""),
        ("tru", "expecting value"),
        ("1.", "extra data"),
        ("+1", "expecting value"),
    ],
)
def test_refused(text: str, detail: str) -> None:
    with pytest.raises(NotJson) as caught:
        loads(text)
    assert caught.value.detail.startswith(detail)


def test_decimals_keep_their_text() -> None:
    assert dumps(loads('{"b":0.20,"a":1,"c":-0.0}')) == '{"a":1,"b":0.20,"c":-0.0}'
    assert isinstance(loads("1"), int)
    assert isinstance(loads("1.0"), Decimal)
    assert isinstance(loads("1e2"), Decimal)


def test_depth_counts_brackets_outside_strings_only() -> None:
    assert loads("[" * 200 + "]" * 200) is not None
    assert loads(json.dumps("[" * 5_000 + '\\"{')) == "[" * 5_000 + '\\"{'
    assert loads("[" + ",".join(["[]"] * 5_000) + "]") == [[]] * 5_000


def test_hostile_quotes_are_read_in_linear_time() -> None:
    for text in ('\\"' * 500_000 + "[" * 300, '"' * 400_001 + "[" * 300, '"' + "\\" * 1_000_001 + "[" * 300):
        with pytest.raises(NotJson):
            loads(text)


def test_lone_surrogates_written_as_escapes_stay() -> None:
    assert loads('"\\ud800"') == "\ud800"


@settings(max_examples=100, deadline=None)
@given(values)
def test_agrees_with_the_standard_reader_on_plain_values(value: object) -> None:
    assert loads(json.dumps(value)) == value


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]",:0123456789eE+-.\\ntrufalse ', max_size=40))
def test_any_text_is_a_value_or_not_json(text: str) -> None:
    try:
        loads(text)
    except NotJson as error:
        assert error.detail
