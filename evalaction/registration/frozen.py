"""What registration hands on: the frozen inputs of a run, and what was compared to freeze them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from evalaction.method.card import Card
from evalaction.method.exams.exam import Exam
from evalaction.method.reading.text import decode
from evalaction.method.records import Break, Sentence
from evalaction.registration.paths import PROMPT_BYTES, REPLIES_BYTES, oversize

Role: TypeAlias = Literal["card", "exam", "checker", "prompt", "route", "replies", "program"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Frozen:
    """Card, exam and every file that the exam, an arm or an endpoint names, as the blobs of one commit."""

    root: Path
    """The work tree; the card's folder in a rehearsal outside git."""
    commit: str | None
    """None: a rehearsal, read from the working tree."""
    parents: tuple[str, ...]
    card_path: str
    """Posix, relative to `root`."""
    card: Card
    card_bytes: bytes
    card_sha256: str
    exam: Exam
    files: Mapping[str, bytes]
    """Bytes of the checker, of prompts, routes and scripted replies, by their path as the card writes it; of programs by a
    slash and their path from the root."""
    warnings: tuple[Sentence, ...]

    def texts(self) -> dict[str, str]:
        """The arms' prompt files as text, by their path as the card writes it. Raises SourceError."""
        return {
            path: prompt_text(self.files[path], file=path) for path, role in named_files(self.card).items() if role == "prompt"
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """One file that was compared; digests are sha256 hex, None where there was nothing to read."""

    role: Role
    path: str
    """Posix, relative to the repository's root."""
    committed_sha256: str | None
    working_sha256: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pinned:
    """One hash of the card beside what the commit and the working tree give."""

    field: str
    card: str | None
    committed: str | None
    working: str | None
    """None where the working files cannot be read as an exam."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyReport:
    """Everything that was compared; `frozen` is None exactly when there are breaks.

    `readable` is then what the commit holds all the same, for mistakes in it that come before what has moved.
    """

    commit: str | None
    checked: tuple[Checked, ...]
    pinned: tuple[Pinned, ...]
    breaks: tuple[Break, ...]
    frozen: Frozen | None
    readable: Frozen | None = None

    @property
    def warnings(self) -> tuple[Sentence, ...]:
        return self.frozen.warnings if self.frozen else ()


def named_files(card: Card) -> dict[str, Role]:
    """Every file that is named one by one, by its path as the card writes it; a checker in the exam's folder belongs to that."""
    found: dict[str, Role] = {}
    for endpoint in card.endpoints.values():
        if endpoint.replies:
            found[endpoint.replies] = "replies"
    for arm in card.arms.values():
        found |= dict.fromkeys((path for path in (arm.system, arm.template) if path), "prompt")
        if arm.route:
            found[arm.route] = "route"
    if card.exam.checker and not card.exam.checker.startswith(f"{card.exam.tasks}/"):
        found[card.exam.checker] = "checker"
    return found


def limit_of(role: Role) -> int:
    """The most bytes a named file may have."""
    return REPLIES_BYTES if role == "replies" else PROMPT_BYTES


def prompt_text(data: bytes, *, file: str) -> str:
    """The text of a prompt file. Raises SourceError over 1 MiB, with a byte order mark and for bytes that are not UTF-8."""
    if len(data) > PROMPT_BYTES:
        raise oversize(file, PROMPT_BYTES)
    return decode(data, file=file)
