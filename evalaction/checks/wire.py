"""What travels between parent and worker: length-prefixed JSON, contracts by number, jobs that name them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.numbers import Threshold
from evalaction.method.reading.strict_json import loads
from evalaction.method.records import Check, Item

PREFIX = 4
SPENT = 75
"""Exit code of a worker that answered and asks to be replaced: it ran out of memory once."""


class Garbled(ValueError):
    """Bytes that are no message: nothing that follows them can be trusted."""


class Answer(NamedTuple):
    """One judged output, as the worker sends it."""

    contract_reason: str | None
    passed: bool | None
    check_reason: str | None
    text_sha256: str | None
    parsed_sha256: str | None


class Job(NamedTuple):
    contract: int
    output: str
    finish_reason: str | None
    trace: str | None = None
    """JSON text of what the endpoint tells of its work, for a check that judges it."""


def frame(message: Any) -> bytes:
    """ASCII JSON behind its length in four bytes; lone surrogates travel as escapes."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return len(body).to_bytes(PREFIX, "big") + body


class Inbox:
    """Collects bytes and gives back whole messages; one over `limit` bytes is refused unread. Raises Garbled, Oversized."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()

    def add(self, data: bytes) -> Iterator[Any]:
        self._bytes += data
        while len(self._bytes) >= PREFIX:
            length = int.from_bytes(self._bytes[:PREFIX], "big")
            if length > self._limit:
                raise Oversized(f"{length} bytes")
            if len(self._bytes) < PREFIX + length:
                return
            body = bytes(self._bytes[PREFIX : PREFIX + length])
            del self._bytes[: PREFIX + length]
            try:
                yield json.loads(body)
            except (ValueError, RecursionError) as error:
                raise Garbled(str(error)) from error


class Oversized(ValueError):
    """A message longer than the worker may send."""


def schema_text(schema: Json) -> str:
    """The key under which equal schemas are one."""
    return canonical.dumps(schema)


def contract_text(item: Item, schema: int | None) -> str:
    """An item's contract and check with its schema by number."""
    check = item.check
    tolerance = check.tolerance.text if check.tolerance else None
    return canonical.dumps([item.extract, schema, check.kind, check.expected, tolerance, check.pointer, check.source])


def read_contract(text: str) -> tuple[Any, int | None, Check]:
    """Extraction, number of the schema and check of `contract_text`."""
    extract, schema, kind, expected, tolerance, pointer, source = loads(text)  # type: ignore[misc]
    limit = Threshold.of(tolerance) if tolerance is not None else None  # type: ignore[arg-type]
    check = Check(kind=kind, expected=expected, tolerance=limit, pointer=pointer, source=source)  # type: ignore[arg-type]
    return extract, schema, check  # type: ignore[return-value]
