from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.errors import SourceError
from evalaction.method.reading.source import Document, load


def read(text: str | bytes) -> Document:
    return load(text.encode() if isinstance(text, str) else text, file="card.yaml")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("017", 17),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("-3", -3),
        ("+3", 3),
        ("1e3", Decimal("1e3")),
        ("5e-2", Decimal("5e-2")),
        ("0.020", Decimal("0.020")),
        (".5", Decimal("0.5")),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("yes", "yes"),
        ("off", "off"),
        ("2026-11-30", "2026-11-30"),
        ("0b1", "0b1"),
        ("1.2.3", "1.2.3"),
        ("٣", "٣"),
        ("true", True),
        ("TRUE", True),
        ("tRUE", "tRUE"),
        ("null", None),
        ("~", None),
        ("", None),
        ('"5"', "5"),
        ("'true'", "true"),
        ("'null'", "null"),
        ("-.infinity", "-.infinity"),
    ],
)
def test_scalars_follow_the_core_schema(written: str, value: object) -> None:
    found = read(f"a: {written}\n").value
    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)


def test_decimals_keep_their_text() -> None:
    assert str(read("a: 0.020").value["a"]) == "0.020"  # type: ignore[index,call-overload]
    assert str(read('{"a": 0.020}').value["a"]) == "0.020"  # type: ignore[index,call-overload]


