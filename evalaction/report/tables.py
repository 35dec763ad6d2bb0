"""Report → the tables that every renderer shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import ArmName, Quoted
from evalaction.method.report import (
    ArmReport,
    ColumnName,
    ColumnRates,
    CounterReport,
    DrawRates,
    HalfReport,
    HalfSide,
    LimitResult,
    Report,
)
from evalaction.report import figures
from evalaction.report.blocks import Table, Text

COLUMNS: tuple[ColumnName, ...] = ("reach", "contract", "check")
COLUMN_HEADS = ("reach", "contract ∣ reach", "check ∣ contract", "end to end")
AHEAD = {1: "treatment", 0: "neither", -1: "control"}
STATES = {"held": "✓ held", "breached": "✗ breached", "undecided": "? undecided"}
_PLACE = {
    "first_pass": "first",
    "first_drop": "first",
    "stable_pass": "stable",
    "stable_drop": "stable",
    "flip_rate": "flip",
    "flip_gain": "flip",
    "runner_error_items": "errors",
    "reach": "reach",
    "reach_gap": "reach",
    "contract": "contract",
    "check": "check",
}
"""Limit without `min_` or `max_` to the column of a table that shows it."""
_PLAIN_NUMBERS = {"max_runner_error_items": "items", "max_p95_ms": "ms", "max_counter": ""}


def bound_text(result: LimitResult, least: str = "at least", most: str = "at most") -> str:
    """`at least 80 %`, `gain at most 10 points`, `at most 3 items`"""
    side, _, what = result.limit.name.partition("_")
    words = least if side == "min" else most
    if result.limit.name in _PLAIN_NUMBERS:
        return f"{words} {result.limit.bound.text} {_PLAIN_NUMBERS[result.limit.name]}".rstrip()
    if result.limit.scope == "between":
        return f"{what.rpartition('_')[2]} {words} {figures.scaled(result.limit.bound)} points"
    return f"{words} {figures.scaled(result.limit.bound)} %"


def limit_words(result: LimitResult) -> str:
    """`treatment min_stable_pass`, `treatment max_counter tool_hops`"""
    return " ".join(part for part in (result.limit.scope, result.limit.name, result.limit.counter) if part)


def measured_text(result: LimitResult) -> str:
    """What the limit was held against."""
    match result.measured:
        case None:
            return figures.NA
        case Rate():
            return figures.rate(result.measured)
        case Bounded():
            return figures.bounded_percent(result.measured)
        case int():
            unit = _PLAIN_NUMBERS.get(result.limit.name, "")
            return f"{result.measured:,} {unit}".rstrip()
        case (low, high):
            return figures.points_between(low, high)


def _flags(limits: Iterable[LimitResult]) -> Mapping[tuple[ArmName, str], str]:
    """(arm, place in a table) to ` ✗ over 10 %` or ` ? at most 10 %`, for limits that are not held and are not of one tag."""
    flags: dict[tuple[ArmName, str], str] = {}
    for result in limits:
        place = _PLACE.get(result.limit.name.partition("_")[2])
        if result.state == "held" or result.limit.tag is not None or place is None:
            continue
        arm: ArmName = "control" if result.limit.scope == "control" else "treatment"
        text = f" ✗ {bound_text(result, 'under', 'over')}" if result.state == "breached" else f" ? {bound_text(result)}"
        flags[arm, place] = flags.get((arm, place), "") + text
    return flags


def columns(report: Report) -> Table:
    """A row per arm; the column that moved is marked in the treatment's row, with the pairs that moved it below."""
    errors = any(arm.columns.checker_errors for arm in report.arms)
    flags = _flags(report.limits)
    rows = []
    for arm in report.arms:
        cells = []
        for name, text in zip(COLUMNS, _column_cells(arm.columns), strict=True):
            moved = " ◀" if arm.arm == "treatment" and name == report.moved else ""
            cells.append(text + moved + flags.get((arm.arm, name), ""))
        cells.append(figures.rate(arm.columns.end_to_end))
        if errors:
            cells.append(str(arm.columns.checker_errors))
        rows.append(_row(arm.arm, *cells))
    if len(report.arms) > 1 and report.discordant:
        pairs = [report.discordant.get(name, (0, 0)) for name in COLUMNS]
        rows.append(_row("on first draws", *(f"{lost} lost, {gained} gained" for lost, gained in pairs), *([""] * (1 + errors))))
    return Table(("", *COLUMN_HEADS, *(["checker errors"] if errors else [])), tuple(rows))


