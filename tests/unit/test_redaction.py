"""A configured secret is found and replaced in every dress our encoders, or a provider's, may give it."""

from __future__ import annotations

import base64
import io
import json
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalaction.redaction import MARK, Redactor
from evalaction.report.encode import cell, csv_cell, fence, html, log, prose, term, words, xml

SECRET = "ghp_R@nd0m/+key=#1|x\\y\"'<&>&amp;%41"


def _urlsafe(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def _wrapped(text: str) -> str:
    return base64.encodebytes(text.encode()).decode()


ENCODERS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 after one byte": lambda text: base64.b64encode(b"\x01" + text.encode()).decode(),
    "base64 after two bytes": lambda text: base64.b64encode(b"\xff\xfe" + text.encode() + b"tail").decode(),
    "base64 url": lambda text: _urlsafe("u:" + text),
    "base64 in lines": _wrapped,
    "base64 in lines, as JSON": lambda text: json.dumps(_wrapped(text)),
    "base64 in a query": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
    "percent": lambda text: quote(text, safe=""),
    "percent, every byte": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "form": quote_plus,
    "json": json.dumps,
    "json, slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "json twice": lambda text: json.dumps(json.dumps(text)),
    "json, every character": lambda text: "".join(f"\\u{ord(char):04X}" for char in text),
    "python": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode("latin-1")),
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "decimal entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "long decimal entities": lambda text: "".join(f"&#{ord(char):07d};" for char in text),
    "hex entities": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "entities of entities": lambda text: xml(cell(text)),
    "zero width": "\u200b".join,
    "cell": lambda text: cell(text, None),
    "words": lambda text: words(text, None),
    "fence": fence,
    "prose": prose,
    "log": log,
    "log of a cell": lambda text: log(cell(text, None)),
    "term": lambda text: term(text, None),
    "csv": csv_cell,
    "xml": xml,
    "html": html,
}
ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40)
SURROUNDINGS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@pytest.mark.parametrize("encode", ENCODERS.values(), ids=ENCODERS.keys())
@pytest.mark.parametrize("secret", [SECRET, "sk-abcdefgh", "http://user.host.invalid:8080/a?b=GH-1", "::##[::##[x"])
def test_a_secret_is_found_in_every_dress(encode: Callable[[str], str], secret: str) -> None:
    redactor = Redactor({"EVAL_KEY": secret})
    text = f"before {encode(secret)} after"
    assert redactor.leaks(text.encode("utf-8")) == ["EVAL_KEY"]
    clean = redactor.redact(text)
    assert MARK in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert redactor.leaks(clean.encode("utf-8")) == []


@given(st.sampled_from(sorted(ENCODERS)), ASCII, SURROUNDINGS, SURROUNDINGS)
@settings(max_examples=150, deadline=None)
def test_what_was_redacted_never_leaks(dress: str, secret: str, before: str, after: str) -> None:
    assume(dress != "prose" or "`" not in secret)  # our own words: what stands in backticks becomes code
    redactor = Redactor({"A": secret})
    encode = ENCODERS[dress]
    inside = encode(before + secret + after) if dress not in {"base64 in lines", "prose"} else encode(secret)
    assert redactor.leaks(inside.encode("utf-8", "surrogatepass")) == ["A"], inside
    assert redactor.leaks(redactor.redact(inside).encode("utf-8", "surrogatepass")) == []


@given(ASCII, ASCII, SURROUNDINGS)
@settings(max_examples=60, deadline=None)
def test_a_clean_text_is_left_alone(secret: str, other: str, text: str) -> None:
    redactor = Redactor({"A": secret})
    assume(secret not in text + other)
    assume(not redactor.leaks((text + other).encode()))
    assert redactor.redact(text + other) == text + other


def test_redacting_first_keeps_what_is_cut_later_clean() -> None:
    redactor = Redactor({"A": "ghp_0123456789abcdefgh"})
    text = "x" * 230 + "ghp_0123456789abcdefgh"
    assert "ghp_012345" not in redactor.redact(text)[:240]


