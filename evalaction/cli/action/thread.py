"""Our comment on the pull request: what it remembers, and writing it. Whatever fails here is a warning, never another verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evalaction.cli.action.judged import Judged
from evalaction.errors import Outcome
from evalaction.github.answer import NEVER_WRITTEN, Draw
from evalaction.github.comment import author_of, find, upsert
from evalaction.github.hidden import Hidden, Memory, Record, Unread, hide, reveal
from evalaction.github.marker import key_of
from evalaction.github.pull import Pull, find_pull, queued
from evalaction.github.replies import Refused
from evalaction.github.shown import keep
from evalaction.report.blocks import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalaction.cli.action.stage import Stage
    from evalaction.method.report import Report

_ANSWERS = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.UNREACHABLE: "unreachable",
}
_NO_TOKEN = Unread("Without a github-token no earlier answer can be read.", lost=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """The pull request of this job, and what our comment there remembers."""

    pull: Pull | None
    key: str
    me: str | None
    """The login our comment is written with; None: no comment can be written."""
    memory: Memory | Unread

    drawn: tuple[Record, ...] = ()
    """What this job has answered so far."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """What it has drawn and left to be judged: the digest of the question to the path of the card."""

    def answered(self, question_digest: str) -> Record | None:
        """The answer that another card of this job has just had to the same question."""
        return next((one for one in self.drawn if one.question_digest == question_digest), None)

    def hidden(self, cards: Sequence[Judged], *, remember: bool, held: Sequence[str] = ()) -> Hidden:
        """The answers for the comment, this job's among them; without `remember` only the earlier ones.

        `held` is what stands in the comment now: a leg that has written since we read it keeps its answers, and of one question
        that two runs drew at once the answer that was written first stays.
        """
        memory = known = self.memory if isinstance(self.memory, Memory) else Memory()
        for body in held:
            found = reveal(body, self.key)
            for record in reversed(found.records if isinstance(found, Memory) else ()):
                memory = memory.with_record(record)
        for card in reversed(cards):
            raced = card.record is not None and memory.holds(card.record) and not known.holds(card.record)
            if card.record is not None and remember and not raced:
                memory = memory.with_record(card.record)
        return hide(memory, self.key)


def open_thread(stage: Stage) -> Thread:
    """Find the pull request and read our comment there."""
    context, settings = stage.context, stage.settings
    key = key_of(context.workflow or "", settings.comment_key)
    if context.kind == "merge_group" or queued(context.ref):
        stage.log.say(("The answer to a merge queue is the status of this job; nothing is commented.",))
        return Thread(pull=None, key=key, me=None, memory=NEVER_WRITTEN)
    if stage.asked_number is not None and stage.asked_sha is not None:  # checked against GitHub by `fork`
        pull: Pull | None = Pull(number=stage.asked_number, head=context.head, source="event")
    else:
        found = find_pull(context, stage.api)
        pull = found.pull
        if found.notice:
            stage.log.say(found.notice)
        for warning in found.warnings:
            stage.log.warn(warning)
    if pull is None:
        return Thread(pull=None, key=key, me=None, memory=NEVER_WRITTEN)
    if stage.api is None:
        return Thread(pull=pull, key=key, me=None, memory=_NO_TOKEN)
    author = author_of(stage.api)
    if isinstance(author, Refused):
        stage.log.warn((author.sentence,))
        return Thread(pull=pull, key=key, me=None, memory=Unread(author.sentence, lost=True))
    me = author.data
    held = find(stage.api, context.repository, pull.number, key, me=me)
    if isinstance(held, Refused):
        return Thread(pull=pull, key=key, me=me, memory=Unread(held.sentence, lost=True))
    memory = reveal(held.data.body, key) if held.data else NEVER_WRITTEN
    return Thread(pull=pull, key=key, me=me, memory=memory)


def write(stage: Stage, thread: Thread, body: Callable[[Sequence[str]], str]) -> str | None:
    """Create or update the comment; its address. None: there is none, and a warning says why.

    `body` makes the text from those that our comment has at that moment.
    """
    if thread.pull is None or thread.me is None or stage.api is None:
        return None
    context = stage.context
    posted = upsert(stage.api, context.repository, thread.pull.number, thread.key, body, me=thread.me, fork=context.is_fork)
    if isinstance(posted, Refused):
        stage.log.warn((posted.sentence,), weight=50)
        return None
    return posted.url


def record_of(
    stage: Stage, report: Report, document: Document, answer: Draw, *, path: str, sealed: bool, outputs: Mapping[str, str]
) -> Record | None:
    """What is to be remembered of a draw; None for an event that always draws, and for an outcome that is no answer."""
    source = report.provenance
    commit = stage.asked_sha or (stage.context.head.sha if stage.context.head else None) or source.commit
    outcome = _ANSWERS.get(report.verdict.outcome)
    if answer.why == "event" or outcome is None or source.question_digest is None or commit is None:
        return None
    for kept in (dict(outputs), {}):  # a list of breaks may be longer than a record holds
        try:
            return Record(
                card=path,
                question_digest=source.question_digest,
                outcome=outcome,  # type: ignore[arg-type]  # the values of _ANSWERS
                attempt=answer.attempt,
                forced=answer.forced,
                sealed=sealed,
                commit=commit,
                day=datetime.now(UTC).date().isoformat(),
                run_url=stage.context.run_url or "",
                outputs=kept,
                shown=keep(document),
            )
        except ValueError:
            continue
    return None
