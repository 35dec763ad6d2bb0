"""Set text fields of one mapping of a card in place: every other character of the file stays.

The places come from the strict reader of cards. A field that is there gets a new value; a missing one is added behind the last
field, in the style the mapping has: block, flow or JSON.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalaction.errors import UsageError
from evalaction.method.reading.source import Document, Spot

_BREAK = re.compile(r"\r\n|[\n\r]")
_COMMA = re.compile(r"""(\s*,\s*)(["']?)""")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str

    def apply(self, to: str) -> str:
        return to[: self.start] + self.text + to[self.end :]


def edit(document: Document, mapping: str, name: str, value: str) -> Edit | None:
    """What sets `mapping.name` to the quoted text `value` (which needs no escapes); None where it is written so already.

    Raises UsageError where the mapping has no fields, or the old value does not stand on one line.
    """
    old = document.spots.get((mapping, name))
    if old:
        return _replace(document.text, old, f"{mapping}.{name}", value)
    inside = (spot for path, spot in document.spots.items() if len(path) == 2 and path[0] == mapping)
    fields = sorted(inside, key=lambda spot: spot.end)
    if not fields:
        raise UsageError(f"{document.file} has no `{mapping}` with fields in it.", code="layout")
    if document.text.startswith("{", document.spots[(mapping,)].start):
        return _insert_in_flow(document.text, fields, name, value)
    return _insert_line(document.text, document.spots[(mapping,)], fields[-1], f'{name}: "{value}"')


def _replace(text: str, old: Spot, field: str, value: str) -> Edit | None:
    written = text[old.start : old.end]
    if old.raw is None or _BREAK.search(written) or written.startswith(("|", ">")):
        raise UsageError(f"{field} is not a value on one line; delete it and run `evalaction lock` again.", code="layout")
    if old.quoted:
        quote = written[0]
        return None if written == f"{quote}{value}{quote}" else Edit(old.start, old.end, f"{quote}{value}{quote}")
    if written:
        return Edit(old.start, old.end, f'"{value}"')
    colon = "" if text.endswith(":", 0, old.start) else ":"  # `{tasks: t, sha256}` is a field without a value too
    return Edit(old.start, old.end, f'{colon} "{value}"')


def _insert_line(text: str, mapping: Spot, last: Spot, line: str) -> Edit:
    indented = " " * (mapping.column - 1) + line
    # A block scalar ends behind its own line, every other value before the comment that may follow it.
    if ended := next((end for end in ("\r\n", "\n", "\r") if text.endswith(end, 0, last.end)), None):
        return Edit(last.end, last.end, indented + ended)
    if behind := _BREAK.search(text, last.end):
        return Edit(behind.end(), behind.end(), indented + behind.group())
    first = _BREAK.search(text)
    return Edit(len(text), len(text), (first.group() if first else "\n") + indented)


def _insert_in_flow(text: str, fields: list[Spot], name: str, value: str) -> Edit:
    comma, quote = ", ", '"' if text.lstrip().startswith("{") else ""
    if len(fields) > 1 and (found := _COMMA.match(text, fields[-2].end)):
        comma, quote = found.groups()
    at = fields[-1].end
    return Edit(at, at, f'{comma}{quote}{name}{quote}: "{value}"')
