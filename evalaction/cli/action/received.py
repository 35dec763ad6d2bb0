"""`report` mode: runs that another job drew, or drew and a third one judged. Scored again offline and rendered by us."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.cli.action.artifact import Received, read_artifact
from evalaction.cli.action.judge import judged_of, refused, reused
from evalaction.cli.action.judged import Judged
from evalaction.cli.action.pieces import to_be_kept
from evalaction.cli.action.results import rows_digest
from evalaction.cli.action.thread import Thread, record_of
from evalaction.engine.folder import DRAWS, JUDGING, ROWS, locked
from evalaction.errors import EvalactionError, Outcome, UnregisteredError, UsageError
from evalaction.github.answer import Reuse, decide
from evalaction.github.hidden import Memory
from evalaction.method.canonical import sha256
from evalaction.method.report import CALIBRATION

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage
    from evalaction.method.report import Report

UNVERIFIED = "Reported by the pull request's own run, not verified."
_DRAWN = {Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.UNREACHABLE}


def receive(stage: Stage) -> tuple[tuple[Received, ...], bool]:
    """The cards of the artifact, and whether what was drawn is what the drawing job handed over.

    Raises UsageError for an artifact that is not of this form, UnregisteredError (`rows_digest`) where a digest differs.
    """
    listed, cards = read_artifact(source_of(stage), stage.folder, (ROWS, DRAWS, JUDGING))
    check_digests(stage, listed, cards)
    return cards, stage.asked_digest is not None and stage.context.kind != "workflow_run"


def source_of(stage: Stage) -> Path:
    """The downloaded artifact. Raises UsageError where the input that names it is empty."""
    if stage.settings.run_dir is None:
        raise UsageError(
            f"mode: {stage.settings.mode} needs the input run-dir, the folder of the downloaded artifact.", code="run_dir"
        )
    return stage.world.cwd / stage.settings.run_dir


def check_digests(stage: Stage, listed: bytes, cards: tuple[Received, ...]) -> None:
    """Raise UnregisteredError (`rows_digest`) where the artifact is not what the job that drew, or that judged, handed over."""
    folders = {card.folder.name: card.folder for card in cards if card.folder}
    for asked, job, drawn in ((stage.asked_digest, "drew", True), (stage.asked_judged_digest, "judged", False)):
        if asked is not None and rows_digest(sha256(listed), folders, drawn=drawn) != asked:
            raise UnregisteredError(
                f"The rows of the artifact are not those that the job that {job} handed over; nothing of them is shown. "
                "Run it again.",
                code="rows_digest",
            )


def judge_received(stage: Stage, received: Received, thread: Thread, *, verified: bool) -> Judged:
    """Score a received card again. What was answered before in our comment stays the answer."""
    try:
        received.refuse()
        if received.folder is None:
            return _earlier(received, thread, verified=verified)
        report = _scored(stage, received.folder)
        return _answered(stage, received, report, thread, verified=verified)
    except EvalactionError as error:
        return refused(stage, received.card, error, None, None)
    except Exception as error:  # noqa: BLE001  whatever an artifact does to us, the other cards have their say
        bug = EvalactionError(f"The run of this card could not be read ({type(error).__name__}).", code="artifact")
        return refused(stage, received.card, bug, None, None)


def _scored(stage: Stage, folder: Path) -> Report:
    from evalaction.engine.derive import derive

    with locked(folder):
        report = derive(folder)
    if report.verdict.outcome is Outcome.INTERRUPTED:
        raise UsageError("The run was interrupted; run it again.", code="artifact")
    if CALIBRATION in report.provenance.inputs:
        raise UsageError("A calibration draws one arm against itself and is never posted; hand over a run.", code="artifact")
    other = stage.context.other_run
    url = stage.context.run_url
    if stage.context.kind == "workflow_run":
        number = other.id if other else None
        url = f"{stage.context.server_url}/{stage.context.repository}/actions/runs/{number}" if number else None
    return replace(report, provenance=replace(report.provenance, run_url=url))


def _answered(stage: Stage, received: Received, report: Report, thread: Thread, *, verified: bool) -> Judged:
    path = received.card
    record = None
    judged = judged_of(report, path=path, folder=received.folder)
    if report.verdict.outcome in _DRAWN and report.provenance.question_digest and report.counts.planned:
        answer = decide(
            report.provenance.question_digest,
            card=path,
            event=stage.context.event,
            pull_request=thread.pull is not None,
            memory=thread.memory,
        )
        said = received.said if verified else ()
        if isinstance(answer, Reuse):
            asked = report.callouts[: report.asked_callouts]
            return replace(reused(answer, path=path, name=report.name, said=(*asked, *said)), folder=received.folder)
        judged = judged_of(report, path=path, folder=received.folder, callouts=said, attempt=answer.sentence)
        if verified:
            sealed = report.provenance.rows_sha256 is not None
            record = record_of(stage, report, to_be_kept(report), answer, path=path, sealed=sealed, outputs=judged.outputs)
    return replace(judged, record=record)


def _earlier(received: Received, thread: Thread, *, verified: bool) -> Judged:
    """The drawing job answered from our comment; so do we, and not from what it says."""
    question = received.question_digest or ""
    held = thread.answered(question)
    if held is None and isinstance(thread.memory, Memory):
        held = thread.memory.of(received.card, question)
    if held is None or not held.final:
        raise UsageError(
            "The drawing job left no rows and our comment holds no answer to its question; run it again.", code="artifact"
        )
    sentence = f"Nothing was drawn: this question was answered before, on {held.day} at commit {held.commit[:12]}."
    said = received.said if verified else ()
    return reused(Reuse(held, sentence), path=received.card, name=received.card, said=said)
