"""One question, one answer: draw, or show again what was answered before. Pure.

In a pull request a sealed `pass` or `fail` for the same question digest is final; `inconclusive` and `unreachable` may be drawn
again, counted. Only a dispatch may force a redraw, and that is counted too. A schedule, a push and a merge queue always draw.

What the ways to ask again until the answer pleases do:

- a re-run, an empty commit, an amended message, a card whose YAML is reordered: the digest is the same, so the answer is too;
- a card that is moved, or copied: the question is the same, whatever its path;
- changing the question and changing it back: earlier questions are remembered;
- deleting the comment, or the hidden line in it: draws again, and the report says that no earlier answer could be read.

Whoever may edit or delete the comments of others in the repository can undo this, and so can a workflow that posts a stranger's
text with the same token: the digest guards against damage, not them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalaction.errors import UsageError
from evalaction.github.hidden import MAX_COUNT, Memory, Record, Unread

Why: TypeAlias = Literal["first", "again", "unsealed", "forced", "event", "unread"]
_ALWAYS = frozenset({"schedule", "push", "merge_group"})
"""Events that draw whatever was answered before."""
NEVER_WRITTEN = Unread("No earlier comment of ours is on this pull request.", lost=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """Ask the model. `attempt` and `forced` go into the record of the answer."""

    attempt: int
    forced: int = 0
    why: Why
    sentence: str | None = None
    """For the report's callouts; None where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """Make no call: this is the answer."""

    record: Record
    sentence: str


def decide(
    question_digest: str, *, card: str, event: str, pull_request: bool, memory: Memory | Unread, redraw: bool = False
) -> Draw | Reuse:
    """`event` is GitHub's event name, `pull_request` whether the run judges one; `memory` is what our comment there holds.

    Raises UsageError for a redraw that is not asked for by a dispatch.
    """
    if redraw and event != "workflow_dispatch":
        raise UsageError("A redraw is possible by workflow_dispatch only; remove the redraw input.", code="redraw_event")
    if not pull_request or event in _ALWAYS:
        return Draw(attempt=1, why="event")
    if isinstance(memory, Unread):
        return Draw(attempt=1, why="unread", sentence=_unread(memory, redraw))
    record = memory.of(card, question_digest)
    if record is None:
        return Draw(attempt=1, why="first")
    attempt = min(record.attempt + 1, MAX_COUNT)
    if record.final and redraw:
        forced = min(record.forced + 1, attempt - 1)
        sentence = f"Attempt {attempt} at this question, forced by a dispatch ({forced} forced in all): {_earlier(record)}."
        return Draw(attempt=attempt, forced=forced, why="forced", sentence=sentence)
    if record.final:
        return Reuse(record, f"Nothing was drawn: this question was answered before. That was {_earlier(record)}.")
    sentence = f"Attempt {attempt} at this question: {_earlier(record)}."
    return Draw(attempt=attempt, forced=record.forced, why="again" if record.sealed else "unsealed", sentence=sentence)


def _unread(memory: Unread, redraw: bool) -> str:
    known = "Whether this question was answered before is not known" if memory.lost else "Drawn as the first attempt"
    forced = " A redraw was asked for." if redraw else ""
    return f"{memory.sentence} {known}.{forced}"


def _earlier(record: Record) -> str:
    attempt = f"attempt {record.attempt}" + (f", {record.forced} forced" if record.forced else "")
    complete = "" if record.sealed else ", incomplete"
    return f"{attempt}, on {record.day} at commit {record.commit[:12]}, with the outcome {record.outcome}{complete}"
