"""The exam: frozen items with their digests. Bytes come in, no disk is read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from evalaction.errors import SourceError, UsageError
from evalaction.method.canonical import sha256
from evalaction.method.card import Card
from evalaction.method.exams.hashes import folder_digest, ids_digest, other_files_digest
from evalaction.method.exams.items import item_of, same_id
from evalaction.method.exams.sources import RawItem, read_csv, read_folder, read_jsonl
from evalaction.method.exams.warnings import Watch
from evalaction.method.reading.text import short, suggestion
from evalaction.method.records import Item, Sentence

MAX_BYTES = 256 * 1024 * 1024
SMALL = 30
COMFORTABLE = 84
"""Items that give both halves 30 for 99 % of seeds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exam:
    kind: Literal["jsonl", "csv", "folder"]
    items: tuple[Item, ...]
    sha256: str
    ids_sha256: str
    checker_sha256: str | None = None
    """Folder exams with files that are not items; None otherwise."""
    warnings: tuple[Sentence, ...] = ()
    """Items that look like they hold personal data or keys."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What the checks of kind `python` and `code` are made of, by path as the card writes it."""


def load_exam(files: Mapping[str, bytes], *, tasks: str) -> Exam:
    """The exam at the path `tasks` (as the card writes it) among `files` (posix path from the card's folder to bytes).

    Raises SourceError, naming file and line, for every reason of the method to refuse an exam.
    """
    tasks = tasks.removesuffix("/")
    below = {path: data for path, data in files.items() if path.startswith(f"{tasks}/")}
    size = sum(map(len, below.values())) if tasks not in files else len(files[tasks])
    if size > MAX_BYTES:
        raise SourceError(f"this exam has {size:,} bytes; the limit is {MAX_BYTES:,}", file=tasks)
    if tasks in files:
        return _single(files[tasks], tasks)
    if not below:
        raise SourceError("there is no exam at this path; name a JSONL file, a CSV file or a folder", file=tasks)
    return _folder(below, tasks)


def check_question(card: Card, exam: Exam) -> None:
    """Refuse, before any call, a card that asks of its exam what it cannot give. Raises UsageError."""
    count = len(exam.items)
    if card.sign and card.sign.claim != "none" and count < SMALL:
        raise UsageError(
            f"the exam has {count} items and an exam under {SMALL} can claim `none` only; add {SMALL - count} items or more "
            f"({COMFORTABLE} give each half {SMALL} for almost any seed)"
        )
    tags = {tag for item in exam.items for tag in item.tags}
    for limit in card.limits:
        if limit.tag is not None and limit.tag not in tags:
            near = suggestion(limit.tag, tuple(tags))
            raise UsageError(f"the limit `{limit.name}` is for the tag `{short(limit.tag)}`, which no item has{near}")


def _single(data: bytes, tasks: str) -> Exam:
    suffix = tasks.rsplit("/", 1)[-1].casefold().rpartition(".")[2]
    if suffix not in ("jsonl", "ndjson", "csv"):
        raise SourceError("an exam is a .jsonl file, a .csv file or a folder of .json files", file=tasks)
    if suffix == "csv":
        return _exam("csv", read_csv(data, file=tasks), tasks, digest=sha256(data))
    return _exam("jsonl", read_jsonl(data, file=tasks), tasks, digest=sha256(data))


def _folder(files: Mapping[str, bytes], tasks: str) -> Exam:
    own = {path: data for path, data in files.items() if path.endswith(".json") and "/" not in path[len(tasks) + 1 :]}
    for path in sorted(files):
        if path.endswith("/task.json") and path not in own:
            sentence = "a folder per task with a `check.py` is not in this version of evalaction; use one .json file per item"
            raise SourceError(sentence, file=path)
    others = {path[len(tasks) + 1 :]: data for path, data in files.items() if path not in own}
    digest = folder_digest(sha256(data) for data in own.values())
    return _exam("folder", read_folder(own), tasks, digest=digest, checker=other_files_digest(others))


def _exam(
    kind: Literal["jsonl", "csv", "folder"], raws: Iterable[RawItem], tasks: str, *, digest: str, checker: str | None = None
) -> Exam:
    watch = Watch()
    items = tuple(_unique(_watched(raws, watch)))
    if not items:
        raise SourceError("this exam has no items", file=tasks)
    ids = ids_digest((item.id, item.sha256, None) for item in items)
    return Exam(kind=kind, items=items, sha256=digest, ids_sha256=ids, checker_sha256=checker, warnings=watch.sentences())


def _watched(raws: Iterable[RawItem], watch: Watch) -> Iterator[Item]:
    for index, raw in enumerate(raws):
        item = item_of(raw, index)
        watch.see(item.id, raw.text)
        yield item


def _unique(items: Iterable[Item]) -> Iterator[Item]:
    seen: dict[str, Item] = {}
    for item in items:
        first = seen.setdefault(same_id(item.id), item)
        if first is not item:
            same = "is taken" if first.id == item.id else "is the same text in Unicode (NFC) as the id"
            where = f"in line {first.line}" if first.line else f"of {first.file}"
            raise SourceError(f"the id `{short(item.id)}` {same} {where}", file=item.file, line=item.line)
        yield item
