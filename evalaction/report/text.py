"""The report for a terminal: the same blocks as the comment, in plain monospaced text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from evalaction.method.records import Quoted
from evalaction.method.report import Report
from evalaction.report.blocks import Block, Bullets, Document, Draws, Fold, Fragment, Link, Listing, Paragraph, Table, Text
from evalaction.report.encode import term
from evalaction.report.layout import document

_MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "unreachable": "⊘", "refused": "■", "stopped": "–", "neutral": "○"}
_STRIP = {"p": "✓", "k": "✗", "c": "△", "u": "⊘", "e": "!"}
_STRIP_WORDS = {"p": "pass", "k": "check", "c": "contract", "u": "unreached", "e": "checker error"}
_ASCII = {
    "✓": "+", "✗": "x", "△": "c", "⊘": "u", "■": "#", "○": "o", "◀": "<", "∣": "|", "·": "|", "–": "-", "−": "-", "×": "x",
    "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "⏎": "\\n", "→": "->", "≥": ">=", "≤": "<=", "±": "+/-",
    "\u00a0": " ", "\u200b": " ", "\ufffd": "?",
}  # fmt: skip
_LONGEST_NAME = 80
_LONGEST_SENTENCE = 600
_COLOURS = {
    "pass": "32",
    "fail": "31",
    "inconclusive": "33",
    "unreachable": "35",
    "refused": "31",
    "stopped": "33",
    "neutral": "36",
}
_STRIP_COLOURS = {"p": "32", "k": "31", "c": "33", "u": "35", "e": "35"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Style:
    encoding: str
    colour: bool
    rows: int
    width: int

    def plain(self, text: str) -> str:
        """The text in characters that the terminal's encoding has."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return "".join(map(self._char, text))
        return text

    def _char(self, char: str) -> str:
        try:
            char.encode(self.encoding)
        except UnicodeEncodeError:
            return _ASCII.get(char) or char.encode("ascii", "backslashreplace").decode("ascii")
        return char

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def render_text(report: Report, *, encoding: str = "utf-8", colour: bool = False, rows: int = 20, width: int = 100) -> str:
    """The report as lines of text.

    `encoding` is the terminal's; what it cannot print is replaced by ASCII. `rows` is how much of a list is shown.
    """
    style = _Style(encoding=encoding, colour=colour, rows=rows, width=width)
    doc = document(report)
    parts = [_heading(doc, style)]
    parts += [_block(block, style) for section in doc.sections for block in section.blocks]
    parts.append(_footer(doc, style))
    return "\n\n".join(parts) + "\n"


def _heading(doc: Document, style: _Style) -> str:
    titles = "".join(f"{title} · " for title in doc.titles)
    line = f"{titles}{_MARKS[doc.mark]} {term(doc.name, _LONGEST_NAME)}: {_line(doc.heading, style, colour=False)}"
    return style.paint(style.plain(line), f"1;{_COLOURS[doc.mark]}")


def _block(block: Block, style: _Style) -> str:
    match block:
        case Paragraph():
            lead = f"{block.lead} " if block.lead else ""
            return _wrapped(lead + _line(block.text, style), style)
        case Bullets():
            lines = [_line(line, style) for line in block.lines[: style.rows]]
            if len(block.lines) > style.rows:
                lines.append(_more(len(block.lines) - style.rows))
            return "\n".join(_wrapped(line, style, "! " if block.callout else "- ") for line in lines)
        case Table():
            return _table(block, style)
        case Listing():
            lines = [style.plain(term(line, style.width - 2)) for line in block.lines[: style.rows]]
            more = [_more(len(block.lines) - style.rows)] if len(block.lines) > style.rows else []
            return "\n".join([*(f"  {line}" for line in lines), *more])
        case Fold():
            title = style.paint(style.plain(block.title), "1") + style.plain(f": {block.detail}" if block.detail else "")
            return "\n\n".join([title, *(_block(inner, style) for inner in block.blocks)])


def _table(table: Table, style: _Style) -> str:
    from tabulate import tabulate  # takes 43 ms, and most commands print no table

    rows = [[_line(text, style) for text in row] for row in table.rows[: style.rows]]
    head = [style.plain(text) for text in table.head]
    lines = [tabulate(rows, headers=head, tablefmt="simple", disable_numparse=True)]
    if len(table.rows) > style.rows:
        lines.append(_more(len(table.rows) - style.rows))
    if table.legend:
        marks = (f"{style.plain(_STRIP[letter])} {_STRIP_WORDS[letter]}" for letter in table.legend)
        lines.append(f"One mark a draw: {', '.join(marks)}")
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines())


def _more(number: int) -> str:
    return f"({number:,} more in results.json)"


def _footer(doc: Document, style: _Style) -> str:
    parts = [_line(part, style, colour=False) for part in doc.footer]
    return "\n".join([_wrapped(style.plain(" · ").join(parts), style), _wrapped(style.plain(doc.last_words), style)])


def _wrapped(text: str, style: _Style, bullet: str = "") -> str:
    return textwrap.fill(
        text,
        width=style.width,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _line(text: Text, style: _Style, *, colour: bool = True) -> str:
    match text:
        case (Quoted(sentence),):
            return style.plain(term(sentence, _LONGEST_SENTENCE if " " in sentence else _LONGEST_NAME))
    return "".join(_encoded(fragment, style, colour) for fragment in text)


def _encoded(fragment: Fragment, style: _Style, colour: bool) -> str:
    match fragment:
        case str():
            return style.plain(fragment)
        case Quoted():
            return style.plain(term(fragment.text, _LONGEST_NAME))
        case Draws():
            return "".join(_marks(fragment.strip, style, colour))
        case Link():
            return style.plain(f"{fragment.text}: {fragment.url}")


def _marks(strip: str, style: _Style, colour: bool) -> Iterator[str]:
    if len(strip) > 40:
        yield " ".join(f"{style.plain(mark)} {strip.count(letter)}" for letter, mark in _STRIP.items() if letter in strip)
        return
    for letter in strip:
        mark = style.plain(_STRIP[letter])
        yield style.paint(mark, _STRIP_COLOURS[letter]) if colour else mark
