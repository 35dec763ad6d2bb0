"""What a run adds to the history, and what the history says of it. Whatever fails here is a warning, never another verdict."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalaction.cli.action.pieces import with_callouts
from evalaction.errors import EvalactionError
from evalaction.github.replies import Refused
from evalaction.method.canonical import digest
from evalaction.method.records import Quoted
from evalaction.method.series.entry import RECORDED
from evalaction.method.series.entry_json import entry_bytes, read_entry
from evalaction.method.series.places import ENTRY, TABLE, place_of
from evalaction.method.series.telling import beginning, drift_sentence
from evalaction.method.series.trend import Trend, trend_of

if TYPE_CHECKING:
    from evalaction.cli.action.judged import Judged
    from evalaction.cli.action.stage import Stage
    from evalaction.engine.history.entry import Taken
    from evalaction.github.history import Branch, Tip

_EVENTS = frozenset({"schedule", "push", "workflow_dispatch"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Night:
    """One card of this job with its place in the history."""

    card: Judged
    taken: Taken
    trend: Trend | None
    """None: there is no history, or it could not be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Nights:
    """All cards of this job that were drawn, and where their history lies."""

    nights: tuple[Night, ...] = ()
    branch: Branch | None = None

    @property
    def trends(self) -> tuple[Trend, ...]:
        return tuple(night.trend for night in self.nights if night.trend)


def follow(stage: Stage, cards: Sequence[Judged], *, sure: bool) -> tuple[list[Judged], Nights]:
    """The cards with what their history says among the callouts. Nothing is written yet.

    `sure`: the rows are this job's own, or those that the drawing job handed over.
    """
    settings = stage.settings
    if settings.history is None and not settings.issue_on_breakage:
        return list(cards), Nights()
    if not sure or not _of_default_branch(stage):
        stage.log.say(("History and issues are for schedule, push and dispatch of the default branch; this run adds nothing.",))
        return list(cards), Nights()
    try:
        return _followed(stage, cards)
    except Exception:  # noqa: BLE001  a bug met on the way must not take the verdicts away
        _bug(stage)
        return list(cards), Nights()


def _followed(stage: Stage, cards: Sequence[Judged]) -> tuple[list[Judged], Nights]:
    found = _branch(stage) if stage.settings.history is not None else None
    shown, nights = [], []
    for card in cards:
        night = _night(stage, card, found)
        if night is not None:
            nights.append(night)
        shown.append(_told(stage, card, night.trend if night else None))
    return shown, Nights(nights=tuple(nights), branch=found[0] if found else None)


def remember(stage: Stage, nights: Nights) -> None:
    """Add each run to the branch, and bring the issues up to date."""
    try:
        _remembered(stage, nights)
    except Exception:  # noqa: BLE001  as above
        _bug(stage)


def _remembered(stage: Stage, nights: Nights) -> None:
    if nights.branch is not None:
        for night in nights.nights:
            _append(stage, nights.branch, night)
    if stage.settings.issue_on_breakage and stage.context.kind in {"schedule", "workflow_dispatch"}:
        from evalaction.cli.action.breakages import tend

        tend(stage, nights.nights)


def _bug(stage: Stage) -> None:
    stage.log.block(traceback.format_exc())
    stage.log.warn(("An internal error, which is a bug of ours, kept the history or an issue from being written.",), weight=60)


def _of_default_branch(stage: Stage) -> bool:
    context = stage.context
    default = context.default_branch
    here = context.kind in _EVENTS and default is not None and context.ref == f"refs/heads/{default}"
    return here and stage.settings.mode in {"run", "report"} and stage.asked_number is None and stage.asked_sha is None


def _branch(stage: Stage) -> tuple[Branch, Tip] | None:
    from evalaction.github.history import find_branch, look

    if stage.api is None:
        stage.log.warn(("The history needs the input github-token; nothing is read or written.",), weight=50)
        return None
    branch = find_branch(stage.api, stage.context.repository, stage.settings.history or "")
    tip = branch if isinstance(branch, Refused) else look(branch.data)
    if isinstance(branch, Refused) or isinstance(tip, Refused):
        refused = branch if isinstance(branch, Refused) else tip
        stage.log.warn((refused.sentence,), weight=50)  # type: ignore[union-attr]  # one of the two was refused
        return None
    return branch.data, tip.data


def _night(stage: Stage, card: Judged, found: tuple[Branch, Tip] | None) -> Night | None:
    """None for a card that was not drawn now."""
    from evalaction.engine.history.entry import take

    if card.report is None or card.folder is None or card.reused or card.outcome not in RECORDED:
        return None
    try:
        taken = take(card.folder, run=_run_name(stage), key=stage.settings.comment_key, report=card.report)
        read_entry(entry_bytes(taken.entry), path=place_of(taken.entry).path)  # what is written can be read back
    except EvalactionError as error:
        stage.log.warn((Quoted(card.path), ": no history is kept of this run: ", Quoted(error.sentence)))
        return None
    return Night(card=card, taken=taken, trend=_trend(stage, taken, *found) if found else None)


def _trend(stage: Stage, taken: Taken, branch: Branch, tip: Tip) -> Trend | None:
    from evalaction.github.history import read

    place = place_of(taken.entry)
    past = read(branch, tip, card=place.card, series=place.series)
    if isinstance(past, Refused):
        stage.log.warn((past.sentence,), weight=50)
        return None
    earlier = [entry for entry in past.data.entries if entry.run != taken.entry.run]
    return trend_of([*earlier, taken.entry], left_out=past.data.left_out, damaged=past.data.damaged)


def _told(stage: Stage, card: Judged, trend: Trend | None) -> Judged:
    if trend is None:
        return card
    said = drift_sentence(trend.drift)
    if trend.alarm:
        stage.log.warn((Quoted(card.path), ": ", *said), weight=70)
    begun = beginning(trend) if len(trend.points) == 1 else None  # afterwards it stands with the trend alone
    lines = (said, begun) if begun else (said,)
    return replace(card, document=with_callouts(card.document, lines))


def _append(stage: Stage, branch: Branch, night: Night) -> None:
    from evalaction.github.history import append

    entry, place = night.taken.entry, place_of(night.taken.entry)
    files = {f"{place.folder}/{TABLE}": night.taken.table} if night.taken.table is not None else {}
    files = {**files, f"{place.folder}/{ENTRY}": entry_bytes(entry)}
    if any(stage.log.redactor().leaks(data) for data in files.values() if data):
        stage.log.warn(("The history would have held the value of a secret; nothing was added.",), weight=60)
        return
    message = f"Add a run of {entry.day} (card {place.card.rpartition('-')[2]})"
    added = append(branch, {path: data for path, data in files.items() if data is not None}, message=message)
    if isinstance(added, Refused):
        stage.log.warn((added.sentence,), weight=50)
        return
    stage.log.say((f"History: {place.folder} on the branch ", Quoted(branch.name), f", commit {added.data[:12]}."))


def _run_name(stage: Stage) -> str | None:
    """Of this job, leg and attempt."""
    context = stage.context
    if context.run_id is None:
        return None
    leg = digest([context.job or "", stage.world.environ.get("EVALACTION_LEG", "")])[:6]
    return f"{context.run_id}-{context.run_attempt}-{leg}"
