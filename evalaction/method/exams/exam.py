"""The exam: frozen items with their digests. Bytes come in, no disk is read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evalaction.errors import SourceError, UsageError
from evalaction.method.canonical import sha256
from evalaction.method.card import Card
from evalaction.method.exams.folders import Folder, read_tasks, read_tree
from evalaction.method.exams.hashes import folder_digest, ids_digest, other_files_digest
from evalaction.method.exams.items import item_of, same_id
from evalaction.method.exams.python_source import expect_checker
from evalaction.method.exams.sources import RawItem, read_csv, read_folder, read_jsonl
from evalaction.method.exams.warnings import Watch
from evalaction.method.reading.text import short, suggestion
from evalaction.method.records import Item, Sentence

ExamKind: TypeAlias = Literal["jsonl", "csv", "folder"]

MAX_BYTES = 256 * 1024 * 1024
SMALL = 30
COMFORTABLE = 84
"""Items that give both halves 30 for 99 % of seeds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exam:
    kind: ExamKind
    items: tuple[Item, ...]
    sha256: str
    ids_sha256: str
    checker_sha256: str | None = None
    """Over the exam's Python checker and the files of a folder that are not items; None without any."""
    warnings: tuple[Sentence, ...] = ()
    """Items that look like they hold personal data or keys."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What the checks of kind `python` and `code` are made of, by path as the card writes it."""


def load_exam(files: Mapping[str, bytes], *, tasks: str, checker: str | None = None) -> Exam:
    """The exam at the path `tasks` (as the card writes it) among `files` (posix path from the card's folder to bytes).

    `checker` is the path of the exam's Python checker, which is then among `files` too.
    Raises SourceError, naming file and line, for every reason of the method to refuse an exam.
    """
    tasks = tasks.removesuffix("/")
    below = {path: data for path, data in files.items() if path.startswith(f"{tasks}/")}
    size = sum(map(len, below.values())) if tasks not in files else len(files[tasks])
    if size > MAX_BYTES:
        raise SourceError(f"this exam has {size:,} bytes; the limit is {MAX_BYTES:,}", file=tasks)
    if checker is not None:
        if checker not in files:
            raise SourceError("there is no checker at this path; name a Python file as `exam.checker`", file=checker)
        expect_checker(files[checker], file=checker)
    if tasks in files:
        return _single(files, tasks, checker)
    if not below:
        raise SourceError("there is no exam at this path; name a JSONL file, a CSV file or a folder", file=tasks)
    return _folder(files, read_tree(below, tasks), tasks, checker)


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


def _single(files: Mapping[str, bytes], tasks: str, checker: str | None) -> Exam:
    data = files[tasks]
    suffix = tasks.rsplit("/", 1)[-1].casefold().rpartition(".")[2]
    if suffix not in ("jsonl", "ndjson", "csv"):
        raise SourceError("an exam is a .jsonl file, a .csv file or a folder of .json files", file=tasks)
    kind: ExamKind = "csv" if suffix == "csv" else "jsonl"
    raws = read_csv(data, file=tasks) if kind == "csv" else read_jsonl(data, file=tasks)
    own = {checker: files[checker]} if checker else {}
    return _exam(
        kind, raws, tasks, digests=(sha256(data), sha256(files[checker]) if checker else None), checker=checker, files=own
    )


def _folder(files: Mapping[str, bytes], folder: Folder, tasks: str, checker: str | None) -> Exam:
    others = {path[len(tasks) + 1 :]: data for path, data in folder.others.items()}
    digest = folder_digest(sha256(data) for data in folder.items.values())
    raws = read_tasks(folder) if folder.tasks else read_folder(folder.items)
    own = {checker: files[checker]} if checker else {}
    return _exam(
        "folder",
        raws,
        tasks,
        digests=(digest, other_files_digest(others, files[checker] if checker else None)),
        checker=checker,
        files=folder.at_hand() | own,
    )


def _exam(
    kind: ExamKind,
    raws: Iterable[RawItem],
    tasks: str,
    *,
    digests: tuple[str, str | None],
    checker: str | None,
    files: Mapping[str, bytes],
) -> Exam:
    watch = Watch()
    items = tuple(_unique(_watched(raws, watch, checker)))
    if not items:
        raise SourceError("this exam has no items", file=tasks)
    if checker and not any(item.check.kind == "python" for item in items):
        sentence = "no item is judged by this checker; give items a `fixture` alone or `check: python`, or remove `exam.checker`"
        raise SourceError(sentence, file=checker)
    return Exam(
        kind=kind,
        items=items,
        sha256=digests[0],
        ids_sha256=ids_digest((item.id, item.sha256, _check_digest(item, files)) for item in items),
        checker_sha256=digests[1],
        warnings=watch.sentences(),
        files=files,
    )


def _check_digest(item: Item, files: Mapping[str, bytes]) -> str | None:
    """The digest of the item's own `check.py`."""
    return sha256(files[item.check.file]) if item.check.kind == "code" and item.check.file else None


def _watched(raws: Iterable[RawItem], watch: Watch, checker: str | None) -> Iterator[Item]:
    for index, raw in enumerate(raws):
        item = item_of(raw, index, checker)
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
