"""Documents of the action: a report with more callouts, an answer shown again, and a card that could not be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evalaction.report.blocks import Bullets, Document, Link, Section, Text
from evalaction.report.layout import document as document_of

if TYPE_CHECKING:
    from evalaction.github.hidden import Record
    from evalaction.method.records import Sentence
    from evalaction.method.report import Report

_BEFORE_CALLOUTS = ("breaks", "todo")
_MARKS = {"pass": "pass", "fail": "fail", "inconclusive": "inconclusive", "unreachable": "unreachable"}


def with_callouts(document: Document, lines: Sequence[Text], after: Sequence[Text] = ()) -> Document:
    """The document with lines before, and others after, the callouts that it has."""
    if not lines and not after:
        return document
    found = [block.lines for section in document.sections if section.name == "callouts" for block in section.blocks
             if isinstance(block, Bullets)]  # fmt: skip
    callouts = Section("callouts", (Bullets((*lines, *(line for some in found for line in some), *after), callout=True),))
    others = [section for section in document.sections if section.name != "callouts"]
    first = [section for section in others if section.name in _BEFORE_CALLOUTS]
    rest = [section for section in others if section.name not in _BEFORE_CALLOUTS]
    return replace(document, sections=(*first, callouts, *rest))


def to_be_kept(report: Report) -> Document:
    """What of a section is as true of the next commit that asks the same: not what this one changes in the question."""
    return document_of(replace(report, callouts=report.callouts[report.asked_callouts :]))


def shown_again(record: Record, sentence: str, name: str, said: Sequence[Sentence] = ()) -> Document:
    """The section of an earlier answer, which says that it is one and where it was drawn; `said` is of the commit at hand."""
    from evalaction.github.shown import restore

    document = restore(record.shown) if record.shown is not None else None
    if document is None:
        document = Document(
            titles=(),
            mark=_MARKS[record.outcome],
            name=name,
            heading=(f"{record.outcome}, as answered before",),
            sections=(),
            footer=((f"outcome {record.outcome}",), (f"question {record.question_digest[:12]}",)),
            last_words="Nothing was drawn.",
        )
    where: Text = (f"{sentence} ", Link("See that run", record.run_url), ".")
    lists = (block for section in document.sections for block in section.blocks if isinstance(block, Bullets))
    known = {line for one in lists for line in one.lines}
    return with_callouts(replace(document, name=name), [where, *(line for line in said if line not in known)])