def _column_cells(rates: ColumnRates) -> tuple[str, str, str]:
    return figures.rate(rates.reach), figures.rate(rates.contract), figures.rate(rates.check)


def _row(*cells: str) -> tuple[Text, ...]:
    return tuple((cell,) for cell in cells)


def draws(report: Report) -> Table:
    """A row per arm: first draw, stable pass, flip, items with runner errors; bounds where lost draws leave them open."""
    flags = _flags(report.limits)
    rows = []
    for arm in report.arms:
        cells = (*_draw_cells(arm.draws), str(arm.draws.runner_error_items))
        places = ("first", "stable", "flip", "errors")
        rows.append(_row(arm.arm, *(cell + flags.get((arm.arm, place), "") for cell, place in zip(cells, places, strict=True))))
    head = "one draw" if report.draws == 1 else f"{report.draws} draws"
    return Table((head, "first draw", "stable pass", "flip", "runner errors"), tuple(rows))


def _draw_cells(rates: DrawRates) -> tuple[str, str, str]:
    return figures.bounded(rates.first), figures.bounded(rates.stable), figures.bounded(rates.flip) if rates.flip else figures.NA


def halves(report: Report) -> Table:
    """A row per half; the paired column only where the items scored in both arms say something else."""
    paired = any(half.paired_sign != half.sign for half in report.halves)
    rows = [_half_row(half, paired) for half in report.halves]
    return Table(("half", "items", "control", "treatment", "gap", "ahead", *(["ahead, paired"] if paired else [])), tuple(rows))


def _half_row(half: HalfReport, paired: bool) -> tuple[Text, ...]:
    extra = [f"{AHEAD[half.paired_sign]} ({figures.count(half.paired_items, 'item')})"] if paired else []
    return _row(
        str(half.half), str(half.items), _side(half.control), _side(half.treatment), _gap(half.gap, half.lead_items),
        AHEAD[half.sign], *extra,
    )  # fmt: skip


def _side(side: HalfSide) -> str:
    text = figures.rate(Rate(side.passed, side.scored))
    return f"{text} ✗ {', '.join(side.reasons)}" if side.reasons else text


def _gap(gap: Fraction | None, lead: Fraction | None) -> str:
    text = figures.points(gap)
    return text if gap is None or lead is None else f"{text}, {figures.signed(lead)} items"


def by_tag(report: Report) -> Table:
    """A row per tag and arm."""
    rows = []
    for arm in report.arms:
        for tag in arm.by_tag:
            cells = (arm.arm, *_column_cells(tag.columns), *_draw_cells(tag.draws))
            rows.append((tag.tag, ((Quoted(tag.tag),), *_row(*cells))))
    rows.sort(key=lambda row: row[0])
    head = ("tag", "arm", *COLUMN_HEADS[:3], "first draw", "stable pass", "flip")
    return Table(head, tuple(row for _, row in rows))


def by_route(report: Report) -> Table:
    """A row per way and arm: the items whose endpoint another rule chooses apart from those that stay."""
    rows: list[tuple[Text, ...]] = []
    for group in report.routes:
        same = group.control == group.treatment
        way: Text = (Quoted(group.control), " in both") if same else (Quoted(group.control), " → ", Quoted(group.treatment))
        for arm in report.arms:
            columns, draws = group.arms[arm.arm]
            rows.append((way, *_row(str(group.items), arm.arm, *_column_cells(columns), *_draw_cells(draws))))
    return Table(("route", "items", "arm", *COLUMN_HEADS[:3], "first draw", "stable pass", "flip"), tuple(rows))


def limits(report: Report) -> Table:
    """A row per limit, those that did not hold first."""
    rank = {"breached": 0, "undecided": 1, "held": 2}
    rows = []
    for result in sorted(report.limits, key=lambda result: rank[result.state]):
        tag: Text = (" for ", Quoted(result.limit.tag)) if result.limit.tag is not None else ()
        state = STATES[result.state] + (", so already at base" if result.already_at_base else "")
        name: Text = (limit_words(result), *tag)
        rows.append((name, *_row(bound_text(result), measured_text(result), state)))
    return Table(("limit", "bound", "measured", "state"), tuple(rows))


