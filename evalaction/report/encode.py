"""Encoders for text we did not write, one per medium. Each cuts first and encodes last, so that no escape is ever split.

`cell` Markdown table cell or inline · `fence` Markdown block · `log` one line of a CI log · `term` terminal · `csv_cell`
spreadsheet · `xml` and `html` element or attribute. `prose` is for our own sentences in Markdown.

A character entity stops Markdown, not the mentions, issue links and address links that GitHub and mail readers make from the
rendered text; those are broken by a zero-width space, and on the page also by `<code>`.
"""

from __future__ import annotations

import json
import re
import unicodedata

LIMIT = 120
"""Characters of untrusted text in one place of a report; the artifact holds all of it."""

BREAK = "\u200b"
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_ACTIVE = {ord(char): f"&#{ord(char)};" for char in "&<>\"'|`*_~[]()\\!#@$:{}"}
_OWN_ACTIVE = {ord(char): f"&#{ord(char)};" for char in "&<>|`*_~[]\\#@$"}
_LIST_START = re.compile(r"\A( ?)(\d{1,9}(?=[.)](?:\s|\Z))|(?=[-+=](?:[-+=\s]|\Z)))(.)")
_SPACES = re.compile("[ \t\r\n]+")
_OWN_CODE = re.compile("`([^`]+)`")
_REFERENCE = re.compile(r"([@#]|\bGH-)(?=\w)", re.IGNORECASE)
_ADDRESS = re.compile(r"\b(https?|ftp|mailto|xmpp)(?=:)|\bwww(?=\.)", re.IGNORECASE)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def visible(text: str, keep: str = "") -> str:
    """Control, format, private and half characters and line separators become U+FFFD, except those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in keep or unicodedata.category(char) not in _UNSEEN else "\ufffd" for char in text)


def cut(text: str, limit: int | None) -> str:
    """At most `limit` characters, the last one an ellipsis if anything was cut."""
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str, limit: int | None = LIMIT) -> str:
    """Visible characters on one line; line ends are shown as ⏎."""
    if limit is not None:
        text = text[: 2 * limit + 2]  # enough for the cut below, whatever the line ends are
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n"), keep="\n\t")
    return cut(text, limit).replace("\n", " ⏎ ").replace("\t", " ").strip()


def _unlinked(text: str) -> str:
    return _ADDRESS.sub(lambda match: match[0] + BREAK, _REFERENCE.sub(rf"\1{BREAK}", text))


def words(text: str, limit: int | None = LIMIT) -> str:
    """Inline Markdown that shows the text as plain words, for whole sentences we did not write. Not for ids: see `cell`."""
    return _unlinked(one_line(text, limit)).translate(_ACTIVE) or "–"


def cell(text: str, limit: int | None = LIMIT) -> str:
    """Inline Markdown that shows the text as code and cannot end a table row, open a block, link, mention or format."""
    line = _unlinked(one_line(text, limit)).translate(_ACTIVE)
    return f"<code>{line}</code>" if line else "–"


def fence(text: str, info: str = "", limit: int | None = None) -> str:
    """A fenced Markdown block, its fence longer than any run of backticks inside."""
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n"), keep="\n\t")
    text = _REFERENCE.sub(rf"\1{BREAK}", cut(text, limit))
    ticks = "`" * (max([2, *map(len, re.findall("`+", text))]) + 1)
    return f"{ticks}{info}\n{text}\n{ticks}\n"


def prose(text: str) -> str:
    """Our own words in Markdown: plain text stays plain text, wherever it stands in a line; `a name` in backticks is code."""
    parts = _OWN_CODE.split(visible(_SPACES.sub(" ", text)))  # every second part stood in backticks
    encoded = [part.translate(_OWN_ACTIVE) for part in parts]
    encoded[1::2] = [f"<code>{part}</code>" for part in encoded[1::2]]
    encoded[0] = _LIST_START.sub(lambda match: f"{match[1]}{match[2]}&#{ord(match[3])};", encoded[0])
    return "".join(encoded)


def log(text: str) -> str:
    """A JSON string on one line of ASCII that a CI runner cannot take for a command; `json.loads` gives the text back."""
    return json.dumps(text, ensure_ascii=True).replace("::", ":\\u003a").replace("##[", "#\\u0023[")


def term(text: str, limit: int | None = LIMIT) -> str:
    """One line for a terminal: no escape sequence (ESC, C1, OSC), no bidirectional override, no bell survives.

    A terminal may be a CI log, and a long line is wrapped: `::` and `##[` are broken by a zero-width space.
    """
    line = one_line(text, limit).replace("::", f":{BREAK}:").replace("##[", f"##{BREAK}[")
    return line.replace("::", f":{BREAK}:") or "–"


def csv_cell(text: str) -> str:
    """A cell that a spreadsheet does not take for a formula. Not for ids: `rows.csv` keeps them as they are."""
    text = visible(text, keep="\n\t")
    return f"'{text}" if text.startswith(_FORMULA) else text


def xml(text: str) -> str:
    """Character data or attribute value for XML 1.0; what XML forbids becomes U+FFFD."""
    text = _NOT_XML.sub("\ufffd", text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(char, entity)
    return text.replace("\r", "&#13;").replace("\n", "&#10;").replace("\t", "&#9;")


def html(text: str) -> str:
    """Element content or quoted attribute value for HTML."""
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n"), keep="\n\t")
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;"), ("`", "&#96;")):
        text = text.replace(char, entity)
    return text
