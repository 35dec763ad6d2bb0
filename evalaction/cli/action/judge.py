"""One card of a job: freeze, compare with base, one question one answer, gates, draw, derive. A refusal is a result too."""

from __future__ import annotations

import shutil
import traceback
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction import __version__
from evalaction.cli.action.against_base import compare
from evalaction.cli.action.bases import opposed, skip_same
from evalaction.cli.action.judged import Judged
from evalaction.cli.action.pieces import shown_again, to_be_kept, with_callouts
from evalaction.cli.action.thread import Thread, record_of
from evalaction.cli.pipeline import draw_derived, draw_only, leave
from evalaction.engine.folder import DRAWS, ROWS
from evalaction.engine.prepare import named_endpoints, pass_gates, prepared_of
from evalaction.engine.runner import runner_identity
from evalaction.engine.session import Setting
from evalaction.errors import (
    EvalactionError,
    Interrupted,
    NotRunError,
    Outcome,
    Settled,
    SourceError,
    UnregisteredError,
    UsageError,
)
from evalaction.github.answer import Draw, Reuse, decide
from evalaction.github.base import Base
from evalaction.github.decisions import on_missing_secrets
from evalaction.method.records import Quoted, Sentence
from evalaction.method.report import Provenance, Report
from evalaction.method.telling.changed import asked_callouts
from evalaction.method.telling.summary import refusal_report
from evalaction.registration.freeze import verify
from evalaction.report.layout import document
from evalaction.report.outputs import outputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalaction.cli.action.stage import Stage
    from evalaction.engine.prepare import Prepared
    from evalaction.engine.trial import Trial
    from evalaction.registration.frozen import Frozen


def judge(stage: Stage, path: str, thread: Thread) -> Judged:
    """The outcome of one card, whatever happens to it. Raises Interrupted when a signal ended the drawing."""
    setting = Setting(
        folder=stage.folder_of(path),
        environ=stage.world.environ,
        identity=runner_identity(stage.world.environ),
        inputs=stage.inputs,
        ca_bundle=stage.settings.ca_bundle,
        judged_apart=stage.settings.mode == "draw",
    )
    prepared: Prepared | None = None
    try:
        prepared = _prepared(stage, path)
        found = _answered(stage, prepared, setting, thread)
    except Interrupted:
        raise
    except EvalactionError as error:
        found = refused(stage, path, error, prepared, setting)
    except Exception as error:  # noqa: BLE001  a bug met by one card must not take the others' verdicts away
        stage.log.block(traceback.format_exc())
        bug = EvalactionError(f"An internal error, which is a bug of ours: {type(error).__name__}; the log has more.")
        found = refused(stage, path, bug, None, None)
    return replace(found, was=prepared.trial.base_path if prepared else None)


def _prepared(stage: Stage, path: str) -> Prepared:
    from evalaction.endpoints import secrets_of

    report = verify(stage.git.root / path, expected_head=expected_head(stage))
    if report.readable is not None:
        stage.log.mask(secrets_of(named_endpoints([report.readable.card]), stage.world.environ))
        _refuse_link(path, report.readable.card_path)
    prepared = prepared_of(report, _by_fork(stage) if stage.asked_number is not None else opposed(stage))
    stage.log.mask(secrets_of(prepared.named, stage.world.environ))  # those of base's card too
    return prepared


def _by_fork(stage: Stage) -> Callable[[Frozen], Trial]:
    from evalaction.cli.action.fork import changes_card, changes_program, with_head_files
    from evalaction.engine.trial import fork_trial

    return lambda frozen: fork_trial(
        frozen,
        with_head_files(stage, frozen),
        card_ignored=changes_card(stage, frozen),
        program_ignored=changes_program(stage, frozen),
    )


def _refuse_link(asked: str, found: str) -> None:
    """A folder that became a symlink leads to another card than the one that base has at this path."""
    if asked != found:
        raise UnregisteredError(f"{asked} lies behind a symlink; commit the card itself in its place.", code="symlink")


def expected_head(stage: Stage) -> str | None:
    """The commit this job may judge: GitHub's merge commit, or the pull request's head where that was checked out."""
    context = stage.context
    if context.head and context.head.sha == stage.head.oid and context.kind == "pull_request":
        return stage.head.oid
    return context.sha


