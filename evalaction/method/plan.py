"""What a run will cost and whether it can speak at all, from the card and the exam, before any call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TypeAlias

from evalaction.errors import InconclusiveError, UsageError
from evalaction.method.card import Card, Endpoint, Sign
from evalaction.method.counting.halves import half_of
from evalaction.method.exams.exam import SMALL
from evalaction.method.records import ArmName

CONFIDENCE = Fraction(99, 100)
"""How sure the number of items to add makes both halves large enough: a new id falls in either half like a fair coin."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmCost:
    """The worst case of one arm over all its draws."""

    arm: ArmName
    endpoint: str
    calls: int
    input_tokens: int
    """At most one token a byte of the request body."""
    output_tokens: int | None
    """max_tokens for every draw; None: the card sets no bound."""
    usd: Fraction | None
    """None: the card names no price, or no bound on the output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    items: int
    draws: int
    costs: tuple[ArmCost, ...]
    halves: tuple[int, int] | None
    """Items per half; None with one arm."""
    floor: int | None
    """Items that each half needs; None without a claim that reads halves."""
    add_items: int
    """How many items to add so that both halves reach the floor with 99 % certainty; 0 when they do."""
    left_out: int = 0
    """Items of the exam that are not drawn because both arms ask the same (`sign.items: changed`)."""
    slots: int
    timeout_ms: int
    per_minute: int | None
    deadline_ms: int

    @property
    def calls(self) -> int:
        return sum(cost.calls for cost in self.costs)

    @property
    def input_tokens(self) -> int:
        return sum(cost.input_tokens for cost in self.costs)

    @property
    def output_tokens(self) -> int | None:
        """None when one arm has no bound on its output."""
        each = [cost.output_tokens for cost in self.costs]
        return None if None in each else sum(tokens for tokens in each if tokens is not None)

    @property
    def tokens(self) -> int | None:
        """Worst case of input and output together; None when one arm has no bound on its output."""
        return None if self.output_tokens is None else self.input_tokens + self.output_tokens

    @property
    def usd(self) -> Fraction | None:
        total = Fraction(0)
        for cost in self.costs:
            if cost.usd is None:
                return None
            total += cost.usd
        return total

    def seconds(self, reply_ms: int) -> Fraction:
        """Wall time if every reply takes `reply_ms`: slots in turns, or the pace, whichever is slower."""
        if not self.calls:
            return Fraction(0)
        turns = -(-self.calls // self.slots)
        paced = Fraction(60 * (self.calls - 1), self.per_minute) if self.per_minute else Fraction(0)
        return max(Fraction(turns * reply_ms, 1000), paced + Fraction(reply_ms, 1000))


Sizes: TypeAlias = "Sequence[tuple[Endpoint, int]]"


def plan_run(card: Card, ids: Sequence[str], requests: Mapping[ArmName, Sizes], *, left_out: int = 0) -> Plan:
    """Plan a run of `card` over items `ids`; `requests` holds per arm each item's endpoint and the bytes of its request body.

    `left_out` counts the items of the exam that are not among them.
    """
    # A card whose base is missing has one arm and no halves.
    halves = _halves(card.sign, ids) if card.sign and len(requests) > 1 else None
    floor = card.sign.min_items_per_half if card.sign and card.sign.claim != "none" and halves else None
    return Plan(
        items=len(ids),
        draws=card.draws.count,
        costs=tuple(_cost(card.draws.count, arm, sizes) for arm, sizes in requests.items()),
        halves=halves,
        floor=floor,
        add_items=items_to_add(halves, floor) if halves and floor else 0,
        left_out=left_out,
        slots=card.pace.concurrency,
        timeout_ms=card.draws.timeout_ms,
        per_minute=card.pace.per_minute,
        deadline_ms=card.pace.deadline_ms,
    )


def _halves(sign: Sign, ids: Sequence[str]) -> tuple[int, int]:
    ones = sum(half_of(item, sign.seed) for item in ids)
    return len(ids) - ones, ones


def max_output_tokens(endpoint: Endpoint) -> int | None:
    """The card's own bound on the tokens of one reply, under any of the names the providers use."""
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
        bound = endpoint.params.get(name)
        if isinstance(bound, int) and not isinstance(bound, bool):
            return bound
    return 0 if endpoint.api == "scripted" else None


def _cost(draws: int, arm: ArmName, sizes: Sizes) -> ArmCost:
    tokens, usd = zip(*(_worst(endpoint, size) for endpoint, size in sizes), strict=True) if sizes else ((), ())
    return ArmCost(
        arm=arm,
        endpoint=", ".join(dict.fromkeys(endpoint.name for endpoint, _ in sizes)),
        calls=len(sizes) * draws,
        input_tokens=sum(size for _, size in sizes) * draws,
        output_tokens=None if None in tokens else sum(bound for bound in tokens if bound is not None) * draws,
        usd=None if None in usd else sum((cost for cost in usd if cost is not None), Fraction(0)) * draws,
    )


