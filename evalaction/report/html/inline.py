"""Fragments of text as HTML: our own words plain, everything else as isolated, visible, inert text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalaction.method.records import Quoted
from evalaction.report.blocks import Draws, Fragment, Link, Text
from evalaction.report.encode import one_line
from evalaction.report.markdown import STRIP_WORDS

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST_NAME = 200
LONGEST_SENTENCE = 2_000
LONGEST_LINE = 4_000
_LONGEST_STRIP = 40
_OWN_CODE = re.compile("`([^`]+)`")
_FLAG = re.compile(r" ([✗?] .+)\Z")


def line(text: Text) -> Markup:
    """One line of a report; a whole sentence that we did not write stays a sentence. What is too long ends with an ellipsis."""
    from markupsafe import Markup

    match text:
        case (Quoted(sentence),) if " " in sentence:
            return Markup("<bdi>{}</bdi>").format(one_line(sentence, LONGEST_SENTENCE) or "–")
    parts: list[Markup] = []
    left = LONGEST_LINE
    for fragment in text:
        part = _fragment(fragment)
        left -= len(part)
        if left < 0 and parts:
            return Markup("").join([*parts, " …"])
        parts.append(part)
    return Markup("").join(parts)


def cell(text: Text) -> Markup:
    """The same in a table, where what broke a limit and the column that moved stand out."""
    from markupsafe import Markup

    match text:
        case (str(words),):
            flag = _FLAG.search(words)
            shown = _own((words[: flag.start()] if flag else words).replace(" %", "\u00a0%"))
            moved = shown.replace(" ◀", Markup(' <strong class="moved" title="the column that moved">◀</strong>'))
            return moved + (Markup(' <strong class="flag">{}</strong>').format(flag[1]) if flag else Markup(""))
    return line(text)


def strip(letters: str) -> Markup:
    """One mark a draw, in shapes as well as colours; the counts of the marks where there are many."""
    from markupsafe import Markup

    words = {letter: STRIP_WORDS.get(letter, "not drawn") for letter in "pkcue."}
    if len(letters) > _LONGEST_STRIP:
        counted = (
            Markup('<span class="count"><i class="m m-{}"></i>{} {}</span>').format(letter, letters.count(letter), words[letter])
            for letter in STRIP_WORDS
            if letter in letters
        )
        return Markup(" ").join(counted)
    marks = Markup("").join(Markup('<i class="m m-{}"></i>').format(letter) for letter in letters)
    said = ", ".join(words[letter] for letter in letters)
    return Markup('<span class="strip" role="img" aria-label="{}">{}</span>').format(said, marks)


def _fragment(fragment: Fragment) -> Markup:
    from markupsafe import Markup

    match fragment:
        case str():
            return _own(fragment)
        case Quoted():
            return Markup("<code><bdi>{}</bdi></code>").format(one_line(fragment.text, LONGEST_NAME) or "–")
        case Draws():
            return strip(fragment.strip)
        case Link():
            return Markup('<a href="{}" rel="noreferrer noopener">{}</a>').format(fragment.url, fragment.text)


def _own(text: str) -> Markup:
    """Our own words; `a name` in backticks is code."""
    from markupsafe import Markup, escape

    parts = map(escape, _OWN_CODE.split(text))
    return Markup("").join(Markup("<code>{}</code>").format(part) if number % 2 else part for number, part in enumerate(parts))
