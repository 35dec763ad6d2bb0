"""The comment, parsed again as GitHub's Markdown: the structure is ours alone, whatever the ids say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token
from support.report_strategies import reports
from support.reports import GOLDEN, behind, hash_mismatch, hostile, unreachable

from evalaction.method.report import Report
from evalaction.report.markdown import comment, summary

TAGS = {"<code>", "</code>", "<sub>", "</sub>", "<br>", "<b>", "</b>"}
MARKER = "<!-- evalaction:" + "ab" * 32 + " -->"


def parsed(text: str) -> Sequence[Token]:
    return MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(text)


def inline(tokens: Sequence[Token]) -> Sequence[Token]:
    return [child for token in tokens for child in token.children or []]


def headings(tokens: Sequence[Token]) -> Sequence[str]:
    return [token.tag for token in tokens if token.type == "heading_open"]


def tables(tokens: Sequence[Token]) -> Sequence[Sequence[int]]:
    """Per table the number of cells of each row, its head first."""
    found: list[list[int]] = []
    for token in tokens:
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append(0)
        elif token.type in {"td_open", "th_open"}:
            found[-1][-1] += 1
    return found


def is_sound(text: str, report: Report) -> None:
    tokens = parsed(text)
    assert headings(tokens) == ["h2"]
    kinds = Counter(token.type for token in tokens)
    assert not kinds["code_block"] + kinds["ordered_list_open"] + kinds["lheading_open"]
    assert kinds["fence"] == sum(bool(change.diff) for change in report.changes)
    assert kinds["blockquote_open"] == bool(report.callouts)
    children = inline(tokens)
    links = [token.attrs["href"] for token in children if token.type == "link_open"]
    assert set(links) <= {report.provenance.run_url}
    assert not any(token.type in {"image", "em_open", "s_open", "code_inline"} for token in children)
    assert {token.content for token in children if token.type == "html_inline"} <= TAGS
    for block in (token.content for token in tokens if token.type == "html_block"):
        assert re.fullmatch(
            r"<details><summary><b>[^<]*</b>[^<]*</summary>\n|</details>\n|<sub>.*</sub>\n|<!-- [^>]* -->\n?", block, re.DOTALL
        ), block
    assert all(len(set(rows)) == 1 for rows in tables(tokens))


@pytest.mark.parametrize("name", GOLDEN)
def test_every_report_is_sound(name: str) -> None:
    report = GOLDEN[name]()
    is_sound(comment(report), report)
    is_sound(summary(report), report)


@given(reports())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_report_is_sound(report: Report) -> None:
    is_sound(comment(report), report)


def test_no_other_marker_than_ours_can_stand_in_the_comment() -> None:
    page = comment(hostile(), marker=MARKER)
    assert page.count("<!--") == 1
    assert page.startswith(MARKER + "\n## ")


def test_the_order_of_the_comment() -> None:
    text = comment(behind())
    places = [
        "## ❌ support-triage: treatment is behind",
        "- Both halves have control ahead",
        "**What to do.**",
        "> [!NOTE]",
        "|  | reach |",
        "| 5 draws |",
        "| half, all draws |",
        "Lower bound",
        "<b>What moved</b>",
        "<b>By tag</b>",
        "<b>Limits</b>",
        "<b>Reasons</b>",
        "<b>First draws, latency",
        "<sub>outcome fail (exit 1)",
        "Not a ranking.",
    ]
    found = [text.index(place) for place in places]
    assert found == sorted(found)


def test_the_column_that_moved_is_marked_once() -> None:
    text = comment(behind())
    assert text.count("◀") == 1
    row = next(line for line in text.splitlines() if "◀" in line)
    assert row.startswith("| treatment |")
    assert row.split(" | ")[3].endswith("83.6\u00a0%\u00a0◀")


def test_a_breached_limit_stands_beside_its_number() -> None:
    row = next(line for line in comment(behind()).splitlines() if "17/64" in line and line.startswith("| treatment"))
    assert "17/64 26.6\u00a0% ✗ gain over 10 points" in row
    assert "44–45/64" in row


def test_a_flip_is_seen_in_the_strip() -> None:
    row = next(line for line in comment(behind()).splitlines() if "t0031" in line and "lost" in line)
    assert "✅✅✅✅✅ | ❌✅❌❌✅ | lost, broke, flip | check" in row


def test_a_report_without_draws_has_no_tables() -> None:
    for make in (unreachable, hash_mismatch):
        tokens = parsed(comment(make()))
        assert not tables(tokens)
        assert "Nothing was measured." in comment(make())


def test_a_sentence_we_did_not_write_is_words_and_not_code() -> None:
    text = comment(hash_mismatch())
    line = next(line for line in text.splitlines() if "exam.sha256" in line)
    assert "<code>" not in line
    assert "eval/tasks.jsonl&#58; exam.sha256 in the card" in line


def test_no_line_is_a_command_of_the_runner() -> None:
    for make in GOLDEN.values():
        assert not re.search(r"##\[|^\s*::", comment(make()), re.MULTILINE)
