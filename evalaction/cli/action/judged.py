"""What a card came to in this job: a report of now, or an earlier answer shown again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalaction.errors import Outcome
from evalaction.github.hidden import Record
from evalaction.method.records import Sentence
from evalaction.method.report import Report
from evalaction.report.blocks import Document


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    path: str
    """Of the card, in the repository."""
    outcome: Outcome
    document: Document
    outputs: Mapping[str, str]
    report: Report | None = None
    """None for an earlier answer."""
    folder: Path | None = None
    """Of the run; None where nothing of it is on disk."""
    question_digest: str | None = None
    record: Record | None = None
    """To be remembered in the comment."""
    reused: bool = False
    unjudged: bool = False
    """Drawn by this job, to be judged by another."""
    skipped: bool = False
    """Secrets are withheld and the workflow says `skip`: it does not fail the job."""
    said: tuple[Sentence, ...] = ()
    """What a job that reports this run must say too, and cannot know: that the question changes, for one."""
    was: str | None = None
    """Where base has the card, if that is known."""
    place: tuple[str, int | None] | None = None
    """File and line of a mistake in what the user wrote."""
