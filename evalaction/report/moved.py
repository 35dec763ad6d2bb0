"""What moved, one row an item: lost, broke, flips, gained, steadied, with the draws of each arm side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalaction.method.records import ArmName, Quoted
from evalaction.method.report import Report, Strip
from evalaction.report.blocks import Draws, Table, Text

KINDS = ("lost", "broke", "flip", "gained", "steadied")


@dataclass(slots=True)
class _Item:
    """What is known of one item while the lists are put together."""

    kinds: set[str] = field(default_factory=set)
    strips: dict[ArmName, Strip] = field(default_factory=dict)
    column: str = ""
    reason: str | None = None


def _items(report: Report) -> Mapping[str, _Item]:
    found: dict[str, _Item] = {}
    for pair in report.pairs:
        item = found.setdefault(pair.item, _Item())
        item.kinds.add(pair.kind)
        item.strips = {"control": pair.control, "treatment": pair.treatment}
        if not item.column:  # the first list that names an item also names its column
            item.column, item.reason = pair.column, pair.reason
    for flip in report.flips:
        item = found.setdefault(flip.item, _Item())
        item.kinds.add("flip")
        item.strips.setdefault(flip.arm, flip.strip)
        if flip.other is not None:
            item.strips.setdefault("control" if flip.arm == "treatment" else "treatment", flip.other)
        item.reason = item.reason if item.reason is not None else flip.reason
    return found


def kinds(report: Report) -> Mapping[str, set[str]]:
    """Item to the ways in which it moved; items that did not are left out."""
    return {name: item.kinds for name, item in _items(report).items()}


def _rank(kinds: set[str]) -> tuple[int, int]:
    return min(KINDS.index(kind) for kind in kinds), -len(kinds)


def table(report: Report) -> Table:
    """Worst first; within a kind in the order of the report."""
    arms: tuple[ArmName, ...] = tuple(arm.arm for arm in report.arms)
    items = sorted(_items(report).items(), key=lambda entry: _rank(entry[1].kinds))
    compared = bool(report.unchanged or report.rerouted)
    rows: list[tuple[Text, ...]] = []
    letters: set[str] = set()
    for name, item in items:
        strips: list[Text] = [(Draws(item.strips[arm]),) if arm in item.strips else ("–",) for arm in arms]
        kinds = ", ".join(kind for kind in KINDS if kind in item.kinds)
        reason: Text = (Quoted(item.reason),) if item.reason else ("–",)
        where: list[Text] = [(kinds,), (item.column or "–",)] if len(arms) > 1 else []
        request = [_request(report, name)] if compared else []
        rows.append(((Quoted(name),), *strips, *where, *request, reason))
        letters.update(*item.strips.values())
    head = ("item", *arms, *(["what", "first differs in"] if len(arms) > 1 else []), *(["request"] if compared else []), "reason")
    return Table(head, tuple(rows), legend=tuple(letter for letter in "pkcue" if letter in letters))


def _request(report: Report, item: str) -> Text:
    if item in report.rerouted:
        before, now = report.rerouted[item]
        return (Quoted(before), " → ", Quoted(now))
    return ("unchanged",) if item in report.unchanged else ("changed",)


def counts(report: Report) -> str:
    """`12 lost, 9 broke, 17 flips, 3 gained`: items, each once, also where it flips in both arms."""
    numbers = {kind: sum(pair.kind == kind for pair in report.pairs) for kind in KINDS}
    numbers["flip"] = len({flip.item for flip in report.flips})
    words = [f"{number:,} {kind if kind != 'flip' or number == 1 else 'flips'}" for kind, number in numbers.items() if number]
    return ", ".join(words) or "nothing"
