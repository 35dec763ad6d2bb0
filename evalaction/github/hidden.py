"""What an earlier run left in our own comment: its answers, as one line of base64 that no reader sees.

Only ever read from a comment of our own. Anything odd about it makes it absent, with a sentence that says so: then there is a
draw too many, never an answer that nobody earned. It is not encrypted and holds nothing that the comment does not show.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal, TypeAlias, get_args

from evalaction.method.canonical import Json, encode, sha256

Drawn: TypeAlias = Literal["pass", "fail", "inconclusive", "unreachable"]

LIMIT = 20_000
"""Characters of the line. The section above it is rendered into what is left of the comment's 60,000."""
SHOWN_LIMIT = 9_000
"""Bytes of JSON of one section that can be shown again."""
MAX_RECORDS = 100
MAX_COUNT = 9_999
_FORMAT = "evalaction-hidden/1"
_LINE = re.compile(r"^<!-- evalaction:data ([0-9a-f]{64}) ([A-Za-z0-9+/]+={0,2}) -->\r?$", re.MULTILINE | re.ASCII)
_START = "<!-- evalaction:data"
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?", re.ASCII)
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(:\d{1,5})?(/[A-Za-z0-9_.-]+)+", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_OUTPUT_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)
_OUTPUT_VALUE = re.compile(r"[A-Za-z0-9_.:,/+-]{0,1000}", re.ASCII)
_FIELDS = {"card", "question_digest", "outcome", "attempt", "forced", "sealed", "commit", "day", "run_url", "outputs", "shown"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """The answer to one question, as of its last attempt. Raises ValueError for a field that does not have its form."""

    card: str
    """Path of the card in the repository, 1–300 characters."""
    question_digest: str
    outcome: Drawn
    attempt: int
    """1-based: how often this question was drawn."""
    forced: int = 0
    """How many of these were redraws of a final answer."""
    sealed: bool
    commit: str
    day: str
    """UTC, `2026-01-31`: when it was drawn."""
    run_url: str
    outputs: Mapping[str, str] = field(default_factory=dict)
    """The action's outputs for this card."""
    shown: Json = None
    """The section's parts, from `shown.keep`; None where there was no room for it."""

    def __post_init__(self) -> None:
        if problem := _problem(self):
            raise ValueError(f"not a record of an answer: {problem}")

    @property
    def final(self) -> bool:
        return self.sealed and self.outcome in {"pass", "fail"}


@dataclass(frozen=True, slots=True)
class Memory:
    """All answers of one comment, newest first: at most one for a card and question."""

    records: tuple[Record, ...] = ()

    def of(self, card: str, question_digest: str) -> Record | None:
        """The answer to the question: this card's, else another's that asked the same, a final one first and the worst of them.

        A card that is moved or copied asks nothing new.
        """
        found = [one for one in self.records if one.question_digest == question_digest]
        own = next((one for one in found if one.card == card), None)
        return own or min(found, key=lambda one: (not one.final, one.outcome != "fail"), default=None)

    def with_record(self, record: Record) -> Memory:
        """The memory after a draw. Older questions stay: going back to one must not be a way to ask it again."""
        others = (one for one in self.records if (one.card, one.question_digest) != (record.card, record.question_digest))
        return Memory((record, *others)[:MAX_RECORDS])

    def holds(self, record: Record) -> bool:
        """Whether the record's card has a final answer to this question already."""
        return any(one.final and (one.card, one.question_digest) == (record.card, record.question_digest) for one in self.records)


@dataclass(frozen=True, slots=True)
class Unread:
    """There is no memory; `sentence` says why, `lost` whether there was something that should have been one."""

    sentence: str
    lost: bool


@dataclass(frozen=True, slots=True)
class Hidden:
    """A line for the comment, and what it had no room for."""

    line: str
    forgotten: int = 0
    """Answers left out, oldest first."""


def hide(memory: Memory, key: str, *, limit: int = LIMIT) -> Hidden:
    """The memory as one HTML comment of at most `limit` characters, bound to the comment's key.

    Sections and outputs of older answers go first, then those of newer ones, then whole answers, oldest first.
    """
    records = list(memory.records)
    for number in reversed(range(len(records))):
        if len(_line(records, key)) <= limit:
            break
        records[number] = replace(records[number], shown=None, outputs={})
    while records and len(_line(records, key)) > limit:
        records.pop()
    return Hidden(_line(records, key), forgotten=len(memory.records) - len(records))


def reveal(body: str, key: str) -> Memory | Unread:
    """The memory in the body of our own comment with this key."""
    if _START not in body:
        return Unread("Our earlier comment holds no answers any more.", lost=True)
    lines = _LINE.findall(body)
    if len(lines) != 1 or body.count(_START) != 1:
        return _odd("is not one line of its form")
    seal, text = lines[0]
    if len(text) > LIMIT:
        return _odd("is too long")
    try:
        data = base64.b64decode(text, validate=True)
        if _seal(data, key) != seal:
            return _odd("does not fit its digest")
        return _memory(json.loads(data.decode("utf-8", "surrogatepass"), object_pairs_hook=_once, parse_constant=_refuse))
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error):
        return _odd("does not have its form")


