"""Report → Document: the order of the comment, the same for every medium.

Mark and heading, breaks, what to do, callouts, columns, draws, halves, what moved, by tag, limits, reasons, costs, footer.
"""

from __future__ import annotations

import re
from collections import Counter

from evalaction.errors import Outcome
from evalaction.method.records import Quoted, Sentence
from evalaction.method.report import Change, FalseAlarm, MarginBound, Report
from evalaction.report import figures, moved, tables
from evalaction.report.blocks import Block, Bullets, Document, Fold, Link, Listing, Paragraph, Section, Table, Text

_MARKS = {
    Outcome.PASS: "pass",
    Outcome.UNCHANGED: "neutral",
    Outcome.REGISTERED: "neutral",
    Outcome.FAIL: "fail",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.UNREACHABLE: "unreachable",
    Outcome.NOT_RUN: "stopped",
    Outcome.INTERRUPTED: "stopped",
    Outcome.USAGE: "refused",
    Outcome.UNREGISTERED: "refused",
    Outcome.INTERNAL: "refused",
}
_NOT_A_RESULT = {"NOT RUN", "SYNTHETIC", "REHEARSAL"}
_METRICS = {"first": "first draw", "mean": "all draws", "stable": "stable pass"}
_VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){1,3}((a|b|rc|\.dev|\.post)\d{1,4})?", re.ASCII)
_RUN_URL = re.compile(r"https://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9_.-]+)+", re.ASCII)


def mark_of(report: Report) -> str:
    """The mark of the heading. What was not gated, or drawn from a script, uncommitted or not at all, never looks passed."""
    mark = _MARKS[report.verdict.outcome]
    if mark == "pass" and (not report.gated or _NOT_A_RESULT.intersection(report.titles)):
        return "neutral"
    return mark


def titles_of(report: Report) -> tuple[str, ...]:
    return tuple(f"SMALL (n={report.items})" if title == "SMALL" else title for title in report.titles)


def document(report: Report) -> Document:
    drawn = [
        Section("columns", (tables.columns(report),)),
        Section("draws", (tables.draws(report),)),
        Section("halves", _halves(report)),
        Section("moved", _moved(report)),
        Section("routes", _fold("By route", _elsewhere(len(report.rerouted)), tables.by_route(report))),
        Section("tags", _fold("By tag", "", tables.by_tag(report))),
        Section("limits", _fold("Limits", _limit_counts(report), tables.limits(report))),
        Section("reasons", _fold("Reasons", "", tables.reasons(report.arms))),
        Section("costs", _costs(report)),
        Section("diffs", tuple(_diff(change) for change in report.changes if change.diff)),
    ]
    sections = [
        Section("breaks", _breaks(report)),
        Section("todo", (Paragraph(report.todo, lead="What to do."),) if report.todo else ()),
        Section("callouts", (Bullets(report.callouts, callout=True),) if report.callouts else ()),
        Section("changed", (Paragraph(report.changed, lead="What changed."),) if report.changed else ()),
        *(drawn if report.arms else []),
    ]
    return Document(
        titles=titles_of(report),
        mark=mark_of(report),
        name=report.name,
        heading=report.heading,
        sections=tuple(section for section in sections if section.blocks),
        footer=_footer(report),
        last_words=_last_words(report),
    )


def _breaks(report: Report) -> tuple[Block, ...]:
    lines = [entry.sentence for entry in report.verdict.breaks]
    notes: list[Sentence] = [("Note: ", *entry.sentence) for entry in report.verdict.notes]
    found = tuple(lines + notes)
    if not found:
        return ()
    return (Paragraph(found[0]),) if len(found) == 1 else (Bullets(found),)


def _halves(report: Report) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if report.halves:
        metric = _METRICS.get(report.metric or "", report.metric or "")
        table = tables.halves(report)
        blocks.append(Table((f"half, {metric}" if metric else "half", *table.head[1:]), table.rows))
    if report.verdict.bound:
        blocks.append(Paragraph((bound_sentence(report.verdict.bound),)))
    if report.verdict.earned and report.verdict.false_alarm:
        blocks.append(Paragraph((chance_sentence(report.verdict.false_alarm),)))
    return tuple(blocks)


