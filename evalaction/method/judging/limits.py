"""Limits of the card: held at the bound that hurts, breached even at the kind bound, or undecided. Exact, equality holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from evalaction.method.canonical import Json
from evalaction.method.card import Card, Endpoint, Limit
from evalaction.method.counting.rates import percentile_ms, rates_of
from evalaction.method.counting.tally import ArmTally, Tally
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import ArmName, Quoted, Sentence
from evalaction.method.report import ColumnRates, DrawRates, LimitResult, LimitState
from evalaction.method.telling.words import count, percent, points, ranked, tallied

Measured: TypeAlias = "Rate | Bounded | int | tuple[Fraction, Fraction] | None"
Edge: TypeAlias = "Fraction | float"  # the float is infinity, and nothing else

_SEED_DEPENDENT = {"min_stable_pass", "max_flip_rate", "max_stable_drop", "max_flip_gain"}
_SEEDS = {"seed", "random_seed"}
_NOT_THE_MODEL = {"min_reach", "max_reach_gap", "max_runner_error_items"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a limit is compared with: the true value lies in low…high; None where there is nothing to measure."""

    measured: Measured
    low: Edge | None
    high: Edge | None
    missing: int = 0
    """Draws that do not tell a counter."""


@dataclass(frozen=True, slots=True)
class Group:
    """One arm over all items, or over those of a tag."""

    side: ArmTally
    items: Sequence[int]
    columns: ColumnRates
    draws: DrawRates


def _bounded(value: Bounded | None) -> Reading:
    if value is None or not value.total:
        return Reading(None, None, None)
    return Reading(value, Fraction(value.low, value.total), Fraction(value.high, value.total))


def _rate(value: Rate) -> Reading:
    return Reading(value if value.total else None, value.value, value.value)


def _p95(group: Group) -> Reading:
    """An unreached draw is infinitely slow where that hurts, and no time at all where one is kind."""
    slow = percentile_ms(group.side, group.items, 95, unreached_ms=None)
    quick = percentile_ms(group.side, group.items, 95, unreached_ms=0)
    return Reading(slow, None if quick is None else Fraction(quick), math.inf if slow is None else Fraction(slow))


def _lost_items(group: Group) -> Reading:
    lost = group.draws.runner_error_items
    return Reading(lost, Fraction(lost), Fraction(lost))


def _counter(group: Group, name: str) -> Reading:
    """The largest value of any draw: where a draw does not tell it, it may be larger still."""
    cells = [item * group.side.draws + draw for item in group.items for draw in range(group.side.draws)]
    spread = group.side.counters.spread(name, cells)
    if spread.high is None:
        return Reading(None, None, None, spread.missing)
    return Reading(spread.high, Fraction(spread.high), math.inf if spread.missing else Fraction(spread.high), spread.missing)


_OF_ARM: Mapping[str, Callable[[Group], Reading]] = {
    "min_first_pass": lambda group: _bounded(group.draws.first),
    "min_stable_pass": lambda group: _bounded(group.draws.stable),
    "max_flip_rate": lambda group: _bounded(group.draws.flip),
    "min_reach": lambda group: _rate(group.columns.reach),
    "min_contract": lambda group: _rate(group.columns.contract),
    "min_check": lambda group: _rate(group.columns.check),
    "max_runner_error_items": _lost_items,
    "max_p95_ms": _p95,
}
# Each is taken of both arms; a drop is control − treatment, a gain treatment − control, a gap either way.
_BETWEEN: Mapping[str, tuple[str, int]] = {
    "max_first_drop": ("min_first_pass", -1),
    "max_stable_drop": ("min_stable_pass", -1),
    "max_flip_gain": ("max_flip_rate", 1),
    "max_reach_gap": ("min_reach", 0),
}
LIMIT_NAMES = frozenset({*_OF_ARM, *_BETWEEN, "max_counter"})


def sampling_seed(endpoint: Endpoint) -> bool:
    """Whether the request fixes a seed, at any depth of its objects: its draws are then not independent."""
    return _holds_seed(endpoint.params) or (endpoint.http is not None and _holds_seed(endpoint.http.body))


def _holds_seed(value: Json) -> bool:
    """A field `seed` of a schema among the parameters is an object, a seed is a number."""
    if not isinstance(value, Mapping):
        return False
    return any(
        _holds_seed(held) or (name in _SEEDS and isinstance(held, (int, Decimal)) and not isinstance(held, bool))
        for name, held in value.items()
    )


def blames_the_model(result: LimitResult) -> bool:
    """A breach of a reach limit says nothing about the model: it makes a run inconclusive, not failed."""
    return result.state == "breached" and result.limit.name not in _NOT_THE_MODEL


def judge_limits(card: Card, tally: Tally, seeded: Sequence[str] = ()) -> tuple[LimitResult, ...]:
    """Every limit that `applies`, in the card's order; `seeded` names the arms with a sampling seed."""
    groups = _Groups(tally)
    return tuple(_judge(limit, groups, seeded) for limit in card.limits if applies(limit, card, tally))


def applies(limit: Limit, card: Card, tally: Tally) -> bool:
    """Whether the arms and the items that a limit is for were drawn.

    Nothing changes for the items of a tag of which none was drawn (`sign.items: changed`), so their limits say nothing.
    """
    changed = card.sign is not None and card.sign.items == "changed"
    items = not changed or limit.tag is None or limit.tag in tally.tagged
    return items and (limit.scope == "treatment" or "control" in tally.sides)


def unjudged(card: Card, tally: Tally) -> tuple[Sentence, ...]:
    """The names of the limits that do not apply."""
    return tuple(limit_name(limit) for limit in card.limits if not applies(limit, card, tally))


