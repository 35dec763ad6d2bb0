"""The pull request comment and the job summary, for GitHub's Markdown, within GitHub's sizes.

The same document for both; the summary has room for more rows. Where space is short, long lists first show fewer rows and say how
many more there are; then whole sections go, in the order of `GOES_FIRST`. Nothing is ever cut inside a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalaction.method.records import Quoted
from evalaction.method.report import Report, Strip
from evalaction.report.blocks import (
    Block,
    Bullets,
    Document,
    Draws,
    Fold,
    Fragment,
    Link,
    Listing,
    Paragraph,
    Section,
    Table,
    Text,
)
from evalaction.report.encode import cell, fence, prose, words
from evalaction.report.layout import document

COMMENT_LIMIT = 60_000
SUMMARY_LIMIT = 1_000_000
GOES_FIRST = ("diffs", "costs", "reasons", "tags", "routes", "limits", "moved", "halves", "callouts", "changed", "todo", "breaks")
NAMES = {
    "costs": "latency and tokens",
    "reasons": "reasons",
    "diffs": "changed files",
    "routes": "by route",
    "tags": "by tag",
    "limits": "limits",
    "moved": "what moved",
    "halves": "halves",
    "callouts": "callouts",
    "changed": "what changed",
    "todo": "what to do",
    "breaks": "breaks",
}

MARKS = {
    "pass": "✅", "fail": "❌", "inconclusive": "⚠️", "unreachable": "🚫", "refused": "⛔", "stopped": "⏸️", "neutral": "⚪",
}  # fmt: skip
STRIP = {"p": "✅", "k": "❌", "c": "⚠️", "u": "🚫", "e": "💥"}
STRIP_WORDS = {"p": "pass", "k": "check", "c": "contract", "u": "unreached", "e": "checker error"}
_LONGEST_STRIP = 20
_LONGEST_SENTENCE = 600
_PLAIN_NAME = re.compile(
    r"(?!.*\bwww\.)(?!.*\bGH-)(?![0-9a-f]{7,40}\Z)[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of each list is shown. `text` is in bytes of Markdown, for one sentence."""

    rows: int
    lines: int
    text: int


_COMMENT_ROOMS = (_Room(25, 25, 3000), _Room(25, 12, 1500), _Room(16, 10, 1000), _Room(10, 10, 800), _Room(5, 8, 500))
_SUMMARY_ROOMS = (*(_Room(rows, 50, 3000) for rows in (2000, 1000, 700, 500, 350, 250, 100)), *_COMMENT_ROOMS)
_HEADING = _Room(0, 0, 400)


