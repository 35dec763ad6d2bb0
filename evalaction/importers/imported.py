"""What an importer gives back: the files, how much of the source they hold, and everything they do not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evalaction.errors import SourceError, UsageError
from evalaction.method.exams.items import same_id
from evalaction.method.reading.text import invisible, short

MIRROR = "a model that grades a model agrees with itself; give the test an answer that can be compared"
"""Why no model-graded check is carried."""
KEPT = "card.yaml says `data: public`: a host may keep these texts; write `private` if it may not"


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """One thing of the source that the files do not hold."""

    file: str
    line: int | None
    """1-based; None where the file has no lines that one could point at."""
    what: str
    """The test or the field, as the source names it (untrusted)."""
    why: str
    """One clause, and what to do where there is something to do."""

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """`carried` + the tests among the losses = `total`: what is not carried is named, one loss a test."""

    noun: str
    """What the source calls its items: `test`, `sample`, `task`."""
    total: int
    carried: int
    files: Mapping[str, bytes]
    """Path below the new folder to bytes. Without a carried item: empty."""
    lost_items: tuple[Loss, ...] = ()
    """One for each item that is not carried."""
    partial: int = 0
    """Of the carried items: those of which a check was left out."""
    lost_parts: tuple[Loss, ...] = ()
    """Checks of carried items, and settings of the source, that have no place here."""
    notes: tuple[str, ...] = ()
    """Where a carried check means something else in rare cases, and what the user must look at."""

    def __post_init__(self) -> None:
        if self.carried + len(self.lost_items) != self.total:
            raise ValueError("an item is neither carried nor lost")
        if bool(self.files) != bool(self.carried):
            raise ValueError("files are written exactly when something is carried")


class NotCarried(Exception):
    """The item at hand cannot be carried; the text says why."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(slots=True)
class Ledger:
    """Collects losses and notes while a source is walked."""

    file: str
    items: list[Loss] = field(default_factory=list)
    parts: list[Loss] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    partial: int = 0

    def item(self, line: int | None, what: str, why: str, *, file: str | None = None) -> None:
        self.items.append(Loss(file=file or self.file, line=line, what=short(what), why=why))

    def part(self, line: int | None, what: str, why: str, *, file: str | None = None) -> None:
        self.parts.append(Loss(file=file or self.file, line=line, what=short(what, 100), why=why))

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def result(self, *, noun: str, total: int, files: Mapping[str, bytes]) -> Imported:
        carried = total - len(self.items)
        return Imported(
            noun=noun,
            total=total,
            carried=carried,
            files=files if carried else {},
            partial=self.partial,
            lost_items=tuple(self.items),
            lost_parts=tuple(self.parts),
            notes=tuple(self.notes),
        )


def within(data: bytes, limit: int, file: str) -> bytes:
    """`data` itself. Raises SourceError above `limit` bytes."""
    if len(data) > limit:
        raise SourceError(f"this file has {len(data):,} bytes; the limit is {limit:,}", file=file)
    return data


def refuse_empty(total: int, noun: str, file: str) -> None:
    """Raise UsageError for a source without a single item: there is nothing to make an exam of."""
    if not total:
        raise UsageError(f"{short(file)} holds no {noun}s; there is nothing to import.")


def unique_ids(wanted: Iterable[str], prefix: str) -> list[str]:
    """An id for each item: the wanted one where it can be one and is the first of its kind, else `prefix-0001` by position."""
    taken: set[str] = set()
    ids = []
    for number, text in enumerate(wanted, 1):
        item_id = text.strip()
        if not usable_id(item_id) or same_id(item_id) in taken:
            item_id = f"{prefix}-{number:04d}"
        while same_id(item_id) in taken:
            item_id += "-2"
        taken.add(same_id(item_id))
        ids.append(item_id)
    return ids


def usable_id(text: str) -> bool:
    """Whether an exam would take the text as an id, and a reader as a name."""
    return 1 <= len(text) <= 80 and text == text.strip() and text[0] not in "=+-@" and invisible(text) is None
