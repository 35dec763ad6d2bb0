"""`judge` mode: the draws of another job, judged in a checkout of their commit. No secret is read, nothing called or posted."""

from __future__ import annotations

import traceback
from dataclasses import replace
from typing import TYPE_CHECKING

from evalaction.cli.action.artifact import Received, read_artifact
from evalaction.cli.action.bases import opposed
from evalaction.cli.action.judge import expected_head, judged_of, left_to, refused
from evalaction.cli.action.judged import Judged
from evalaction.cli.action.received import check_digests, source_of
from evalaction.cli.action.results import CARDS
from evalaction.cli.pipeline import judge_drawn
from evalaction.engine.folder import DRAWS, TEXTS, create, locked, write_whole
from evalaction.engine.judge import refuse_undrawn
from evalaction.engine.manifest import Manifest, read_manifest
from evalaction.engine.prepare import Prepared, prepared_of
from evalaction.errors import EvalactionError, Interrupted
from evalaction.method.records import Quoted
from evalaction.method.telling.words import listed
from evalaction.registration.freeze import verify

if TYPE_CHECKING:
    from pathlib import Path

    from evalaction.cli.action.stage import Stage

_ELSEWHERE = "Nothing was drawn for this card, so there is nothing to judge: the job that reports shows its earlier answer."


def receive_drawn(stage: Stage) -> tuple[Received, ...]:
    """The cards of the artifact, whose list is kept as it is. Raises as `receive` does."""
    create(stage.folder)
    data, cards = read_artifact(source_of(stage), stage.folder, (DRAWS, TEXTS))
    write_whole(stage.folder / CARDS, data)  # also of one that is refused: the job that reports says so too
    check_digests(stage, data, cards)
    return cards


def judge_card(stage: Stage, received: Received) -> Judged:
    """The outcome of one card; its folder goes on to the job that reports, whatever came of it. Raises Interrupted."""
    try:
        found = _judged(stage, received)
    except Interrupted:
        raise
    except EvalactionError as error:
        found = refused(stage, received.card, error, None, None)
    except Exception as error:  # noqa: BLE001  a bug met by one card must not take the others' verdicts away
        stage.log.block(traceback.format_exc())
        bug = EvalactionError(f"An internal error, which is a bug of ours: {type(error).__name__}; the log has more.")
        found = refused(stage, received.card, bug, None, None)
    return replace(found, folder=received.folder)


def _judged(stage: Stage, received: Received) -> Judged:
    received.refuse()
    if received.folder is None:
        return left_to(stage, received.card, _ELSEWHERE, received.question_digest)
    manifest = read_manifest(received.folder)
    if manifest.ended is not None:
        return _settled(received, received.folder)
    refuse_undrawn(manifest, received.folder)
    prepared = _prepared(stage, received, manifest)
    stage.log.say((Quoted(received.card), f": {prepared.planned:,} draws to judge"))
    report = judge_drawn(prepared, received.folder, stage.world, quiet=False, allow_unsafe=stage.settings.allow_unsafe)
    said = received.said if stage.asked_digest is not None else ()
    return judged_of(report, path=received.card, folder=received.folder, callouts=said)


def _settled(received: Received, folder: Path) -> Judged:
    """A card that was refused, or answered, before a draw."""
    from evalaction.engine.derive import derive

    with locked(folder):
        report = derive(folder)
    return judged_of(report, path=received.card, folder=folder)


def _prepared(stage: Stage, received: Received, manifest: Manifest) -> Prepared:
    """The question as the checkout has it; whose question it is, the drawing says. Raises as `verify` and `prepared_of` do."""
    from evalaction.endpoints import secrets_of

    asking = replace(stage, settings=replace(stage.settings, question=manifest.question or "base"))
    prepared = prepared_of(verify(stage.git.root / received.card, expected_head=expected_head(stage)), opposed(asking))
    secrets = secrets_of(prepared.named, stage.world.environ)
    stage.log.mask(secrets)
    if secrets:
        stage.log.warn((f"Judging needs no secret; take {listed(sorted(secrets))} out of this job.",), weight=60)
    return prepared
