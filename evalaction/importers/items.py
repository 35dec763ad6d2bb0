"""Items on their way into a JSONL exam: each is tried by the exam's own reader, so that what is written can be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalaction.checks.kinds import BadCheck, prepare
from evalaction.errors import SourceError
from evalaction.importers.imported import NotCarried
from evalaction.method.canonical import Json, dumps
from evalaction.method.exams.items import item_of
from evalaction.method.exams.sources import read_jsonl

TASKS = "tasks.jsonl"


def tried(fields: Mapping[str, Json]) -> dict[str, Json]:
    """The item itself. Raises NotCarried where an exam would refuse it."""
    try:
        for raw in read_jsonl(jsonl([fields]), file=TASKS):
            prepare(item_of(raw, 0).check)
    except SourceError as error:
        raise NotCarried(error.sentence.partition(": ")[2] or error.sentence) from None
    except (BadCheck, UnicodeEncodeError) as error:
        raise NotCarried(str(error)) from None
    return dict(fields)


def jsonl(items: Iterable[Mapping[str, Json]]) -> bytes:
    """One item a line, its fields in their own order."""
    return "".join(dumps(item, sort_keys=False) + "\n" for item in items).encode()
