"""The end of a job, in this order: files, comment, status, summary, log, annotations, outputs, exit code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.cli.action.annotations import annotations_of
from evalaction.cli.action.early import append
from evalaction.cli.action.judge import provenance
from evalaction.cli.action.judged import Judged
from evalaction.cli.action.nightly import Nights, remember
from evalaction.cli.action.results import CARDS, JUDGED, digest_of, outputs_of, write_cards
from evalaction.cli.action.status import set_status
from evalaction.cli.action.thread import Thread, write
from evalaction.errors import EvalactionError, UsageError
from evalaction.github.decisions import exit_code
from evalaction.github.files import output_file, summary_file
from evalaction.github.marker import marker
from evalaction.github.shown import keep_lines
from evalaction.method.records import Quoted
from evalaction.method.telling.summary import refusal_report
from evalaction.method.telling.words import count
from evalaction.report.layout import document
from evalaction.report.markdown import comment_of, summary_of
from evalaction.report.outputs import outputs
from evalaction.report.text import render_text
from evalaction.report.trend.markdown import trend_markdown

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage


def tell(stage: Stage, cards: Sequence[Judged], thread: Thread | None, first: str, nights: Nights | None = None) -> int:
    """Say everything, wherever it can be said, and return the exit code. `first` goes above all sections."""
    nights = nights or Nights()
    listed = JUDGED if stage.settings.mode == "judge" else CARDS
    body = comment_of([card.document for card in cards], first=first)
    leaks = sorted(
        {name for text in (body, *_texts(cards)) for name in stage.log.redactor().leaks(text.encode("utf-8", "replace"))}
    )
    if leaks:
        cards, nights = [_leaked(stage, card, leaks) for card in cards[:1]], Nights()
        body = comment_of([card.document for card in cards], first=first)
    try:
        write_cards(stage.folder, cards, body, name=listed)
    except UsageError as error:
        stage.log.warn((Quoted(error.sentence),))
    counted = [card.outcome for card in cards if not card.skipped]
    code = exit_code(counted, stage.settings.fail_on) if counted else 0
    url = _comment(stage, cards, thread, first, remember=not leaks)
    if stage.asked_sha is not None and thread is not None and thread.pull is not None:
        set_status(stage, cards[0].outcome, fails=code != 0)
    _summary(stage, cards, first, nights)
    remember(stage, nights)
    _log(stage, cards)
    stage.log.annotations += annotations_of(cards, stage.settings.fail_on)
    found = outputs_of(cards, folder=stage.folder, comment_url=url, rows=digest_of(stage.folder, cards), listed=listed)
    addition = output_file(found, stage.log.secrets)
    for warning in addition.warnings:
        stage.log.warn(warning)
    append(stage.world, stage.log, "GITHUB_OUTPUT", addition.data)
    stage.log.annotate()
    return code


def _comment(stage: Stage, cards: Sequence[Judged], thread: Thread | None, above: str, *, remember: bool) -> str | None:
    if thread is None or thread.pull is None or not stage.settings.comment:
        return None
    documents = [card.document for card in cards]

    def body(held: Sequence[str] = ()) -> str:
        line = thread.hidden(cards, remember=remember, held=held).line
        return comment_of(documents, marker=marker(thread.key), first=above, tail=line)

    if forgotten := thread.hidden(cards, remember=remember).forgotten:
        stage.log.warn((f"The comment has no room for the {count(forgotten, 'oldest answer')}; they would be drawn again.",))
    if stage.log.redactor().leaks(body().encode("utf-8", "replace")):
        stage.log.warn(("The comment would have held the value of a secret; it was not written.",), weight=60)
        return None
    return write(stage, thread, body)


def _texts(cards: Sequence[Judged]) -> list[str]:
    """What is shown, and what is kept of it uncut."""
    return [
        text
        for card in cards
        for text in (summary_of(card.document), json.dumps(keep_lines(card.said), ensure_ascii=False), *card.outputs.values())
    ]


def _leaked(stage: Stage, card: Judged, names: Sequence[str]) -> Judged:
    """In the place of everything: that nothing is shown, and which secret it was."""
    error = EvalactionError(
        f"The value of a secret ({', '.join(names)}) stood in the report; it was taken away. Use a longer key that is no word.",
        code="secret_found",
    )
    report = refusal_report(error, name="evalaction", provenance=provenance(stage, card.path))
    return replace(
        card, outcome=error.outcome, document=document(report), outputs=outputs(report), report=report, folder=None, record=None,
        said=(),
    )  # fmt: skip


def _summary(stage: Stage, cards: Sequence[Judged], above: str, nights: Nights) -> None:
    path = stage.world.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        already = Path(path).stat().st_size
    except OSError:
        already = 0
    documents = [partial(summary_of, card.document) for card in cards]
    leaks = stage.log.redactor().leaks
    trends = [text for text in map(trend_markdown, nights.trends) if not leaks(text.encode("utf-8", "replace"))]
    documents += [partial(_whole, text) for text in trends]
    addition = summary_file([*([lambda _: f"> **{above}**\n"] if above else []), *documents], already=already)
    for warning in addition.warnings:
        stage.log.warn(warning)
    append(stage.world, stage.log, "GITHUB_STEP_SUMMARY", addition.data)


def _whole(text: str, _room: int) -> str:
    return text


def _log(stage: Stage, cards: Sequence[Judged]) -> None:
    """Headline and tables of each card; nothing of them is taken for a command."""
    for card in cards:
        if card.report is not None:
            stage.log.block(render_text(card.report, encoding="utf-8", colour=False))
        else:
            stage.log.say((Quoted(card.path), f": {card.outcome.value}, as answered before; nothing was drawn."))
        if card.folder is not None:
            stage.log.say(("Run folder: ", Quoted(str(card.folder))))
