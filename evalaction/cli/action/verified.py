"""`verify` mode: registration only; no secret is read, nothing is called, nothing is posted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalaction.cli.action.bases import opposed
from evalaction.cli.action.judge import expected_head, judged_of, provenance, refused
from evalaction.cli.action.judged import Judged
from evalaction.engine.prepare import prepared_of
from evalaction.errors import EvalactionError, Outcome, UsageError
from evalaction.method.report import Verdict
from evalaction.method.telling.summary import refusal_report
from evalaction.method.telling.words import count
from evalaction.registration.freeze import verify

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage


def verified(stage: Stage, path: str) -> Judged:
    """A card that is what its commit holds ends with `registered`."""
    try:
        prepared = prepared_of(verify(stage.git.root / path, expected_head=expected_head(stage)), opposed(stage, needed=False))
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
    report = replace(
        refusal_report(UsageError(""), name=card.name, provenance=where, card=card, items=items),
        verdict=Verdict(outcome=Outcome.REGISTERED, earned=False, sign=0, half_signs=None, breaks=()),
        heading=(f"registered: {count(items, 'item')}, {count(len(prepared.arms), 'arm')}; nothing was drawn",),
    )
    return judged_of(report, path=path, folder=None)