def reasons(arms: tuple[ArmReport, ...]) -> Table:
    """Why draws failed: per arm and column the reasons with their counts."""
    rows: list[tuple[Text, ...]] = []
    for arm in arms:
        for column in COLUMNS:
            for reason, count in arm.reasons.get(column, ()):
                rows.append(((arm.arm,), (column,), (Quoted(reason),), (str(count),)))
    return Table(("arm", "column", "reason", "draws"), tuple(rows))


def costs(report: Report) -> Table:
    """A column per arm: latency, tokens, agreement between the draws of an item, what was asked and what answered."""
    arms = report.arms
    rows: list[tuple[Text, ...]] = [
        _row("p50", *(milliseconds(arm.p50_ms) for arm in arms)),
        _row("p95", *(milliseconds(arm.p95_ms) for arm in arms)),
        _row("tokens in", *(_told(arm.tokens_in) for arm in arms)),
        _row("tokens out", *(_told(arm.tokens_out) for arm in arms)),
    ]
    if report.draws > 1:
        rows.append(_row("items with the same text in all draws", *(_rate_or_na(arm.tar_raw) for arm in arms)))
        rows.append(_row("items with the same parsed value", *(_rate_or_na(arm.tar_parsed) for arm in arms)))
    rows.append((("endpoint",), *((Quoted(arm.endpoint),) for arm in arms)))
    rows.append((("model asked for",), *((Quoted(arm.model),) if arm.model else ("–",) for arm in arms)))
    if any(arm.served for arm in arms):
        rows.append((("model served",), *(_tally(arm.served) for arm in arms)))
    if any(arm.fingerprints for arm in arms):
        rows.append((("fingerprint",), *(_tally(arm.fingerprints) for arm in arms)))
    return Table(("", *(arm.arm for arm in arms)), (*rows, *_behind(arms)))


def _told(tokens: int) -> str:
    """A program, or a server that counts none, does not say how many there were: that is not 0."""
    return f"{tokens:,}" if tokens else "–"


def _behind(arms: tuple[ArmReport, ...]) -> list[tuple[Text, ...]]:
    """What lies behind the draws, where there is any: polls of jobs, attempts that a gateway admits, counters of traces."""
    rows: list[tuple[Text, ...]] = []
    if any(arm.polls for arm in arms):
        rows.append(_row("polls beside the submissions", *(f"{arm.polls:,}" for arm in arms)))
    if any(arm.retries for arm in arms):
        rows.append(_row("further attempts of a gateway", *(f"{arm.retries:,}" for arm in arms)))
    for name in dict.fromkeys(counter.name for arm in arms for counter in arm.counters):
        told = [next((one for one in arm.counters if one.name == name), None) for arm in arms]
        rows.append(((Quoted(name), " (least / median / most)"), *((_counter(one),) for one in told)))
    return rows


def _counter(counter: CounterReport | None) -> str:
    if counter is None:
        return "–"
    values = (counter.low, counter.median, counter.high)
    text = " / ".join(figures.number(value) for value in values if value is not None) or figures.NA
    return f"{text}, not in {figures.count(counter.missing, 'draw')}" if counter.missing else text


def _rate_or_na(value: Rate | None) -> str:
    return figures.NA if value is None else figures.rate(value)


def milliseconds(value: int | None) -> str:
    """`840 ms`; `n/a` where more than one draw in twenty never arrived, or none was drawn."""
    return figures.NA if value is None else figures.duration(value)


def _tally(pairs: tuple[tuple[str, int], ...], shown: int = 3) -> Text:
    text: list[str | Quoted] = []
    for name, count in pairs[:shown]:
        text += [", " if text else "", Quoted(name), f" ×{count:,}"]
    if len(pairs) > shown:
        text.append(f", {len(pairs) - shown:,} more")
    return tuple(text) if text else ("–",)


def first_columns(report: Report) -> Table:
    """The columns over draw 0 alone."""
    rows = [_row(arm.arm, *_column_cells(arm.first_columns), figures.rate(arm.first_columns.end_to_end)) for arm in report.arms]
    return Table(("first draws", *COLUMN_HEADS), tuple(rows))