def test_what_stands_around_a_secret_may_be_another_one() -> None:
    redactor = Redactor({"A": "abcdefgh", "B": "12***345"})
    clean = redactor.redact("12abcdefgh345")
    assert clean == MARK
    assert redactor.leaks(clean.encode()) == []


def test_one_secret_inside_another() -> None:
    redactor = Redactor({"SHORTER": "abcdefgh", "LONGER": "xyzabcdefghxyz"})
    assert redactor.redact("1 xyzabcdefghxyz 2 abcdefgh 3") == "1 *** 2 *** 3"
    assert redactor.leaks(b"xyzabcdefghxyz") == ["LONGER", "SHORTER"]


def test_short_values_are_named_and_not_scanned_for() -> None:
    redactor = Redactor({"B": "1234567", "A": "true", "EMPTY": "", "KEY": "12345678"})
    assert redactor.short == ("A", "B")
    assert redactor.redact("true 1234567 12345678") == "true 1234567 ***"
    assert redactor.leaks(b"true 1234567") == []


def test_secrets_are_not_shown_by_the_redactor_itself() -> None:
    assert repr(Redactor({"A": SECRET})) == "Redactor(1 secrets)"


@pytest.mark.parametrize("secret", ["pässwörd-日本語", "🔑🔑🔑🔑🔑🔑🔑🔑"])
@pytest.mark.parametrize("dress", ["percent", "json", "json, every character", "hex entities", "base64", "cell", "log"])
def test_secrets_beyond_ascii(secret: str, dress: str) -> None:
    encode = ENCODERS[dress] if dress != "json, every character" else json.dumps
    redactor = Redactor({"A": secret})
    assert redactor.leaks(encode(secret).encode()) == ["A"]
    assert redactor.leaks(redactor.redact(encode(secret)).encode()) == []


@pytest.mark.parametrize("offset", [-40, -20, -8, -1, 0, 1])
@pytest.mark.parametrize("dress", ["plain", "cell", "base64", "json, every character"])
def test_no_border_between_two_reads_hides_a_secret(offset: int, dress: str) -> None:
    redactor = Redactor({"A": SECRET})
    file = io.BytesIO(b"x" * ((1 << 20) + offset) + ENCODERS[dress](SECRET).encode() + b"y" * 100)
    assert redactor.leaks_in(file) == ["A"]


def test_a_character_cut_by_a_border_is_no_error() -> None:
    assert Redactor({"A": SECRET}).leaks_in(io.BytesIO(b"x" * ((1 << 20) - 1) + "日".encode() + b"\xff")) == []
    assert Redactor({}).leaks_in(io.BytesIO(b"anything")) == []


def test_bytes_that_are_no_text_are_scanned_too() -> None:
    assert Redactor({"A": "sk-abcdefgh"}).leaks(b"\xff\x00\xfesk-abcdefgh\x80") == ["A"]


def test_a_long_secret_is_found_whole() -> None:
    secret = base64.b64encode(bytes(range(256)) * 8).decode()
    redactor = Redactor({"A": secret})
    assert redactor.redact(f"<{json.dumps(secret)}>") == '<"***">'


@pytest.mark.parametrize(
    "text",
    [
        " ".join(json.dumps({"id": number, "text": "what is the ghp_ of &#64; and %20 é"}) for number in range(14_000)),
        "ghp_R" * 50_000,
        "&amp;" * 200_000,
        "%25" * 300_000,
    ],
    ids=["rows", "beginnings", "entities", "percent"],
)
def test_a_megabyte_takes_a_moment(text: str) -> None:
    redactor = Redactor({"A": SECRET, "B": "sk-abcdefghijklmnop"})
    start = time.process_time()
    redactor.redact(text)
    assert time.process_time() - start < 5
