"""Items on their way into a JSONL exam: each is tried by the exam's own reader, so that what is written can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from evalaction.checks.kinds import BadCheck, prepare
from evalaction.errors import SourceError
from evalaction.importers.imported import NotCarried
from evalaction.method.canonical import Json, dumps
from evalaction.method.exams.items import item_of
from evalaction.method.exams.sources import read_jsonl
from evalaction.method.records import Item

TASKS = "tasks.jsonl"


def tried(fields: Mapping[str, Json], *, checker: str | None = None) -> dict[str, Json]:
    """The item itself. Raises NotCarried where an exam would refuse it. `checker`: the Python file that the card will name."""
    try:
        for item in _read([fields], checker):
            if item.check.kind != "python":
                prepare(item.check)
    except SourceError as error:
        raise NotCarried(error.sentence.partition(": ")[2] or error.sentence) from None
    except (BadCheck, UnicodeEncodeError) as error:
        raise NotCarried(str(error)) from None
    return dict(fields)


def sound(items: Sequence[Mapping[str, Json]]) -> list[str | None]:
    """For each item why its schema cannot be used, or None. Tried in a worker, which a hostile one cannot outlive."""
    from evalaction.checks.validate import validate_items

    with_schema = {index: one for index, item in enumerate(items) if "schema" in item for one in _read([item])}
    if not with_schema or _refused(lambda: validate_items([*with_schema.values()])) is None:
        return [None] * len(items)
    refused = {index: _refused(partial(validate_items, [one])) for index, one in with_schema.items()}
    return [refused.get(index) for index in range(len(items))]


def _read(items: Iterable[Mapping[str, Json]], checker: str | None = None) -> Iterator[Item]:
    return (item_of(raw, index, checker) for index, raw in enumerate(read_jsonl(jsonl(items), file=TASKS)))


def _refused(attempt: Callable[[], object]) -> str | None:
    try:
        attempt()
    except SourceError as error:
        return error.sentence.partition(": ")[2] or error.sentence
    return None


def jsonl(items: Iterable[Mapping[str, Json]]) -> bytes:
    """One item a line, its fields in their own order."""
    return "".join(dumps(item, sort_keys=False) + "\n" for item in items).encode()