def _worst(endpoint: Endpoint, size: int) -> tuple[int | None, Fraction | None]:
    """Output tokens and USD of one call at most."""
    bound = max_output_tokens(endpoint)
    if endpoint.api == "scripted":
        return bound, Fraction(0)
    if endpoint.price is None or bound is None:
        return bound, None
    return bound, (endpoint.price.input.value * size + endpoint.price.output.value * bound) / 1_000_000


def items_to_add(halves: tuple[int, int], floor: int) -> int:
    """The least number of new items after which both halves hold `floor` items with probability 0.99 or more.

    Each new id falls in half 0 or 1 with probability ½ (binomial, exact).
    """
    need = [max(floor - size, 0) for size in halves]
    if not any(need):
        return 0
    added = sum(need)
    while Fraction(sum(comb(added, k) for k in range(need[0], added - need[1] + 1)), 2**added) < CONFIDENCE:
        added += 1
    return added


def lost_items(share: Fraction, draws: int) -> Fraction:
    """Expected share of items that lose at least one of `draws` draws when each is lost with probability `share`."""
    return 1 - (1 - share) ** draws


def check_budget(card: Card, plan: Plan) -> None:
    """Raise UsageError when the worst case does not fit the card's budget or allowance; names the largest K that fits."""
    for field, allowed, planned, unit in _bounds(card, plan):
        if planned is None:
            raise UsageError(
                f"{field} cannot be held: the worst case is unknown. Give every endpoint of an arm "
                f"`max_tokens` in its params{' and a `price`' if unit == 'USD' else ''}.",
                code="budget",
            )
        if planned > allowed:
            fits = int(allowed * plan.draws / planned)
            remedy = f"The largest draws.count that fits is {fits}." if fits else "Not even one draw of every item fits."
            raise UsageError(
                f"{field} is {_amount(allowed, unit)} and the worst case of this run is {_amount(planned, unit)}. {remedy}",
                code="budget",
            )


def _bounds(card: Card, plan: Plan) -> list[tuple[str, Fraction, Fraction | None, str]]:
    bounds: list[tuple[str, Fraction, Fraction | None, str]] = []
    if card.budget.calls is not None:
        bounds.append(("budget.calls", Fraction(card.budget.calls), Fraction(plan.calls), "calls"))
    if card.record and card.record.allowance is not None:
        bounds.append(("record.allowance", Fraction(card.record.allowance), Fraction(plan.calls), "calls"))
    if card.budget.tokens is not None:
        tokens = plan.tokens
        bounds.append(("budget.tokens", Fraction(card.budget.tokens), None if tokens is None else Fraction(tokens), "tokens"))
    if card.budget.usd is not None:
        bounds.append(("budget.usd", card.budget.usd.value, plan.usd, "USD"))
    return bounds


def ten_thousandths(usd: Fraction) -> str:
    """Four decimals, rounded up, so that an amount that is refused never reads like one that fits."""
    whole = -(-usd.numerator * 10_000 // usd.denominator)
    return f"{whole // 10_000}.{whole % 10_000:04}"


def _amount(number: Fraction, unit: str) -> str:
    if unit == "USD":
        return f"USD {ten_thousandths(number).rstrip('0').rstrip('.')}"
    return f"{int(number):,} {unit}"


def check_halves(plan: Plan) -> None:
    """Raise InconclusiveError when a half is below the card's floor: the sign could not be earned whatever the replies are.

    The same for fewer than 30 items, which can claim nothing, where only those that change are drawn.
    """
    if plan.left_out and plan.halves and plan.floor and (plan.add_items or plan.items < SMALL):
        raise InconclusiveError(
            f"Only {plan.items:,} of {plan.items + plan.left_out:,} items change between the arms, in halves of "
            f"{plan.halves[0]:,} and {plan.halves[1]:,}, but a sign needs {plan.floor:,} in each: "
            f"{max(plan.items + plan.add_items, SMALL):,} changed items would do (both halves are then large enough in 99 of "
            "100 cases). Judge every item with `sign.items: all`, or claim `none`.",
            code="below_min_items",
        )
    if plan.add_items and plan.halves:
        raise InconclusiveError(
            f"half 0 has {plan.halves[0]} items and half 1 has {plan.halves[1]}, but a sign needs {plan.floor} in each: "
            f"add {plan.add_items} items (both halves are then large enough in 99 of 100 cases), or claim `none`.",
            code="below_min_items",
        )