def size(text: str) -> int:
    """UTF-16 units or UTF-8 bytes, whichever are more: GitHub counts characters in one place and bytes in another."""
    return max(len(text.encode("utf-16-le")) // 2, len(text.encode("utf-8")))


def comment(report: Report, *, marker: str | None = None) -> str:
    """The comment, at most 60,000 characters and bytes. `marker` becomes the first line: the caller's own invisible comment."""
    return _fitted(document(report), marker, COMMENT_LIMIT, _COMMENT_ROOMS)


def summary(report: Report) -> str:
    """The job summary, at most 1,000,000 bytes."""
    return _fitted(document(report), None, SUMMARY_LIMIT, _SUMMARY_ROOMS)


def comment_of(documents: Sequence[Document], *, marker: str | None = None, first: str = "", tail: str = "") -> str:
    """One comment with a section a document, the worst first: at most 60,000 characters and bytes, all included.

    `first` is a sentence of ours above all sections, `tail` a line below them. What does not fit goes from all sections alike;
    then whole sections go, the last ones first, and are counted. One report alone looks as `comment` shows it.
    """
    return _fitted_all(documents, marker, COMMENT_LIMIT, _COMMENT_ROOMS, first=first, tail=tail)


def summary_of(document: Document, limit: int = SUMMARY_LIMIT) -> str:
    """One section of the job summary in at most `limit` bytes, as far as its heading and footer go in there."""
    return _fitted(document, None, limit, _SUMMARY_ROOMS)


def _fitted(doc: Document, marker: str | None, limit: int, rooms: tuple[_Room, ...]) -> str:
    return _fitted_all((doc,), marker, limit, rooms)


def _fitted_all(
    docs: Sequence[Document], marker: str | None, limit: int, rooms: tuple[_Room, ...], *, first: str = "", tail: str = ""
) -> str:
    head = (f"{marker}\n" if marker is not None else "") + (f"> **{prose(first)}**\n\n" if first else "")
    below = f"\n{tail}\n" if tail else ""
    smallest = [(rooms[-1], GOES_FIRST[:count]) for count in range(1, len(GOES_FIRST) + 1)]
    for room, gone in [*((room, ()) for room in rooms), *smallest]:
        text = head + "\n".join(_page(doc, room, gone) for doc in docs) + below
        if size(text) <= limit:
            return text
    least = [_page(doc, rooms[-1], GOES_FIRST) for doc in docs]
    while len(least) > 1 and size(text) > limit:
        least.pop()
        more = f"\n<sub>{len(docs) - len(least):,} more cards are left out for size; the job summary has all.</sub>\n"
        text = head + "\n".join(least) + more + below
    return text


def _page(doc: Document, room: _Room, gone: tuple[str, ...]) -> str:
    kept = [section for section in doc.sections if section.name not in gone]
    left_out = [NAMES[section.name] for section in doc.sections if section.name in gone]
    parts = [_heading(doc)]
    parts += [block for section in kept for block in _section(section, room)]
    if left_out:
        parts.append(f"<sub>Left out for size, see the artifact: {', '.join(left_out)}.</sub>")
    parts.append(_footer(doc, room))
    return "\n\n".join(parts) + "\n"


def _heading(doc: Document) -> str:
    name = prose(doc.name) if _PLAIN_NAME.fullmatch(doc.name) else cell(doc.name, 80)
    titles = "".join(f"{prose(title)} · " for title in doc.titles)
    return f"## {titles}{MARKS[doc.mark]} {name}: {_inline(doc.heading, _HEADING)}"


def _section(section: Section, room: _Room) -> Iterator[str]:
    for block in section.blocks:
        yield _block(block, room)


def _block(block: Block, room: _Room) -> str:
    match block:
        case Paragraph():
            lead = f"**{prose(block.lead)}** " if block.lead else ""
            return lead + _inline(block.text, room)
        case Bullets():
            return _bullets(block, room)
        case Table():
            return _table(block, room)
        case Listing():
            return fence("\n".join(block.lines[: room.rows * 8]), "diff").rstrip("\n")
        case Fold():
            return _fold(block, room)


def _bullets(block: Bullets, room: _Room) -> str:
    lines = [f"- {_inline(line, room)}" for line in block.lines[: room.lines]]
    if len(block.lines) > room.lines:
        lines.append(f"- {_more(len(block.lines) - room.lines)}")
    return "\n".join(["> [!NOTE]", *(f"> {line}" for line in lines)] if block.callout else lines)


def _table(table: Table, room: _Room) -> str:
    rows = [tuple(map(prose, table.head)), ("---",) * len(table.head)]
    rows += [tuple("".join(map(_fragment, text)) for text in row) for row in table.rows[: room.rows]]
    below = []
    if len(table.rows) > room.rows:
        below.append(_more(len(table.rows) - room.rows) + ".")
    if table.legend:
        below.append("One mark a draw: " + " · ".join(f"{STRIP[letter]} {STRIP_WORDS[letter]}" for letter in table.legend))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "".join(f"\n\n<sub>{line}</sub>" for line in below)


def _more(number: int) -> str:
    return f"{number:,} more in the artifact"


def _fold(fold: Fold, room: _Room) -> str:
    detail = f": {prose(fold.detail)}" if fold.detail else ""
    inside = "\n\n".join(_block(block, room) for block in fold.blocks)
    return f"<details><summary><b>{prose(fold.title)}</b>{detail}</summary>\n\n{inside}\n\n</details>"


def _footer(doc: Document, room: _Room) -> str:
    parts = " · ".join(_inline(part, room) for part in doc.footer)
    return f"<sub>{parts}<br>{prose(doc.last_words)}</sub>"


def _inline(text: Text, room: _Room) -> str:
    """One line of Markdown; fragments beyond the room are left away and the line ends with an ellipsis."""
    parts: list[str] = []
    left = room.text
    for part in _encoded(text):
        left -= len(part.encode("utf-8"))
        if left < 0 and parts:
            return "".join([*parts, " …"])
        parts.append(part)
    return "".join(parts)


def _encoded(text: Text) -> Iterator[str]:
    match text:
        case (Quoted(sentence),) if " " in sentence:
            yield words(sentence, _LONGEST_SENTENCE)
        case _:
            yield from map(_fragment, text)


def _fragment(fragment: Fragment) -> str:
    match fragment:
        case str():
            return re.sub(r" (?=◀)|(?<=\d) (?=%)", "\u00a0", prose(fragment))
        case Quoted():
            return cell(fragment.text, 80)
        case Draws():
            return _strip(fragment.strip)
        case Link():
            return f"[{prose(fragment.text)}]({fragment.url})"


def _strip(strip: Strip) -> str:
    if len(strip) <= _LONGEST_STRIP:
        return "".join(STRIP[letter] for letter in strip)
    return " ".join(f"{mark}×{strip.count(letter)}" for letter, mark in STRIP.items() if letter in strip)
