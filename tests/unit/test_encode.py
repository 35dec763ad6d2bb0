"""Each encoder against the texts that broke others, and properties over any text."""

from __future__ import annotations

import csv
import html as html_module
import io
import json
import re
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.reports import HOSTILE

from evalaction.report.encode import cell, csv_cell, cut, fence, html, log, one_line, prose, term, words, xml

ANY = st.text(st.characters(codec=None), max_size=80)
SHARP = st.text(
    st.sampled_from("|`\\<>&\n\r\t*_~[]()!#@$:{}'\"=+- aGHwhtp./;\u200b\u202e\x1b\x9b\ud800\u2028日🤖1x%"), max_size=60
)
TEXTS = st.one_of(ANY, SHARP, st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE), max_size=3).map("".join))
GFM = MarkdownIt("gfm-like", {"linkify": False, "html": True})
UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def unseen(text: str, allowed: str = "") -> list[str]:
    return [char for char in text if unicodedata.category(char) in UNSEEN and char not in allowed]


@given(TEXTS)
def test_no_active_character_survives_a_cell(text: str) -> None:
    inner = cell(text).removeprefix("<code>").removesuffix("</code>")
    bare = re.sub(r"&#\d+;", "", inner)
    assert not set(bare) & set("&<>\"'|`*_~[]()\\!#@$:{}\n\r\t")
    assert not unseen(bare, "\u200b")


@given(st.lists(st.sampled_from(["\r\n", "\r", "\n", "a", "\t"]), max_size=60).map("".join), st.integers(1, 20))
def test_a_line_is_cut_by_what_it_shows_whatever_its_line_ends_are(text: str, limit: int) -> None:
    assert one_line(text, limit) == one_line(text.replace("\r\n", "\n").replace("\r", "\n"), limit)


@given(TEXTS)
def test_words_are_as_quiet_as_cells(text: str) -> None:
    assert not set(re.sub(r"&#\d+;", "", words(text))) & set("&<>\"'|`*_~[]()\\!#@$:{}\n\r\t")


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_a_cell_never_breaks_a_table_row(texts: list[str]) -> None:
    rows = "".join(f"| {cell(text)} | {words(text)} | end |\n" for text in texts)
    tokens = GFM.parse(f"| a | b | c |\n|---|---|---|\n{rows}\nafter\n")
    assert [token.type for token in tokens if token.level == 0] == [
        "table_open",
        "table_close",
        "paragraph_open",
        "paragraph_close",
    ]
    assert sum(token.type == "td_open" for token in tokens) == 3 * len(texts)
    assert tokens[-2].content == "after"
    inline = [child for token in tokens if token.type == "inline" for child in token.children or []]
    assert {child.type for child in inline} <= {"text", "html_inline", "text_special"}
    assert {child.content for child in inline if child.type == "html_inline"} <= {"<code>", "</code>"}


@pytest.mark.parametrize("text", [text for text in HOSTILE if not unseen(text, "\r\n")])
def test_a_cell_shows_what_it_was_given(text: str) -> None:
    shown = html_module.unescape(cell(text).removeprefix("<code>").removesuffix("</code>")).replace("\u200b", "")
    assert shown == text.replace("\r\n", " ⏎ ")


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("@org/team", "@\u200borg/team"),
        ("fixes #123", "fixes #\u200b123"),
        ("GH-7", "GH-\u200b7"),
        ("https://x.invalid", "https\u200b://x.invalid"),
        ("HTTP://x", "HTTP\u200b://x"),
        ("www.x.invalid", "www\u200b.x.invalid"),
        ("mailto:me@x", "mailto\u200b:me@\u200bx"),
    ],
)
def test_mentions_and_addresses_are_broken(text: str, broken: str) -> None:
    assert html_module.unescape(cell(text)) == f"<code>{broken}</code>"


def test_cutting_comes_before_escaping() -> None:
    assert cell("|" * 200, 5) == "<code>&#124;&#124;&#124;&#124;…</code>"
    assert cut("abcde", 5) == "abcde"
    assert cut("abcdef", 5) == "abcd…"


@pytest.mark.parametrize("text", ["", " ", " \t "])
def test_an_empty_text_is_a_dash_not_an_empty_cell(text: str) -> None:
    assert cell(text) == words(text) == term(text) == "–"


@given(TEXTS)
def test_a_fence_holds_any_text(text: str) -> None:
    tokens = GFM.parse(fence(text) + "\nafter\n")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert not unseen(tokens[0].content, "\n\t\u200b")


def test_a_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    assert fence("a").startswith("```\n")
    assert fence("````", "text").startswith("`````text\n")
    assert "@\u200bteam" in fence("@team")


@given(TEXTS)
def test_a_log_line_is_ascii_reads_back_and_commands_nothing(text: str) -> None:
    line = log(text)
    assert line.isascii()
    assert "\n" not in line
    assert "::" not in line
    assert "##[" not in line
    assert json.loads(line) == text


@given(TEXTS)
def test_nothing_moves_a_terminal(text: str) -> None:
    shown = term(text, None)
    assert not unseen(shown, "\u200b")
    assert "::" not in shown
    assert "##[" not in shown


def test_escape_sequences_are_shown_not_run() -> None:
    assert term("\x1b]0;title\x07\x9b2J\x1b[31m") == "�]0;title��2J�[31m"
    assert term("a\r\nb\tc") == "a ⏎ b c"


@given(TEXTS)
def test_a_spreadsheet_sees_no_formula(text: str) -> None:
    safe = csv_cell(text)
    assert not safe.startswith(("=", "+", "-", "@", "\t", "\r"))
    buffer = io.StringIO()
    csv.writer(buffer).writerow([safe, "end"])
    assert next(csv.reader(io.StringIO(buffer.getvalue(), newline=""))) == [safe, "end"]
    safe.encode("utf-8")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_prefixed(text: str) -> None:
    assert csv_cell(text).startswith(("'", "�"))


def test_a_cell_of_plain_words_stays_as_it_is() -> None:
    assert csv_cell("differs: at /queue: expected 1, got -1") == "differs: at /queue: expected 1, got -1"


@given(TEXTS)
def test_xml_stays_well_formed(text: str) -> None:
    root = ElementTree.fromstring(f'<a b="{xml(text)}">{xml(text)}</a>')
    allowed = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
    assert (root.text or "") == allowed == root.attrib["b"]


@given(TEXTS)
def test_html_holds_no_markup(text: str) -> None:
    safe = html(text)
    assert not set(re.sub("&(amp|lt|gt|quot|#39|#96);", "", safe)) & set("&<>\"'`")
    assert not unseen(safe, "\n\t")


@given(st.text(st.sampled_from("ab  1.)-+=#*_|<&\\~[]\n"), max_size=20))
@settings(max_examples=300)
def test_our_own_words_stay_plain_text(text: str) -> None:
    tokens = GFM.parse(prose(text))
    shown = "".join(child.content for token in tokens for child in token.children or [])
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    assert shown == " ".join(text.split())


def test_our_own_words_may_hold_code() -> None:
    assert prose("raise `max_tokens` now") == "raise <code>max&#95;tokens</code> now"
    assert prose("one ` alone") == "one &#96; alone"
    assert prose("12. May") == "12&#46; May"
    assert prose("2.5 points, −3") == "2.5 points, −3"
