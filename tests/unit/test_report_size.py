"""The size budget: long lists shrink, then whole sections go, in a fixed order, and it is said what is missing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from support.reports import HOSTILE, behind, enormous

from evalaction.method.records import Break, Quoted
from evalaction.method.report import Pair, Report
from evalaction.report.markdown import COMMENT_LIMIT, GOES_FIRST, NAMES, SUMMARY_LIMIT, comment, size, summary
from evalaction.report.text import render_text

MARKER = "<!-- evalaction:" + "0" * 64 + " -->"


def whole(text: str) -> None:
    """Nothing is cut inside a block: folds are balanced, every row of a table has the cells of its head."""
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>") == text.count("</summary>")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = table.splitlines()
        assert len({line.count(" | ") for line in lines}) == 1
    assert text.count("<code>") == text.count("</code>")
    assert text.count("<sub>") == text.count("</sub>")
    if len(text) <= COMMENT_LIMIT:  # a megabyte takes the parser many seconds
        tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(text)
        assert not any(token.type == "fence" for token in tokens)


def lost(count: int, item: str) -> Report:
    pairs = tuple(
        Pair(kind="lost", item=f"{number}{item}", control="ppppp", treatment="kkkkk", column="check", reason=item)
        for number in range(count)
    )
    return replace(behind(), pairs=pairs, flips=())


def test_size_is_the_larger_of_units_and_bytes() -> None:
    assert size("a") == 1
    assert size("é") == 2
    assert size("日") == 3
    assert size("🤖") == 4


def test_five_thousand_moved_items_fit_and_say_so() -> None:
    text = comment(enormous(), marker=MARKER)
    assert size(text) <= COMMENT_LIMIT
    assert size(text) > COMMENT_LIMIT // 4
    assert text.startswith(MARKER + "\n## ❌ support-triage")
    assert re.search(r"<sub>4,9\d\d more in the artifact\.</sub>", text)
    assert "5,000 lost, 5,000 flips" in text
    whole(text)


def test_the_summary_has_more_rows_and_its_own_limit() -> None:
    text = summary(enormous())
    assert COMMENT_LIMIT < size(text) <= SUMMARY_LIMIT
    assert len(text.encode()) <= SUMMARY_LIMIT
    whole(text)


@pytest.mark.parametrize("item", ["é" * 200, "日本" * 100, "🤖" * 200, "|" * 500, *HOSTILE])
def test_any_id_in_any_number_fits(item: str) -> None:
    for count in (1, 25, 26, 300):
        text = comment(lost(count, item))
        assert size(text) <= COMMENT_LIMIT
        whole(text)


def test_a_list_is_shown_whole_where_it_fits_and_counted_where_not() -> None:
    assert "more in the artifact" not in comment(lost(25, "t"))
    assert "1 more in the artifact" in comment(lost(26, "t"))
    assert "more in the artifact" not in summary(lost(2000, "t"))


def test_whole_sections_go_first_and_are_named() -> None:
    base = enormous()
    texts = "|" * 600
    breaks = tuple(Break("b", tuple(Quoted(texts) for _ in range(30))) for _ in range(300))
    crowded = replace(base, verdict=replace(base.verdict, breaks=breaks), callouts=tuple(entry.sentence for entry in breaks))
    text = comment(crowded, marker="<!-- " + "x" * (COMMENT_LIMIT - 16_000) + " -->")
    assert size(text) <= COMMENT_LIMIT
    note = re.search(r"Left out for size, see the artifact: (.*)\.</sub>", text)
    assert note
    gone = note[1].split(", ")
    here = [name for name in GOES_FIRST if name not in {"diffs", "routes", "changed"}]
    assert {*gone} == {NAMES[name] for name in here[: len(gone)]}
    assert "**What to do.**" in text
    assert "| treatment | 319/320" in text
    assert "Not a ranking." in text
    whole(text)


def test_the_order_of_going_ends_with_what_the_author_must_act_on() -> None:
    assert GOES_FIRST[:2] == ("diffs", "costs") and GOES_FIRST[-5:] == ("halves", "callouts", "changed", "todo", "breaks")
    assert set(GOES_FIRST) == set(NAMES)


def test_without_a_marker_the_heading_is_the_first_line() -> None:
    assert comment(behind()).startswith("## ")
    assert comment(behind(), marker=MARKER).splitlines()[0] == MARKER


def test_the_terminal_is_not_flooded() -> None:
    assert len(render_text(enormous()).splitlines()) < 700
    assert "(4,980 more in results.json)" in render_text(enormous())


@pytest.mark.parametrize("spare", [-2, -1, 0, 1, 2])
def test_exactly_at_the_limit(spare: int) -> None:
    room = COMMENT_LIMIT - size(comment(behind())) - 1
    text = comment(behind(), marker="x" * (room - spare))
    assert size(text) <= COMMENT_LIMIT
    assert (size(text) == COMMENT_LIMIT - spare) == (spare >= 0)
    assert ("1 more in the artifact" in text) == (spare < 0)
