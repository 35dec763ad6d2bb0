"""`verify` mode: registration and references; no secret is read, nothing is called, nothing is posted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalaction.cli.action.bases import opposed
from evalaction.cli.action.judge import expected_head, judged_of, provenance, refused
from evalaction.cli.action.judged import Judged
from evalaction.cli.references import passed, trials_of
from evalaction.engine.prepare import prepared_of
from evalaction.errors import EvalactionError, Outcome, UsageError
from evalaction.method.records import Break
from evalaction.method.report import Verdict
from evalaction.method.telling.summary import refusal_report
from evalaction.method.telling.words import count
from evalaction.registration.freeze import verify

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage
    from evalaction.registration.frozen import Frozen


def verified(stage: Stage, path: str) -> Judged:
    """A card that is what its commit holds, and whose references pass, ends with `registered`."""
    try:
        report = verify(stage.git.root / path, expected_head=expected_head(stage))
        prepared = prepared_of(report, opposed(stage, needed=False))
        tried = _tried(prepared.trial.judged, stage)
    except EvalactionError as error:
        return refused(stage, path, error, None, None)
    card, exam = prepared.card, prepared.exam
    where = replace(
        provenance(stage, path),
        commit=prepared.trial.judged.commit,
        card_sha256=prepared.frozen.card_sha256,
        exam_id=exam.sha256,
        question_digest=prepared.question_digest,
    )
    items = len(exam.items)
    shown = replace(
        refusal_report(UsageError(""), name=card.name, provenance=where, card=card, items=items),
        verdict=Verdict(outcome=Outcome.REGISTERED, earned=False, sign=0, half_signs=None, breaks=()),
        heading=(f"registered: {count(items, 'item')}, {count(len(prepared.arms), 'arm')}{tried}; nothing was drawn",),
    )
    return judged_of(shown, path=path, folder=None)


class _Unfit(UsageError):
    """An exam that its own references do not stand; every reason is a break."""

    def __init__(self, breaks: tuple[Break, ...]) -> None:
        super().__init__("The exam does not stand its own references.", code=breaks[0].code)
        self.breaks = breaks


def _tried(frozen: Frozen, stage: Stage) -> str:
    """What to add of the references, if there are any. Raises UsageError where one does not pass, or no box is to be had."""
    from evalaction.engine.references import complaints

    trials, rung = trials_of(frozen, twice=False, allow_unsafe=stage.settings.allow_unsafe)
    if breaks := tuple(Break(code, sentence) for code, sentence in complaints(trials)):
        raise _Unfit(breaks)
    said = passed(trials, rung)
    return f"; {said}" if said else ""
