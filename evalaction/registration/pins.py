"""The hashes in the card: which fields they are, what they should be, and why one is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evalaction.errors import SourceError
from evalaction.method.canonical import sha256
from evalaction.method.card import Card, ExamRef
from evalaction.method.cards.parse import HASH_FIELDS
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.records import Break
from evalaction.registration.causes import BOM
from evalaction.registration.frozen import Pinned

_HEX = re.compile(r"[0-9A-Fa-f]{64}")

Files = Mapping[str, bytes]


def digests(exam: Exam) -> dict[str, str]:
    """The hashes that a card of this exam must hold, by field of `exam`."""
    found = {"sha256": exam.sha256, "ids_sha256": exam.ids_sha256, "checker_sha256": exam.checker_sha256}
    return {name: value for name, value in found.items() if value is not None}


def pins(card: Card, exam: Exam, committed: Files, working: Files) -> tuple[Pinned, ...]:
    """The card's hashes beside those of the committed and of the working files."""
    wanted = digests(exam)
    at_work = wanted if working == committed else _digests_of(working, card.exam)
    names = [name for name in HASH_FIELDS if name in wanted or getattr(card.exam, name)]
    return tuple(
        Pinned(field=f"exam.{name}", card=getattr(card.exam, name), committed=wanted.get(name), working=at_work.get(name))
        for name in names
    )


def broken_pins(card: Card, pinned: tuple[Pinned, ...], committed: Files) -> Iterator[Break]:
    """A break for every hash that does not hold and that an edit of the working files does not explain already."""
    for pin in pinned:
        if pin.card is None:
            yield Break("hash_missing", (f"The card has no {pin.field}; run `evalaction lock` on it and commit it.",))
        elif pin.card not in (pin.committed, pin.working):
            yield _mismatch(card, pin, committed)


def _mismatch(card: Card, pin: Pinned, committed: Files) -> Break:
    again = "run `evalaction lock` and commit the card."
    if _HEX.fullmatch(pin.card or "") and pin.card != (pin.card or "").lower():
        return Break("upper_case_hash", (f"{pin.field} is written in upper case; {again}",))
    name = pin.field.removeprefix("exam.")
    for endings in (_to_crlf, _to_lf):
        other = {path: endings(data) for path, data in committed.items()}
        if _digests_of(other, card.exam).get(name) == pin.card:
            words = "fits the committed file but for its line endings; set `-text` for that file in .gitattributes, then"
            return Break("line_endings", (f"{pin.field} {words} {again}",))
    if any(pin.card == sha256(BOM + data) for data in committed.values()):
        return Break("bom", (f"{pin.field} is that of the committed file with a byte order mark before it; {again}",))
    words = "in the card is not that of the committed exam; restore the exam, or, if the new one is meant,"
    return Break("hash_mismatch", (f"{pin.field} {words} {again}",))


def _digests_of(files: Files, exam: ExamRef) -> dict[str, str]:
    try:
        return digests(load_exam(files, tasks=exam.tasks, checker=exam.checker))
    except SourceError:
        return {}


def _to_crlf(data: bytes) -> bytes:
    return _to_lf(data).replace(b"\n", b"\r\n")


def _to_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")