def _answered(stage: Stage, prepared: Prepared, setting: Setting, thread: Thread) -> Judged:
    path = prepared.path
    for warning in prepared.warnings:
        stage.log.warn(warning)
    skip_same(stage, prepared)
    same = thread.answered(prepared.question_digest)
    if same is not None:
        sentence = f"Nothing was drawn: {same.card} asks the same question and was answered in this job."
        return reused(Reuse(same, sentence), path=path, name=prepared.card.name, said=_of_this(stage, prepared))
    if (first := thread.asked.get(prepared.question_digest)) is not None:
        sentence = f"Nothing was drawn: {first} asks the same question and was drawn in this job."
        return left_to(stage, path, sentence, prepared.question_digest)
    answer = decide(
        prepared.question_digest,
        card=path,
        event=stage.context.event,
        pull_request=thread.pull is not None,
        memory=thread.memory,
        redraw=stage.settings.redraw,
    )
    if isinstance(answer, Reuse):
        return reused(answer, path=path, name=prepared.card.name, said=_of_this(stage, prepared))
    said = _said(stage, prepared)
    rung = pass_gates(
        prepared,
        setting.environ,
        setting.identity,
        rehearsal=False,
        ca_bundle=setting.ca_bundle,
        allow_unsafe=stage.settings.allow_unsafe,
        judged_apart=setting.judged_apart,
    )
    if rung is not None:
        from evalaction.endpoints import secrets_of

        stage.world.guard(secrets_of(prepared.named, stage.world.environ).values())
    return _drawn(stage, prepared, replace(setting, rung=rung), answer, said)


def _said(stage: Stage, prepared: Prepared) -> tuple[Sentence, ...]:
    """What a reader must know of the question itself. Raises as `compare` does."""
    if stage.asked_number is not None:
        commit = (stage.asked_sha or "")[:12]
        text = f"Judged by a maintainer: the arms' files of the head {commit} under the base's question; its code was not run."
        changed = {"the card": prepared.trial.card_ignored, "the program of an endpoint": prepared.trial.program_ignored}
        what = " and ".join(name for name, is_changed in changed.items() if is_changed)
        ignored = f" The head changes {what} too, and that is not judged here." if what else ""
        return ((text + ignored,),)
    return (*_of_base(stage, prepared), *compare(stage, prepared))


def _of_this(stage: Stage, prepared: Prepared) -> tuple[Sentence, ...]:
    """What must be said of the commit at hand where an earlier one had the answer. No call is made, so nothing is refused."""
    trial = prepared.trial
    said: tuple[Sentence, ...] = ()
    with suppress(EvalactionError):
        said = _said(stage, prepared)
    return (*asked_callouts(trial.asked_by, trial.question_changes, base_missing=trial.base_missing), *said)


def _of_base(stage: Stage, prepared: Prepared) -> tuple[Sentence, ...]:
    """What a reader must know of the base that the card is judged against."""
    found = _found_base(stage)
    return found.notices if found and prepared.trial.asked_by is not None and stage.asked_number is None else ()


def reused(answer: Reuse, *, path: str, name: str, said: tuple[Sentence, ...] = ()) -> Judged:
    record = answer.record
    outcome = Outcome(record.outcome)
    return Judged(
        path=path,
        outcome=outcome,
        document=shown_again(record, answer.sentence, name, said),
        outputs=dict(record.outputs) or {"outcome": record.outcome, "question-digest": record.question_digest},
        question_digest=record.question_digest,
        reused=True,
        said=said,
    )


def left_to(stage: Stage, path: str, sentence: str, question_digest: str | None) -> Judged:
    """A card with nothing to draw or to judge here: the job that reports has its answer."""
    settled = Settled(sentence, outcome=Outcome.REGISTERED)
    report = replace(
        refusal_report(settled, name=path, provenance=provenance(stage, path)), heading=("its answer is known to the report",)
    )
    return replace(judged_of(report, path=path, folder=None), question_digest=question_digest, reused=True)


