"""Items on their way into a JSONL exam: each is tried by the exam's own reader, so that what is written can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from evalaction.checks.kinds import BadCheck, prepare
from evalaction.errors import SourceError
from evalaction.importers.imported import NotCarried
from evalaction.method.canonical import Json, dumps
from evalaction.method.exams.items import item_of
from evalaction.method.exams.sources import read_jsonl

TASKS = "tasks.jsonl"


def tried(fields: Mapping[str, Json], *, checker: str | None = None) -> dict[str, Json]:
    """The item itself. Raises NotCarried where an exam would refuse it. `checker`: the Python file that the card will name."""
    try:
        for raw in read_jsonl(jsonl([fields]), file=TASKS):
            check = item_of(raw, 0, checker).check
            if check.kind != "python":
                prepare(check)
    except SourceError as error:
        raise NotCarried(error.sentence.partition(": ")[2] or error.sentence) from None
    except (BadCheck, UnicodeEncodeError) as error:
        raise NotCarried(str(error)) from None
    return dict(fields)


def sound(items: Sequence[Mapping[str, Json]]) -> list[str | None]:
    """For each item why its schema cannot be used, or None. Tried in a worker, which a hostile one cannot outlive."""
    from evalaction.checks.validate import validate_items

    read = [item_of(raw, index) for index, raw in enumerate(read_jsonl(jsonl(items), file=TASKS))]
    with_schema = [item for item in read if item.schema is not None]
    if not with_schema or _refused(lambda: validate_items(with_schema)) is None:
        return [None] * len(read)
    return [None if one.schema is None else _refused(partial(validate_items, [one])) for one in read]


def _refused(attempt: Callable[[], object]) -> str | None:
    try:
        attempt()
    except SourceError as error:
        return error.sentence.partition(": ")[2] or error.sentence
    return None


def jsonl(items: Iterable[Mapping[str, Json]]) -> bytes:
    """One item a line, its fields in their own order."""
    return "".join(dumps(item, sort_keys=False) + "\n" for item in items).encode()
