"""`lock`: writes the exam's hashes into the card and touches nothing else in it."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evalaction.errors import SourceError, UsageError
from evalaction.method.canonical import Json
from evalaction.method.cards.parse import parse_card, read_card
from evalaction.method.exams.exam import load_exam
from evalaction.method.reading.source import Document
from evalaction.method.records import Sentence
from evalaction.registration.collect import work_exam, work_file
from evalaction.registration.paths import CARD_BYTES, locate
from evalaction.registration.pins import digests
from evalaction.registration.scalars import edit
from evalaction.schemas import load as load_schema


@dataclass(frozen=True, slots=True)
class Change:
    """A hash that got another value; `old` is None where the card had none."""

    field: str
    old: str | None
    new: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LockResult:
    path: Path
    changes: tuple[Change, ...]
    """Empty when every hash held already."""
    written: bool
    """Also true when a hash only got its quotes."""
    warnings: tuple[Sentence, ...]
    """Those of the exam."""


def lock(card_path: Path) -> LockResult:
    """Writes `exam.sha256` and its like, computed from the working files, into the card; git is not needed.

    Raises SourceError for a card or an exam that cannot be used, UsageError for a layout that cannot be kept or a file that
    cannot be written; then nothing has changed.
    """
    place = locate(card_path)
    data = work_file(place, place.card, CARD_BYTES)
    card = parse_card(data, file=place.card, schema=load_schema("card"))
    exam = load_exam(work_exam(place, card.exam), tasks=card.exam.tasks, checker=card.exam.checker)
    wanted = digests(exam)
    locked = with_hashes(data, wanted, file=place.card)
    if locked != data:
        _replace_file(place.root / place.card, locked)
    changes = (Change(f"exam.{name}", getattr(card.exam, name), value) for name, value in wanted.items())
    return LockResult(
        path=place.root / place.card,
        changes=tuple(change for change in changes if change.old != change.new),
        written=locked != data,
        warnings=exam.warnings,
    )


def with_hashes(data: bytes, hashes: dict[str, str], *, file: str) -> bytes:
    """The card with the fields of `exam` that `hashes` names set and quoted, every other byte as it was.

    Raises SourceError for a card that cannot be read, UsageError for a layout that cannot be kept.
    """
    before = read_card(data, file=file)
    document = before
    for name, value in hashes.items():
        if change := edit(document, "exam", name, value):
            document = _reread(change.apply(document.text), hashes, file=file)
    if _split(document.value, hashes) != (_split(before.value, hashes)[0], hashes):
        raise _unwritable(hashes, file)
    return document.text.encode("utf-8")


def _reread(text: str, hashes: dict[str, str], *, file: str) -> Document:
    try:
        return read_card(text.encode("utf-8"), file=file)
    except SourceError as error:
        raise _unwritable(hashes, file) from error


def _unwritable(hashes: dict[str, str], file: str) -> UsageError:
    lines = ", ".join(f'{name}: "{value}"' for name, value in hashes.items())
    sentence = f"The hashes cannot be written into the layout of {file}; write them into `exam` by hand: {lines}"
    return UsageError(sentence, code="layout")


def _split(value: Json, hashes: dict[str, str]) -> tuple[Json, dict[str, Json]]:
    """The card's value without the hashes, and the hashes that it holds."""
    assert isinstance(value, dict) and isinstance(value["exam"], dict)
    exam = value["exam"]
    rest = {name: content for name, content in exam.items() if name not in hashes}
    return value | {"exam": rest}, {name: exam[name] for name in hashes if name in exam}


def _replace_file(path: Path, data: bytes) -> None:
    """All of the new bytes or all of the old ones, whatever happens; mode and, where allowed, owner stay."""
    old = path.stat()
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritten(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(stat.S_IMODE(old.st_mode))
        if hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(temporary, old.st_uid, old.st_gid)
        temporary.replace(path)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _unwritten(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written ({error.strerror}); nothing was changed.", code="not_written")
