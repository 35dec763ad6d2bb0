"""Before any call: every schema, pattern and check of the exam is tried, in a worker that a hostile exam cannot outlive."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalaction.checks.kinds import BadCheck, is_program, prepare
from evalaction.checks.process import Child
from evalaction.checks.wire import Garbled, Inbox, Oversized, frame, schema_text
from evalaction.errors import EvalactionError, SourceError
from evalaction.method.card import CheckLimits
from evalaction.method.records import Item, Quoted, Sentence

# ("schema", its canonical text) or ("pattern", the pattern)
Piece = tuple[str, str]

BATCH = 32
ANSWER_BYTES = 4 * 2**20


def validate_items(
    items: Sequence[Item], limits: CheckLimits | None = None, files: Mapping[str, bytes] | None = None
) -> tuple[Sentence, ...]:
    """Warnings about schemas, patterns and checks. Raises SourceError, naming file and line, for the first that cannot be used.

    Refused: a schema that is not JSON Schema, a `$ref` that leads nowhere, out of the schema or round in a circle, a pattern
    that does not compile, a value that its kind cannot use, and whatever takes longer to try than the card's check limits.
    Equal schemas and patterns are tried once. Programs, whose bytes are `files`, are read and not run.
    """
    limits = limits or CheckLimits()
    users: dict[Piece, list[Item]] = {}
    warnings: list[Sentence] = []
    for item in items:
        warnings += _look_at_program(item, files or {}, limits) if is_program(item) else _look(item)
        for piece in _pieces(item):
            users.setdefault(piece, []).append(item)
    with _Inspector(limits, schemas=any(kind == "schema" for kind, _ in users)) as inspector:
        for batch in _batches(users):
            for piece, found in zip(batch, inspector.try_out(batch), strict=True):
                first, *others = users[piece]
                if isinstance(found, str):
                    raise SourceError(found, file=first.file, line=first.line, code=f"bad_{piece[0]}")
                warnings += [_warning(first, len(others), what, words) for what, words in found]
    return tuple(warnings)


def _look_at_program(item: Item, files: Mapping[str, bytes], limits: CheckLimits) -> Iterable[Sentence]:
    from evalaction.checks.carried.look import look_at_program  # most exams have none

    return look_at_program(item, files, limits)


def _pieces(item: Item) -> Iterator[Piece]:
    if item.schema is not None:
        yield "schema", schema_text(item.schema)
    if item.check.kind == "regex" and isinstance(item.check.expected, str):
        yield "pattern", item.check.expected


def _look(item: Item) -> Iterator[Sentence]:
    """Tries the check itself, which cannot hang unless it is a pattern."""
    check = item.check
    try:
        if check.kind != "regex" or not isinstance(check.expected, str):
            prepare(check)
    except BadCheck as error:
        raise SourceError(str(error), file=item.file, line=item.line, code="bad_check") from error
    if check.kind == "contains" and not check.expected:
        yield "Item ", Quoted(item.id), ": the check contains an empty text, so it accepts every output."
    if check.kind == "exact" and item.extract == "json":
        yield "Item ", Quoted(item.id), ": exact compares the JSON text, quotes and spaces included; kind json compares values."


def _warning(first: Item, others: int, what: str, words: str) -> Sentence:
    more = f" and {others} more" if others else ""
    return "Item ", Quoted(first.id), f"{more}: ", Quoted(what), words


class _Inspector:
    """A worker that is asked and waited for; a new one is started when it had to be killed."""

    def __init__(self, limits: CheckLimits, *, schemas: bool) -> None:
        self._limits = limits
        self._schemas = schemas
        self._child: Child | None = None
        self._inbox = Inbox(ANSWER_BYTES)

    def __enter__(self) -> _Inspector:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def try_out(self, pieces: Sequence[Piece]) -> list[Any]:
        """For each piece its warnings, or the sentence that refuses it."""
        found = self._ask(pieces)
        if found is not None:
            return found
        if len(pieces) == 1:
            return [f"Trying the {pieces[0][0]} takes more time or memory than a check may use; write it simpler."]
        return [self.try_out([piece])[0] for piece in pieces]

    def _ask(self, pieces: Sequence[Piece]) -> list[Any] | None:
        """None: the worker did not survive the question."""
        try:
            child = self._child or self._start()
            deadline = time.monotonic() + self._limits.timeout_ms / 1000
            _write(child.writer, frame({"inspect": pieces}), deadline)
            answer = self._next(child, deadline)
            return list(answer[2])
        except (EOFError, TimeoutError, BrokenPipeError, Garbled, Oversized):
            self._end()
            return None

    def _start(self) -> Child:
        self._child = Child.start(self._limits, schemas=self._schemas)
        self._inbox = Inbox(ANSWER_BYTES)
        try:
            self._next(self._child, time.monotonic() + 60)
        except (EOFError, TimeoutError) as error:
            self._end()
            raise EvalactionError(
                "The worker that tries the exam's checks does not start. Look at the memory and process limits of this machine.",
                code="checker_start",
            ) from error
        return self._child

    def _next(self, child: Child, deadline: float) -> Any:
        while True:
            _wait(child.reader, deadline, write=False)
            data = os.read(child.reader, 65_536)
            if not data:
                raise EOFError
            for message in self._inbox.add(data):
                return message

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.bury(wait=True)
            self._child = None


def _write(pipe: int, data: bytes, deadline: float) -> None:
    rest = memoryview(data)
    while rest:
        _wait(pipe, deadline, write=True)
        rest = rest[os.write(pipe, rest) :]


def _wait(pipe: int, deadline: float, *, write: bool) -> None:
    ready = select.poll()
    ready.register(pipe, select.POLLOUT if write else select.POLLIN)
    if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


def _batches(pieces: Iterable[Piece]) -> Iterator[Sequence[Piece]]:
    ordered = list(pieces)
    for start in range(0, len(ordered), BATCH):
        yield ordered[start : start + BATCH]
