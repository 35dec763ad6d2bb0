"""`evalaction action`: what action.yml runs. Inputs and event in; comment, summary, annotations, outputs and exit code out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalaction.cli.action.judged import Judged
from evalaction.cli.action.log import Log
from evalaction.cli.action.stage import Stage, open_stage
from evalaction.errors import EvalactionError, Outcome, UsageError
from evalaction.github import decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalaction.cli.action.thread import Thread
    from evalaction.cli.parser import Options
    from evalaction.cli.world import World


def run(options: Options, world: World) -> int:  # noqa: ARG001  the action's inputs are variables
    log = Log(world)
    try:
        stage = open_stage(world, log)
    except EvalactionError as error:
        log.fail(error)
        raise
    from evalaction.cli.action.show import tell

    thread = first = None
    try:
        decisions.check_redraw(stage.settings.redraw, stage.context)
        cards, thread, first = _cards(stage)
    except EvalactionError as error:
        if error.outcome is Outcome.INTERRUPTED:
            raise  # nothing half is said: the rows are on disk
        cards = [_whole(stage, error)]
    return tell(stage, cards, thread, first)


def _cards(stage: Stage) -> tuple[list[Judged], Thread | None, str]:
    """Every card's result, worst first, our comment, and a sentence that goes above all."""
    if stage.settings.mode == "verify":
        cards, thread, first = _verified(stage), None, ""
    elif stage.settings.mode == "report":
        cards, thread, first = _received(stage)
    else:
        cards, thread, first = *_run(stage), ""
    order = decisions.WORST_FIRST
    return sorted(cards, key=lambda card: (order.index(card.outcome), card.path)), thread, first


def _run(stage: Stage) -> tuple[list[Judged], Thread]:
    from evalaction.cli.action.judge import judge
    from evalaction.cli.action.thread import open_thread

    _refuse_event(stage)
    paths = _paths(stage)
    thread = open_thread(stage)
    return [judge(stage, path, thread) for path in paths], thread


def _refuse_event(stage: Stage) -> None:
    """What must not be judged here at all."""
    decisions.check_event("run", stage.context, stage.head.oid)
    if stage.asked_number is not None or stage.asked_sha is not None:
        from evalaction.cli.action.fork import check_head

        if stage.context.sha != stage.head.oid:
            raise UsageError(
                "To judge a pull request of a fork, check out base: remove `ref:` at actions/checkout.", code="event"
            )
        check_head(stage)
    elif stage.context.kind == "pull_request_target":
        raise UsageError(
            "On pull_request_target only a pull request that a maintainer has just labeled is judged; use `types: [labeled]`, "
            "or pull_request.",
            code="event",
        )


def _verified(stage: Stage) -> list[Judged]:
    from evalaction.cli.action.verified import verified

    return [verified(stage, path) for path in _paths(stage)]


def _received(stage: Stage) -> tuple[list[Judged], Thread, str]:
    from evalaction.cli.action.received import UNVERIFIED, judge_received, receive
    from evalaction.cli.action.thread import open_thread

    thread = open_thread(stage)
    cards, sure = receive(stage)
    found = [judge_received(stage, card, thread, verified=sure) for card in cards]
    return found, thread, "" if sure else UNVERIFIED


def _paths(stage: Stage) -> Sequence[str]:
    from evalaction.github.cards import match_cards

    return match_cards(stage.settings.card, stage.git.files(stage.head))


def _whole(stage: Stage, error: EvalactionError) -> Judged:
    """A refusal of the whole job, as the one card that the comment shows."""
    from evalaction.cli.action.judge import refused

    return refused(stage, stage.settings.card[0], error, None, None)