def _line(records: Sequence[Record], key: str) -> str:
    data = encode({"format": _FORMAT, "records": [_to_json(one) for one in records]})
    return f"{_START} {_seal(data, key)} {base64.b64encode(data).decode('ascii')} -->"


def _seal(data: bytes, key: str) -> str:
    return sha256(key.encode() + b"\n" + data)


def _odd(how: str) -> Unread:
    return Unread(f"The answers in our earlier comment cannot be used: what is written there {how}.", lost=True)


def _to_json(record: Record) -> dict[str, Json]:
    values: dict[str, Json] = {name: getattr(record, name) for name in sorted(_FIELDS)}
    return {name: value for name, value in values.items() if value is not None}


def _memory(value: Any) -> Memory:
    if not isinstance(value, dict) or set(value) != {"format", "records"} or value["format"] != _FORMAT:
        raise ValueError("another format")
    entries = value["records"]
    if not isinstance(entries, list) or len(entries) > MAX_RECORDS:
        raise ValueError("not a list of records")
    records = tuple(_record(entry) for entry in entries)
    if len({(one.card, one.question_digest) for one in records}) != len(records):
        raise ValueError("two answers to one question")
    return Memory(records)


def _record(entry: Any) -> Record:
    if not isinstance(entry, dict) or not _FIELDS - {"shown"} <= set(entry) <= _FIELDS:
        raise ValueError("other fields")
    return Record(**entry)


def _problem(record: Record) -> str | None:
    """The name of the first field that does not have its form; types are checked too, since records come from outside."""
    strings = (record.card, record.question_digest, record.outcome, record.commit, record.day, record.run_url)
    if not all(isinstance(text, str) for text in strings):
        return "text"
    checks = {
        "card": 0 < len(record.card) <= 300 and record.card.isprintable(),
        "question_digest": bool(_DIGEST.fullmatch(record.question_digest)),
        "outcome": record.outcome in get_args(Drawn),
        "attempt": type(record.attempt) is int and 1 <= record.attempt <= MAX_COUNT,
        "forced": type(record.forced) is int and 0 <= record.forced <= MAX_COUNT,
        "sealed": type(record.sealed) is bool,
        "commit": bool(_COMMIT.fullmatch(record.commit)),
        "day": bool(_DAY.fullmatch(record.day)) and _is_day(record.day),
        "run_url": len(record.run_url) <= 500 and bool(_URL.fullmatch(record.run_url)),
        "outputs": _are_outputs(record.outputs),
        "shown": record.shown is None or len(encode(record.shown)) <= SHOWN_LIMIT,
    }
    if checks["attempt"] and checks["forced"]:
        checks["forced"] = record.forced < record.attempt
    return next((name for name, fine in checks.items() if not fine), None)


def _are_outputs(outputs: object) -> bool:
    return (
        isinstance(outputs, Mapping)
        and len(outputs) <= 30
        and all(isinstance(name, str) and _OUTPUT_NAME.fullmatch(name) for name in outputs)
        and all(isinstance(value, str) and _OUTPUT_VALUE.fullmatch(value) for value in outputs.values())
    )


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key twice")
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