class _Groups:
    """The tables of arms and tags, each counted once."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._known: dict[tuple[ArmName, str | None], Group] = {}

    def of(self, arm: ArmName, tag: str | None) -> Group:
        if (arm, tag) not in self._known:
            side = self._tally.sides[arm]
            items = range(side.items) if tag is None else self._tally.tagged.get(tag, [])
            self._known[arm, tag] = Group(side, items, *rates_of(side, items))
        return self._known[arm, tag]

    @property
    def arms(self) -> tuple[ArmName, ...]:
        return tuple(self._tally.sides)


def _of_arm(limit: Limit, group: Group) -> Reading:
    return _OF_ARM[limit.name](group) if limit.counter is None else _counter(group, limit.counter)


def _read(limit: Limit, groups: _Groups) -> Reading:
    if limit.scope != "between":
        return _of_arm(limit, groups.of(limit.scope, limit.tag))
    name, direction = _BETWEEN[limit.name]
    ours = _OF_ARM[name](groups.of("treatment", limit.tag))
    theirs = _OF_ARM[name](groups.of("control", limit.tag))
    if ours.low is None or ours.high is None or theirs.low is None or theirs.high is None:
        return Reading(None, None, None)
    low, high = Fraction(ours.low) - Fraction(theirs.high), Fraction(ours.high) - Fraction(theirs.low)
    if direction < 0:
        low, high = -high, -low
    elif not direction:
        low = high = abs(high)  # both reach rates are exact
    return Reading((low, high), low, high)


def _state(limit: Limit, reading: Reading) -> LimitState:
    if reading.low is None or reading.high is None:
        return "undecided"
    bound = limit.bound.value
    if limit.name.startswith("min_"):
        return "held" if reading.low >= bound else "breached" if reading.high < bound else "undecided"
    return "held" if reading.high <= bound else "breached" if reading.low > bound else "undecided"


def _judge(limit: Limit, groups: _Groups, seeded: Sequence[str]) -> LimitResult:
    reading = _read(limit, groups)
    arms = groups.arms if limit.scope == "between" else (limit.scope,)
    fixed = [arm for arm in arms if arm in seeded] if limit.name in _SEED_DEPENDENT else []
    state = "undecided" if fixed else _state(limit, reading)
    at_base = False
    if state == "breached" and limit.scope == "treatment" and "control" in groups.arms:
        at_base = _state(limit, _of_arm(limit, groups.of("control", limit.tag))) == "breached"
    lost: Counter[str] = Counter()
    for arm in arms:
        lost.update(dict(groups.of(arm, None).side.lost()))
    return LimitResult(
        limit=limit,
        state=state,
        measured=reading.measured,
        sentence=_sentence(limit, reading, state, fixed, ranked(lost), at_base=at_base),
        already_at_base=at_base,
    )


def limit_name(limit: Limit) -> Sentence:
    """`min_stable_pass of treatment`, `max_counter tool_hops of treatment`, with its tag."""
    whose = "between the arms" if limit.scope == "between" else f"of {limit.scope}"
    name = limit.name if limit.counter is None else f"{limit.name} {limit.counter}"
    return (f"{name} {whose}",) if limit.tag is None else (f"{name} {whose}, tag ", Quoted(limit.tag))


def _sentence(
    limit: Limit, reading: Reading, state: LimitState, seeded: Sequence[str], lost: Sequence[tuple[str, int]], *, at_base: bool
) -> Sentence:
    name, bound = limit_name(limit), _bound(limit)
    if seeded:
        return (*name, f" is undecided: a sampling seed is fixed for {' and '.join(seeded)}, so the draws are not independent.")
    if limit.counter is not None and reading.missing and state == "undecided":
        told = "no draw tells it" if reading.low is None else f"{_shown(limit, reading)}, limit {bound}; not every draw tells it"
        return (*name, f" is undecided: {told} ({count(reading.missing, 'draw')} without).")
    if reading.low is None:
        return (*name, " is undecided: there is nothing to measure.")
    value = _shown(limit, reading)
    if state == "undecided":
        return (*name, f" is undecided: {value}, limit {bound}; draws without a verdict leave it open (", *tallied(lost), ").")
    verdict = "is held" if state == "held" else "is breached"
    return (*name, f" {verdict}: {value}, limit {bound}{'; so already at base' if at_base else ''}.")


def _bound(limit: Limit) -> str:
    """The bound in the unit of what is measured."""
    if limit.name == "max_p95_ms":
        return f"{limit.bound.text} ms"
    if limit.name == "max_runner_error_items" or limit.counter is not None:
        return limit.bound.text
    exact = f"{Decimal(limit.bound.text).scaleb(2).normalize():f}"  # never rounded: it is what was compared
    return f"{exact} {'points' if limit.scope == 'between' else '%'}"


def _shown(limit: Limit, reading: Reading) -> str:
    match reading.measured:
        case Bounded() as value:
            low, high = Fraction(value.low, value.total), Fraction(value.high, value.total)
            share = percent(low) if value.exact else f"{percent(low)} to {percent(high)}"
            return f"{value} items ({share})"
        case Rate() as value:
            return f"{value} draws ({percent(value.value or Fraction(0))})"
        case (low, high):
            return points(low) if low == high else f"{points(low).partition(' ')[0]} to {points(high)}"
        case None:
            return "more than one draw in twenty never arrived"
        case number if limit.counter is not None:
            return f"at most {number:,}"
        case number:
            return f"{number:,} ms" if limit.name == "max_p95_ms" else count(number, "item")
