"""The part of an output that the item declares as its form: all of it, the one fenced block, the last number."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from evalaction.method.reading.strict_json import MAX_DIGITS, MAX_EXPONENT

# CommonMark: up to three spaces, three or more of one character; the info string after backticks has no backtick.
_FENCE = re.compile(r"^( {0,3})(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)$", re.MULTILINE)
_CLOSED_BY = {"`": re.compile(r"^`{3,}[ \t\r]*$"), "~": re.compile(r"^~{3,}[ \t\r]*$")}
_MINUS = "\N{MINUS SIGN}"
_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|(?<!\.)\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# No part of a word or of a longer number (ASCII letters only: some scripts put no space before a number).
_LAST_NUMBER = re.compile(rf"(?<![A-Za-z0-9_])(?<![0-9]\.)(?:(?<![)\]])[+{_MINUS}-])?{_DIGITS}")
_ONE_NUMBER = re.compile(rf"[+{_MINUS}-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")


class NoForm(ValueError):
    """The output does not have the declared form: `reason` is the code, `detail` a few words."""

    def __init__(self, reason: str, detail: str, *, at_end: bool = False) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.at_end = at_end
        """The text broke off where the form wanted more."""


@dataclass(slots=True)
class _Open:
    indent: int
    fence: str
    start: int


def fenced(text: str) -> str:
    """The content of the only fenced code block, without its last newline. Raises NoForm."""
    blocks: list[str] = []
    current: _Open | None = None
    for line in _FENCE.finditer(text):
        if current is None:
            current = _Open(len(line[1]), line[2], line.end() + 1)
        elif len(line[2]) >= len(current.fence) and _CLOSED_BY[current.fence[0]].match(line[2] + line[3]):
            blocks.append(_unindented(text[current.start : max(current.start, line.start() - 1)], current.indent))
            current = None
    if current is not None and not blocks:
        raise NoForm("no_block", "the code fence is not closed", at_end=True)
    if not blocks:
        raise NoForm("no_block", "there is no fenced block")
    if len(blocks) > 1 or current is not None:
        raise NoForm("many_blocks", f"there are {len(blocks) + (current is not None)} fenced blocks, not one")
    return blocks[0].removesuffix("\r")


def last_number(text: str) -> str:
    """The last number in a text, as ASCII without thousands separators. Raises NoForm.

    A sign counts unless a word, a digit or a closing bracket stands before it: "10-4" ends in 4, "it is -4" in -4.
    """
    found = deque(_LAST_NUMBER.finditer(text), maxlen=1)
    if not found:
        raise NoForm("no_number", "there is no number in the text")
    return found[0][0].replace(",", "").replace(_MINUS, "-")


def one_number(text: str) -> str | None:
    """A text that is one number and nothing else, in ASCII; None otherwise, also over 1,000 characters or beyond 10^±400.

    The bound keeps every later step cheap: int(Decimal("1e9999999")) alone takes minutes.
    """
    if len(text) > MAX_DIGITS:
        return None
    found = _ONE_NUMBER.fullmatch(text)
    if found is None or (found[1] and abs(int(found[1])) > MAX_EXPONENT):
        return None
    return text.replace(_MINUS, "-")


def _unindented(block: str, indent: int) -> str:
    return re.sub(rf"^ {{1,{indent}}}", "", block, flags=re.MULTILINE) if indent else block
