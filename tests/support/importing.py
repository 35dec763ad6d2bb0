"""What an importer wrote, read back by the card's and the exam's own readers, and its items put to the test of a reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from evalaction import schemas
from evalaction.checks.contract import Contract, misfit, read
from evalaction.checks.kinds import prepare
from evalaction.checks.schema import compile_schema
from evalaction.importers.imported import Imported, NotCarried
from evalaction.method.arms import Source, resolve
from evalaction.method.card import Card
from evalaction.method.cards.parse import parse_card
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.records import Item


def beside(files: Mapping[str, str | bytes] | None = None) -> Callable[[str], bytes]:
    """The files that a configuration names, without a disk."""
    held = dict(files or {})

    def read_file(path: str) -> bytes:
        if path not in held:
            raise NotCarried("is not there")
        data = held[path]
        return data.encode() if isinstance(data, str) else data

    return read_file


def card_of(made: Imported) -> Card:
    return parse_card(made.files["card.yaml"], file="card.yaml", schema=schemas.load("card"))


def exam_of(made: Imported) -> Exam:
    """The exam; every arm of the card can be asked of every item of it."""
    card = card_of(made)
    exam = load_exam(made.files, tasks=card.exam.tasks, checker=card.exam.checker)
    for arm in card.arms.values():
        resolve(Source(card=card, arm=arm, files=made.files, commit=None), exam)
    return exam


def loads_whole(made: Imported) -> None:
    """Counts add up, and what was written can be read as it stands."""
    assert made.carried + len(made.lost_items) == made.total and 0 <= made.partial <= made.carried
    if made.carried:
        assert len(exam_of(made).items) == made.carried
    else:
        assert not made.files


def passes(item: Item, reply: str) -> bool:
    """Whether contract and check accept the reply."""
    contract = Contract(
        extract=item.extract,
        json=item.extract == "json" or item.schema is not None or item.check.kind == "json",
        number=item.check.kind == "number",
        misfit=None if item.schema is None else compile_schema(item.schema),
    )
    form = read(contract, reply)
    return misfit(contract, form) is None and prepare(item.check)(form.text, form.value) is None


def whys(made: Imported) -> list[str]:
    return [loss.why for loss in (*made.lost_items, *made.lost_parts)]


def yaml(value: Any) -> bytes:
    """A configuration as a file: JSON is YAML too; a comment keeps it from being read as JSON."""
    return b"# made\n" + json.dumps(value, indent=1).encode()
