"""`evalaction action`: what action.yml runs. Inputs and event in; comment, summary, annotations, outputs and exit code out."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evalaction.cli.action.early import tell_early
from evalaction.cli.action.judged import Judged
from evalaction.cli.action.log import Log
from evalaction.cli.action.stage import Stage, open_stage
from evalaction.errors import EvalactionError, Interrupted, UsageError
from evalaction.github import decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalaction.cli.action.thread import Thread
    from evalaction.cli.parser import Options
    from evalaction.cli.world import World

    Mode = Callable[[Stage, Thread | None], tuple[list[Judged], str]]

T = TypeVar("T")


def run(options: Options, world: World) -> int:  # noqa: ARG001  the action's inputs are variables
    log = Log(world)
    try:
        stage = open_stage(world, log)
    except EvalactionError as error:
        tell_early(world, log, error)
        raise
    with closing(stage):
        return _job(stage, world, log)


def _job(stage: Stage, world: World, log: Log) -> int:
    from evalaction.cli.action.show import tell

    thread: Thread | None = None
    first = ""
    try:
        decisions.check_redraw(stage.settings.redraw, stage.context)
        thread = _thread(stage)
        cards, first = _MODES[stage.settings.mode](stage, thread)
    except Interrupted as error:
        tell_early(world, log, error)  # nothing half is said: no comment, and the rows are on disk
        raise
    except EvalactionError as error:
        cards = [_whole(stage, error)]
    from evalaction.cli.action.nightly import follow

    cards, nights = follow(stage, cards, sure=not first)
    order = decisions.WORST_FIRST
    return tell(stage, sorted(cards, key=lambda card: (order.index(card.outcome), card.path)), thread, first, nights)


def _thread(stage: Stage) -> Thread | None:
    """Our comment, once it is known that this event may be judged at all."""
    from evalaction.cli.action.thread import open_thread

    if stage.settings.mode == "verify":
        return None
    if stage.settings.mode in {"run", "draw", "judge"}:
        _refuse_event(stage)
    return None if stage.settings.mode == "judge" else open_thread(stage)


def _run(stage: Stage, thread: Thread | None) -> tuple[list[Judged], str]:
    from evalaction.cli.action.bases import gone
    from evalaction.cli.action.judge import judge

    assert thread is not None
    cards = _in_turn(thread, _paths(stage), partial(judge, stage))
    return [*cards, *gone(stage, cards)], ""


def _in_turn(thread: Thread, cards: Iterable[T], judged: Callable[[T, Thread], Judged]) -> list[Judged]:
    """One card after another, each knowing what those before it were answered."""
    found: list[Judged] = []
    for card in cards:
        answered = tuple(one.record for one in found if one.record is not None)
        asked = {one.question_digest: one.path for one in found if one.unjudged and one.question_digest is not None}
        found.append(judged(card, replace(thread, drawn=answered, asked=asked)))
    return found


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


def _verified(stage: Stage, thread: Thread | None) -> tuple[list[Judged], str]:
    from evalaction.cli.action.verified import verified

    assert thread is None
    return [verified(stage, path) for path in _paths(stage)], ""


def _received(stage: Stage, thread: Thread | None) -> tuple[list[Judged], str]:
    from evalaction.cli.action.received import UNVERIFIED, judge_received, receive

    assert thread is not None
    cards, sure = receive(stage)
    return _in_turn(thread, cards, partial(judge_received, stage, verified=sure)), "" if sure else UNVERIFIED


def _judged(stage: Stage, thread: Thread | None) -> tuple[list[Judged], str]:
    from evalaction.cli.action.apart import judge_card, receive_drawn

    assert thread is None
    return [judge_card(stage, card) for card in receive_drawn(stage)], ""


_MODES: dict[str, Mode] = {
    "run": _run,
    "verify": _verified,
    "draw": _run,
    "judge": _judged,
    "report": _received,
}


def _paths(stage: Stage) -> Sequence[str]:
    from evalaction.github.cards import match_cards

    return match_cards(stage.settings.card, stage.git.files(stage.head))


def _whole(stage: Stage, error: EvalactionError) -> Judged:
    """A refusal of the whole job, as the one card that the comment shows."""
    from evalaction.cli.action.judge import refused

    return refused(stage, stage.settings.card[0], error, None, None)