REFUSED = [
    ("a: 1\na: 2\n", 2, 1, "the key `a` appears twice"),
    ("b:\n  x: 1\n  x: 1\n", 3, 3, "the key `x` appears twice"),
    ("a: &x 1\n", 1, 4, "anchors"),
    ("a: *x\n", 1, 4, "aliases"),
    ("a: * x\n", 1, 5, "aliases"),
    ("a: &\n", 1, 5, "anchors"),
    ("a: &a [*a, *a]\n", 1, 4, "anchors"),
    ("b: 1\n<<: {a: 1}\n", 2, 1, "merge keys"),
    ("a: !!str 1\n", 1, 4, "tags"),
    ("a: !!python/object/apply:os.system [x]\n", 1, 4, "tags"),
    ("a: !x y\n", 1, 4, "tags"),
    ("%YAML 1.1\n---\na: 1\n", 1, 1, "directives"),
    ("a: 1\n\tb: 2\n", 2, 1, "a tab"),
    ("a:\t1\n", 1, 3, "a tab"),
    ("a: .nan\n", 1, 4, "`.nan`"),
    ("a: -.INF\n", 1, 4, "`-.INF`"),
    (f"a: {'9' * 1_001}\n", 1, 4, "more than 1,000 characters"),
    (f"a: 0x{'f' * 1_001}\n", 1, 4, "more than 1,000 characters"),
    ("a: 1e401\n", 1, 4, "beyond ±400"),
    ("a: 1e-99999999999999999\n", 1, 4, "beyond ±400"),
    ("--- \na: 1\n--- \na: 2\n", 3, 1, "only one YAML document"),
    ("1: x\n", 1, 1, "the key `1` is not text"),
    ("a: {true: x}\n", 1, 5, "the key `true` is not text"),
    ("? [a]\n: 1\n", 1, 3, "a key must be text"),
    ("a: [1, 2\n", 2, 1, "this is not YAML"),
    ("a: b: c\n", 1, 5, "this is not YAML"),
    ("a: \x07\n", 1, 4, "U+0007"),
    ("a: x\u2028y\n", 1, 5, "U+2028"),
    ('a: "\\ud800"\n', 1, 4, "U+D800"),
    ("a: " + "[" * 100_000, 1, 53, "nested over 50 levels"),
    ("a:\n" + "".join(f"{' ' * depth}b:\n" for depth in range(1, 60)), 51, 51, "nested over 50 levels"),
    ('{"a": 1, "a": 2}', 1, 10, "the key `a` appears twice"),
    ('{"a": NaN}', 1, 7, "`NaN` is not JSON"),
    ('{"a": -Infinity}', 1, 7, "`-Infinity` is not JSON"),
    ('{"a": 1e400}', 1, 7, "beyond the range"),
    ('{"a": ' + "1" * 1_001 + "}", 1, 7, "over 1,000 digits"),
    ('{"a": "\\ud800"}', 1, 7, "U+D800"),
    ("{a: 1}", 1, 2, "text in double quotes"),
    ('{"a": 1,}', 1, 9, "text in double quotes"),
    ('{"a" 1}', 1, 6, "a `:` belongs here"),
    ('{"a": [1 2]}', 1, 10, "a `,` or `]` belongs here"),
    ('{"a": 1}\n{"b": 1}', 2, 1, "only one JSON value"),
    ('{"a": 01}', 1, 8, "a `,` or `}` belongs here"),
    ('{"a": }', 1, 7, "a JSON value belongs here"),
    ('{"a": "x', 1, 7, "unterminated string"),
    ('{"a": "x\ty"}', 1, 9, "invalid control character"),
    ('{"a":' * 60, 1, 251, "nested over 50 levels"),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_refused_with_a_place(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(text)
    assert words in caught.value.sentence
    assert (caught.value.file, caught.value.line, caught.value.column) == ("card.yaml", line, column)


@pytest.mark.parametrize(
    ("data", "words", "place"),
    [
        (b"\xef\xbb\xbfa: 1\n", "byte order mark", (1, 1)),
        ("a: 1\n".encode("utf-16"), "UTF-16", (1, 1)),
        ("a: 1\n".encode("utf-16-le"), "UTF-16", (1, 1)),
        ("a: 1\nb: ü\n".encode("latin-1"), "0xfc is not UTF-8", (2, 4)),
        (b"# " + b"x" * 262_143, "the limit is 262,144", (None, None)),
    ],
)
def test_bytes_that_are_not_text(data: bytes, words: str, place: tuple[int | None, int | None]) -> None:
    with pytest.raises(SourceError) as caught:
        read(data)
    assert words in caught.value.sentence
    assert (caught.value.line, caught.value.column) == place


def test_a_full_size_card_is_read() -> None:
    assert read(b"a: 1 #" + b"x" * (262_144 - 6)).value == {"a": 1}


def test_alias_bombs_stop_at_the_first_anchor() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{name}: &{name} [*{before}, *{before}]\n" for before, name in zip("abcdef", "bcdefg", strict=True)
    )
    with pytest.raises(SourceError, match="anchors"):
        read(bomb)


@pytest.mark.parametrize("text", ["a: 1\nbc:\n  - x\n  - {d: 0.20}\n", '{"a": 1,\n "bc": ["x",\n  {"d": 0.20}]}'])
def test_places_of_keys_and_values(text: str) -> None:
    document = read(text)
    lines = text.splitlines()
    for path, shown in ((("a",), "1"), (("bc", 0), "x"), (("bc", 1, "d"), "0.20")):
        line, column = document.place(path)
        assert lines[line - 1][column - 1 :].lstrip('"').startswith(shown)
        spot = document.spot(path)
        assert document.text[spot.start : spot.end].strip('"') == shown == document.raw(path)
    line, column = document.key_place(("bc",))
    assert lines[line - 1][column - 1 :].lstrip('"').startswith("bc")
    assert document.raw(("bc",)) is None
    assert document.place(("bc", 7, "nothing")) == document.place(("bc",))
    assert document.place(("nothing",)) == document.place(())


def test_hashes_are_text_whatever_they_look_like() -> None:
    paths = {("h",), ("i",)}
    for digits in ("0" * 64, "1" * 64, "12e" + "4" * 61):
        assert load(f"h: {digits}\n".encode(), file="c", text_paths=paths).value == {"h": digits}
    assert load(b"h:\ni: null\n", file="c", text_paths=paths).value == {"h": None, "i": None}
    assert load(b'h: "null"\n', file="c", text_paths=paths).value == {"h": "null"}
    assert load(b'{"h": 123}', file="c", text_paths=paths).value == {"h": "123"}


def test_empty_text_has_no_value() -> None:
    assert read("").value is None
    assert read("# only a comment\n").value is None
    assert read("").place(("a",)) == (1, 1)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"), max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(json_values, st.sampled_from([None, 1]))
def test_json_is_read_as_the_standard_reader_reads_it(value: object, indent: int | None) -> None:
    assert read(json.dumps({"k": value}, indent=indent)).value == {"k": value}


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab01:-#&*!|>'\"%@`{}[],? \n\t.eE~<", max_size=40))
def test_any_text_is_a_value_or_a_placed_error(text: str) -> None:
    try:
        read(text)
    except SourceError as error:
        assert error.line is not None
        assert error.column is not None
