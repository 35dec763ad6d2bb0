"""Several cards in one comment: the sections that one card alone has, within one budget."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.reports import behind, enormous, hash_mismatch, hostile, not_run, small_single, transport

from evalaction.method.report import Report
from evalaction.report.layout import document
from evalaction.report.markdown import COMMENT_LIMIT, comment, comment_of, size, summary, summary_of

MARKER = "<!-- evalaction:comment " + "0" * 64 + " -->"
ENORMOUS = document(enormous())
TAIL = "<!-- evalaction:data " + "0" * 64 + " " + "A" * 19_000 + " -->"


@pytest.mark.parametrize("make", [behind, enormous, hash_mismatch, hostile, not_run, small_single, transport])
def test_one_report_looks_as_it_does_alone(make: Callable[[], Report]) -> None:
    report = make()
    assert comment_of([document(report)], marker=MARKER) == comment(report, marker=MARKER)
    assert summary_of(document(report)) == summary(report)


def test_sections_follow_each_other_under_one_marker() -> None:
    text = comment_of([document(behind()), document(behind())], marker=MARKER, first="Said above.", tail=TAIL)
    assert text.startswith(f"{MARKER}\n> **Said above.**\n\n## ")
    assert text.count("\n## ") == 2 and text.endswith(f"\n\n{TAIL}\n") and text.count("evalaction:comment") == 1


@pytest.mark.parametrize("count", [2, 7, 40])
def test_any_number_of_enormous_reports_fits_with_its_tail(count: int) -> None:
    text = comment_of([ENORMOUS] * count, marker=MARKER, tail=TAIL)
    assert size(text) <= COMMENT_LIMIT and text.endswith(f"{TAIL}\n")
    shown = text.count("\n## ")
    assert shown == count or f"{count - shown:,} more cards are left out for size" in text
    assert text.count("<details>") == text.count("</details>") and shown >= 1


def test_a_section_of_the_summary_keeps_to_its_share() -> None:
    assert size(summary_of(document(enormous()), 30_000)) <= 30_000