def bound_sentence(bound: MarginBound) -> str:
    """The bound behind `not_behind`, beside the margin it is held against."""
    lower, margin = figures.lower_bound(bound)
    shown = f"Lower bound {lower} points (one-sided 95 %, all {bound.items} items); margin {figures.MINUS}{margin} points."
    if bound.missed is None:
        return shown
    return (
        f"{shown} A run of this size and spread would miss a loss of {figures.points_up(bound.missed)} points one time in five."
    )


def chance_sentence(found: FalseAlarm) -> str:
    """How often an earned sign means nothing."""
    passes, shared = figures.share(found.pass_rate), f"{found.shared:.2f}"
    rate = figures.share(found.rate)
    return (
        f"Two identical arms would earn a sign in {rate} of runs of this size "
        f"(draws pass {passes} of the time, correlation between the arms {shared})."
    )


def _fold(title: str, detail: str, table: Table) -> tuple[Block, ...]:
    return (Fold(title, detail, (table,)),) if table.rows else ()


def _moved(report: Report) -> tuple[Block, ...]:
    return _fold("What moved" if len(report.arms) > 1 else "What flipped", moved.counts(report), moved.table(report))


def _diff(change: Change) -> Fold:
    return Fold("Changed file", "", (Paragraph((Quoted(change.name),)), Listing(change.diff)))


def _elsewhere(items: int) -> str:
    return "1 item goes another way" if items == 1 else f"{items:,} items go another way"


def _limit_counts(report: Report) -> str:
    states = Counter(result.state for result in report.limits)
    return ", ".join(f"{states[state]} {state}" for state in ("breached", "undecided", "held") if states[state])


def _costs(report: Report) -> tuple[Block, ...]:
    blocks: tuple[Block, ...] = (tables.costs(report),)
    if report.draws > 1:
        blocks = (tables.first_columns(report), *blocks)
    return (Fold("First draws, latency, tokens, models" if report.draws > 1 else "Latency, tokens, models", "", blocks),)


def _footer(report: Report) -> tuple[Text, ...]:
    source = report.provenance
    outcome = report.verdict.outcome
    parts: list[Text] = [(f"outcome {outcome.value} (exit {outcome.exit_code})",)]
    if report.verdict.breaks:
        parts.append(_listed("breaks ", [entry.code for entry in report.verdict.breaks], shown=12))
    parts.append(_named("card", source.card_path))
    for label, value in (("commit", source.commit), ("base", source.base)):
        if value:
            parts.append(_named(label, value[:12]))
    for label, value in (("question", source.question_digest), ("exam", source.exam_id), ("rows", source.rows_sha256)):
        if value:
            parts.append(_named(label, value[:12]))
    if report.arms or report.counts.planned:
        parts.append((f"{figures.count(report.items, 'item')} × {figures.count(report.draws, 'draw')}",))
        counts = report.counts
        parts.append((f"calls planned {counts.planned:,}, sent {counts.sent:,}, written {counts.written:,}",))
    if source.duration_ms is not None:
        parts.append((figures.duration(source.duration_ms),))
    if report.arms:
        parts.append(_listed("endpoints ", list(dict.fromkeys(arm.endpoint for arm in report.arms))))
    for label, pairs in (("runner", source.runner), ("inputs", source.inputs), ("record", source.record)):
        if pairs:
            parts.append(_listed(f"{label} ", [f"{key}={value}" for key, value in pairs.items()]))
    parts.append(
        (f"evalaction {source.tool_version}",)
        if _VERSION.fullmatch(source.tool_version)
        else _named("evalaction", source.tool_version)
    )
    if source.run_url:
        known = _RUN_URL.fullmatch(source.run_url)
        parts.append((Link("run and artifact", source.run_url),) if known else _named("run", source.run_url))
    return tuple(parts)


def _named(label: str, value: str) -> Text:
    return (f"{label} ", Quoted(value))


def _listed(label: str, values: list[str], shown: int = 20) -> Text:
    text: list[str | Quoted] = [label]
    for number, value in enumerate(values[:shown]):
        text += [", " if number else "", Quoted(value)]
    if len(values) > shown:
        text.append(f", {len(values) - shown:,} more")
    return tuple(text)


def _last_words(report: Report) -> str:
    if not report.arms:
        return "Nothing was measured."
    day = (report.provenance.started_at or "")[:10]
    when = f"on {day}" if re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.ASCII) else "on that day"
    these = "this item" if report.items == 1 else f"these {report.items:,} items"
    return f"Measured on {these}, with this checker, {when}. Not a ranking."