def _drawn(stage: Stage, prepared: Prepared, setting: Setting, answer: Draw, said: tuple[Sentence, ...]) -> Judged:
    from evalaction.engine.run import refuse_interrupted

    more = {"attempt": str(answer.attempt)} if answer.attempt > 1 else {}
    if stage.asked_number is not None:
        more["pull-request"] = str(stage.asked_number)
    setting = replace(setting, inputs={**setting.inputs, **more}, base=_base(stage))
    stage.log.say((Quoted(prepared.path), f": {prepared.planned:,} calls planned"))
    drawing = draw_only if setting.judged_apart else draw_derived
    drawn, report = drawing(prepared, setting, stage.world, stage.log.redactor(), quiet=False)
    refuse_interrupted(drawn, str(setting.folder))
    path = prepared.path
    judged = judged_of(report, path=path, folder=setting.folder, callouts=said, attempt=answer.sentence)
    if setting.judged_apart:
        return replace(judged, said=said, unjudged=True)
    sealed = drawn.ended in {"complete", "unreachable"}
    # Who judged it is as true of the answer as its numbers are; the rest of what was said is of this commit.
    kept = with_callouts(to_be_kept(report), said if stage.asked_number is not None else ())
    record = record_of(stage, report, kept, answer, path=path, sealed=sealed, outputs=judged.outputs)
    return replace(judged, record=record, said=said)


def _base(stage: Stage) -> str | None:
    """What the report names as base: for a fork the commit that is checked out, else what was compared with, if anything was."""
    if stage.asked_number is not None:
        return stage.head.oid
    found = _found_base(stage)
    return found.commit.oid if found else None


def _found_base(stage: Stage) -> Base | None:
    """Cached when it was asked for; naming it is no reason to look for it."""
    found = stage.__dict__.get("_base")
    return found if isinstance(found, Base) else None


def judged_of(
    report: Report, *, path: str, folder: Path | None, callouts: tuple[Sentence, ...] = (), attempt: str | None = None
) -> Judged:
    """`callouts` stand before those of the report, which say first whose question was asked; what attempt it was comes last."""
    return Judged(
        path=path,
        outcome=report.verdict.outcome,
        document=with_callouts(document(report), callouts, [(attempt,)] if attempt else ()),
        outputs=outputs(report),
        report=report,
        folder=folder,
        question_digest=report.provenance.question_digest,
    )


def refused(stage: Stage, path: str, error: EvalactionError, prepared: Prepared | None, setting: Setting | None) -> Judged:
    """A card that was not judged. What keeps its folder from being written is a warning."""
    skipped = False
    if isinstance(error, NotRunError) and error.code == NotRunError.default_code:
        missing = on_missing_secrets(stage.settings.on_missing_secrets, stage.context)
        error = NotRunError(f"{error.sentence} {''.join(str(part) for part in missing.sentence)}")
        skipped = missing.skips
    folder = setting.folder if setting else None
    report = None
    if folder is not None and error.code == "secret_found":
        shutil.rmtree(folder, ignore_errors=True)  # it would be uploaded with what was found in it
        folder = None
    elif setting is not None and not any((setting.folder / name).exists() for name in (ROWS, DRAWS)):
        try:
            report = leave(error, prepared, setting, card=path)
        except UsageError as second:
            stage.log.warn((Quoted(second.sentence),))
            folder = None
    if report is None:
        report = refusal_report(error, name=path, provenance=provenance(stage, path), breaks=getattr(error, "breaks", ()))
    judged = judged_of(report, path=path, folder=folder, callouts=_of_base(stage, prepared) if prepared else ())
    return replace(judged, skipped=skipped, place=_place(error, path))


def provenance(stage: Stage, path: str) -> Provenance:
    """What is known without a run."""
    return Provenance(tool_version=__version__, card_path=path, run_url=stage.context.run_url, inputs=stage.inputs)


def _place(error: EvalactionError, card: str) -> tuple[str, int | None] | None:
    """Where to look; a path of the card is relative to the card's folder."""
    if not isinstance(error, SourceError):
        return card, None
    folder = card.rpartition("/")[0]
    return (error.file if error.file == card or not folder else f"{folder}/{error.file}"), error.line
