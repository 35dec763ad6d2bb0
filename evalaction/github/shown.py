"""The parts of a card's section that are kept, so that an answer can be shown again: data, never Markdown.

What comes back is a document for the same renderers and encoders as any other; long lists and folds are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalaction.github.hidden import SHOWN_LIMIT
from evalaction.method.canonical import Json, encode
from evalaction.method.records import Quoted, Sentence
from evalaction.report.blocks import Block, Bullets, Document, Draws, Fragment, Link, Paragraph, Section, Table, Text

_KEPT = ("breaks", "todo", "callouts", "changed", "columns", "draws", "halves")
_GOES_FIRST = ("callouts", "changed", "halves", "draws", "todo", "columns", "breaks")
_STRIP_LETTERS = set("pkcue")
_MARKS = {"pass", "fail", "inconclusive", "unreachable", "refused", "stopped", "neutral"}
_MOST_LINES = 25


def keep(document: Document, *, limit: int = SHOWN_LIMIT) -> Json:
    """The heading and, as far as `limit` bytes of JSON hold them, the sections above the folds; None if it alone is too long."""
    names = [name for name in _KEPT if any(section.name == name for section in document.sections)]
    for gone in ("", *_GOES_FIRST):
        names = [name for name in names if name != gone]
        value = _document(document, names)
        if len(encode(value)) <= limit:
            return value
    return None


def keep_lines(lines: Sequence[Sentence]) -> list[Json]:
    """Sentences as data, for another job to say."""
    return [_text(line) for line in lines]


def restore_lines(value: Json) -> tuple[Sentence, ...]:
    """What `keep_lines` kept; nothing for anything else."""
    try:
        lines = [_restored_text(line) for line in _list(value)]
    except (ValueError, TypeError, KeyError):
        return ()
    return tuple(tuple(part for part in line if isinstance(part, str | Quoted)) for line in lines)


def restore(value: Json) -> Document | None:
    """The document in a record's `shown`; None for anything that is not one."""
    try:
        return _restored(value)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return None


def _document(document: Document, names: list[str]) -> dict[str, Json]:
    sections: list[Json] = []
    for section in document.sections:
        blocks = [one for block in section.blocks if (one := _block(block)) is not None]
        if section.name in names and blocks:
            sections.append([section.name, blocks])
    return {
        "titles": list(document.titles),
        "mark": document.mark,
        "name": document.name,
        "heading": _text(document.heading),
        "sections": sections,
        "footer": [_text(text) for text in document.footer],
        "last": document.last_words,
    }


def _block(block: Block) -> Json:
    match block:
        case Paragraph():
            return {"p": _text(block.text), "lead": block.lead}
        case Bullets():
            lines = [_text(line) for line in block.lines[:_MOST_LINES]]
            if len(block.lines) > _MOST_LINES:
                lines.append([f"{len(block.lines) - _MOST_LINES:,} more in the artifact"])
            return {"b": lines, "callout": block.callout}
        case Table():
            return {
                "t": list(block.head),
                "rows": [[_text(cell) for cell in row] for row in block.rows],
                "legend": list(block.legend),
            }
        case _:
            return None


def _text(text: Text) -> Json:
    return [_fragment(fragment) for fragment in text]


def _fragment(fragment: Fragment) -> Json:
    match fragment:
        case str():
            return fragment
        case Quoted():
            return {"q": fragment.text}
        case Draws():
            return {"d": fragment.strip}
        case Link():
            return fragment.text  # the record has the only address we vouch for


def _restored(value: Any) -> Document:
    if set(value) != {"titles", "mark", "name", "heading", "sections", "footer", "last"} or value["mark"] not in _MARKS:
        raise ValueError("not a document")
    return Document(
        titles=tuple(map(_word, _list(value["titles"]))),
        mark=_word(value["mark"]),
        name=_word(value["name"]),
        heading=_restored_text(value["heading"]),
        sections=tuple(_restored_section(section) for section in _list(value["sections"])),
        footer=tuple(map(_restored_text, _list(value["footer"]))),
        last_words=_word(value["last"]),
    )


def _restored_section(value: Any) -> Section:
    name, blocks = _list(value)
    if name not in _KEPT:
        raise ValueError("not a section")
    return Section(name, tuple(map(_restored_block, _list(blocks))))


def _restored_block(value: Any) -> Block:
    if set(value) == {"p", "lead"}:
        lead = value["lead"]
        return Paragraph(_restored_text(value["p"]), None if lead is None else _word(lead))
    if set(value) == {"b", "callout"}:
        return Bullets(tuple(map(_restored_text, _list(value["b"]))), value["callout"] is True)
    if set(value) != {"t", "rows", "legend"}:
        raise ValueError("not a block")
    head = tuple(map(_word, _list(value["t"])))
    rows = tuple(tuple(map(_restored_text, _list(row))) for row in _list(value["rows"]))
    legend = tuple(map(_word, _list(value["legend"])))
    if any(len(row) != len(head) for row in rows) or not set(legend) <= _STRIP_LETTERS:
        raise ValueError("not a table")
    return Table(head, rows, legend)


def _restored_text(value: Any) -> Text:
    return tuple(map(_restored_fragment, _list(value)))


def _restored_fragment(value: Any) -> Fragment:
    if isinstance(value, str):
        return value
    if set(value) == {"q"}:
        return Quoted(_word(value["q"]))
    if set(value) == {"d"} and set(value["d"]) <= _STRIP_LETTERS:
        return Draws(_word(value["d"]))
    raise ValueError("not a fragment")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value
