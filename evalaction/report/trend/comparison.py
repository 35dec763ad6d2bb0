"""Two runs paired item by item, as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.canonical import Json
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import Quoted, Sentence
from evalaction.method.report import Pair
from evalaction.method.series.comparison import AcrossK, Compared, PassHatK, Rates
from evalaction.method.series.trend import Measured
from evalaction.method.telling.words import count
from evalaction.report.figures import percent
from evalaction.report.trend.cells import LEGEND, NONE, between, measured
from evalaction.report.trend.markdown import inline, table
from evalaction.report.trend.text import plain

MOST_PAIRS = 50
_KINDS = {
    "lost": "lost: passed in the first draw then, fails now",
    "gained": "gained: failed in the first draw then, passes now",
    "broke": "broke: passed every draw then, not now",
    "steadied": "steadied: passes every draw now, not then",
}
DAYS: Sentence = ("The runs were drawn at different times: what moved between them may be the day and not the change.",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A comparison with what its runs are called."""

    name: str
    """Of the card (untrusted)."""
    then: str
    """Day and commit (untrusted, like `now`)."""
    now: str
    titles: tuple[str, ...]
    arms: tuple[Compared | AcrossK, ...]


def comparison_text(shown: Shown) -> str:
    from tabulate import tabulate

    def grid(head: Sequence[str], rows: Sequence[Sequence[Sentence]]) -> str:
        cells = [[plain(cell) for cell in row] for row in rows]
        return tabulate(cells, headers=head, tablefmt="plain", disable_numparse=True)

    return "\n\n".join(_parts(shown, plain, grid, "")) + "\n"


def comparison_markdown(shown: Shown) -> str:
    return "\n\n".join(_parts(shown, inline, table, "## ")) + "\n"


Grid = Callable[[Sequence[str], Sequence[Sequence[Sentence]]], str]


def _parts(shown: Shown, told: Callable[[Sentence], str], grid: Grid, mark: str) -> Iterator[str]:
    titles = "".join(f"{title} · " for title in shown.titles)
    yield mark + told((titles, Quoted(shown.name), ": ", Quoted(shown.then), " beside ", Quoted(shown.now)))
    yield told(DAYS)
    for arm in shown.arms:
        yield from _across(arm, told, grid) if isinstance(arm, AcrossK) else _paired(arm, told, grid)
    if any(isinstance(arm, Compared) and arm.pairs for arm in shown.arms):
        yield told(("A letter a draw: p pass, k check, c contract, u unreached, e checker error.",))
    yield told((LEGEND[0],))


def _across(arm: AcrossK, told: Callable[[Sentence], str], grid: Grid) -> Iterator[str]:
    yield told(
        (f"{arm.arm}: {arm.draws[0]} and {arm.draws[1]} draws an item. Runs of different K compare only through pass^{arm.k}.",)
    )
    rows: list[Sequence[Sentence]] = [((name,), (_pass_hat(one),)) for name, one in (("then", arm.then), ("now", arm.now))]
    yield grid((f"{arm.items} items", f"pass^{arm.k}"), rows)


def _pass_hat(value: PassHatK) -> str:
    low, high = percent(value.low), percent(value.high)
    return f"{low if low == high else f'{low} to {high}'} {between(value.interval)}"


def _paired(arm: Compared, told: Callable[[Sentence], str], grid: Grid) -> Iterator[str]:
    names = ("first draw", "stable pass", "flip", "reach")
    rows = [((side,), *((measured(value),) for value in _rates(rates))) for side, rates in (("then", arm.then), ("now", arm.now))]
    yield grid((f"{arm.arm}, {count(arm.items, 'item')}", *names), rows)
    moved = f" The {arm.moved} column moved." if arm.moved else ""
    yield told(
        (
            f"{count(arm.lost, 'item')} lost and {arm.gained:,} gained in the first draw; McNemar exact p {_p(arm.exact_p)}, "
            f"mid-p {_p(arm.mid_p)}.{moved}",
        )
    )
    for kind, words in _KINDS.items():
        found = [pair for pair in arm.pairs if pair.kind == kind]
        if found:
            more = f" ({len(found) - MOST_PAIRS:,} more are not listed)" if len(found) > MOST_PAIRS else ""
            yield told((f"{count(len(found), 'item')} {words}{more}",))
            yield grid(("item", "then", "now", "column", "reason"), [_pair(pair) for pair in found[:MOST_PAIRS]])


def _rates(rates: Rates) -> tuple[Measured | None, ...]:
    return rates.first, rates.stable, rates.flip, rates.reach


def _pair(pair: Pair) -> tuple[Sentence, ...]:
    reason: Sentence = (Quoted(pair.reason),) if pair.reason else (NONE,)
    return (Quoted(pair.item),), (pair.control,), (pair.treatment,), (pair.column,), reason


def _p(value: Fraction) -> str:
    return f"{float(value):.4f}" if value >= Fraction(1, 10_000) else "under 0.0001"


def comparison_json(shown: Shown) -> Json:
    return {
        "name": shown.name,
        "then": shown.then,
        "now": shown.now,
        "titles": list(shown.titles),
        "arms": [_across_json(arm) if isinstance(arm, AcrossK) else _paired_json(arm) for arm in shown.arms],
    }


def _across_json(arm: AcrossK) -> Json:
    return {"arm": arm.arm, "items": arm.items, "draws": list(arm.draws), "k": arm.k} | {
        name: {"low": str(one.low), "high": str(one.high), "interval": [one.interval.low, one.interval.high]}
        for name, one in (("then", arm.then), ("now", arm.now))
    }


def _paired_json(arm: Compared) -> Json:
    sides: Mapping[str, Rates] = {"then": arm.then, "now": arm.now}
    return {
        "arm": arm.arm,
        "items": arm.items,
        **{
            side: dict(zip(("first", "stable", "flip", "reach"), map(_count, _rates(rates)), strict=True))
            for side, rates in sides.items()
        },
        "lost": arm.lost,
        "gained": arm.gained,
        "mcnemar_exact_p": str(arm.exact_p),
        "mcnemar_mid_p": str(arm.mid_p),
        "moved": arm.moved,
        "discordant": {column: list(pair) for column, pair in arm.discordant.items()},
        "pairs": [
            {
                "kind": pair.kind,
                "item": pair.item,
                "then": pair.control,
                "now": pair.treatment,
                "column": pair.column,
                "reason": pair.reason,
            }
            for pair in arm.pairs
        ],
    }


def _count(value: Measured | None) -> Json:
    match value.count if value else None:
        case Rate(hits, total):
            return [hits, total]
        case Bounded(low, high, total):
            return [low, high, total]
        case _:
            return None
