"""Issues of a scheduled run: one for each limit that is breached and for the drift alarm, closed when it holds again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalaction.engine.history.entry import limit_key
from evalaction.github.comment import author_of
from evalaction.github.issues import Breakage, Issue, Place, breakage_key, card_key, close, keep_open, open_issues
from evalaction.github.replies import Refused
from evalaction.method.judging.limits import LIMIT_NAMES, blames_the_model
from evalaction.method.records import Quoted, Sentence
from evalaction.method.series.places import card_folder
from evalaction.method.series.telling import beginning, drift_sentence
from evalaction.report.trend.markdown import inline, trend_markdown

if TYPE_CHECKING:
    from evalaction.cli.action.nightly import Night
    from evalaction.cli.action.stage import Stage

DRIFT = "drift"
_ROWS = 14


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """Something that may break, as this run found it."""

    name: str
    """`treatment:min_stable_pass…`, or `drift`: what the issue's key is made of (untrusted)."""
    word: str
    """For the title: a name of ours."""
    broken: bool | None
    """None: this run cannot say."""
    sentence: Sentence


def tend(stage: Stage, nights: Sequence[Night]) -> None:
    """Open, update and close; whatever GitHub refuses is a warning."""
    from evalaction.github.api import repo_path

    root = repo_path(stage.context.repository)
    if stage.api is None or root is None:
        stage.log.warn(("Issues need the input github-token; none is written.",), weight=50)
        return
    if not nights:
        return
    author = author_of(stage.api)
    if isinstance(author, Refused):
        stage.log.warn((author.sentence,), weight=50)
        return
    for night in nights:
        key = card_key(stage.context.workflow or "", stage.settings.comment_key, night.taken.entry.card)
        _of_card(stage, Place(api=stage.api, root=root, card=key, me=author.data), night)


def states_of(night: Night) -> Iterator[State]:
    """Every limit of the card and the drift alarm."""
    report, valid = night.card.report, night.taken.entry.valid
    for result in report.limits if report else ():
        name = result.limit.name
        about_reach = not blames_the_model(replace(result, state="breached"))
        speaks = result.state != "undecided" and (valid or about_reach)
        yield State(
            name=limit_key(result.limit),
            word=f"limit {name} is broken" if name in LIMIT_NAMES else "a limit is broken",
            broken=result.state == "breached" if speaks else None,
            sentence=result.sentence,
        )
    if night.trend is not None:
        begun = beginning(night.trend) or ()
        sentence = (*drift_sentence(night.trend.drift), *((" ", *begun) if begun else ()))
        yield State(name=DRIFT, word="drift alarm", broken=night.trend.alarm, sentence=sentence)


def _of_card(stage: Stage, place: Place, night: Night) -> None:
    ours = open_issues(place)
    if isinstance(ours, Refused):
        stage.log.warn((ours.sentence,), weight=50)
        return
    known = {breakage_key(state.name): state for state in states_of(night)}
    for key, state in known.items():
        if state.broken:
            _kept_open(stage, place, ours.data, _breakage(stage, night, key, state))
    for issue in ours.data:
        sentence = _ended(stage, night, issue, known.get(issue.breakage))
        if sentence is not None:
            _warned(stage, close(place, issue, sentence), "closed")


def _kept_open(stage: Stage, place: Place, ours: Sequence[Issue], breakage: Breakage) -> None:
    if stage.log.redactor().leaks(breakage.body.encode("utf-8", "replace")):
        stage.log.warn(("An issue would have held the value of a secret; it was not written.",), weight=60)
        return
    _warned(stage, keep_open(place, ours, breakage), "kept open")


def _warned(stage: Stage, outcome: object, done: str) -> None:
    if isinstance(outcome, Refused):
        stage.log.warn((outcome.sentence,), weight=50)
    else:
        stage.log.say((f"Issue {getattr(outcome, 'data', '')} is {done}.",))


def _ended(stage: Stage, night: Night, issue: Issue, state: State | None) -> str | None:
    """Why an issue is closed; None where it is not."""
    if state is None:
        if issue.breakage in {breakage_key(name) for name in (DRIFT, *night.taken.limits)}:
            return None  # without a history nothing is known of drift, and without rates nothing of limits
        return f"**This limit is no longer in the card.** {_where(stage, night)}"
    if state.broken is not False:
        return None
    anew = state.name == DRIFT and night.trend is not None and not night.trend.drift.nights
    said = "What it was about cannot be compared any more." if anew else "It holds again."
    return f"**{said}** {inline(state.sentence)} {_where(stage, night)}"


def _breakage(stage: Stage, night: Night, key: str, state: State) -> Breakage:
    entry = night.taken.entry
    card = card_folder(entry.card, entry.key).rpartition("-")[2]
    parts = [
        f"**{inline(state.sentence)}**",
        f"Card {inline((Quoted(entry.card),))}, {inline((Quoted(entry.name),))}. {_where(stage, night)}",
    ]
    if night.trend is not None:
        parts.append(trend_markdown(night.trend, rows=_ROWS))
    parts.append("<sub>Each run brings this issue up to date. It is closed by the run in which this holds again.</sub>")
    return Breakage(key=key, title=f"Nightly evaluation: {state.word} (card {card}, {key[:6]})", body="\n\n".join(parts) + "\n")


def _where(stage: Stage, night: Night) -> str:
    """Day, commit and run."""
    entry = night.taken.entry
    commit = f", commit {entry.commit[:12]}" if entry.commit else ""
    run = f", [run]({stage.context.run_url})" if stage.context.run_url else ""
    return f"{entry.day}{commit}{run}."
