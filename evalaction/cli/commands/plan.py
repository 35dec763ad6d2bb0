"""`evalaction plan`: what a run costs, how long it takes and whether it can speak; offline, before any call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from evalaction.cli.opposed import opposed
from evalaction.cli.parser import Options
from evalaction.cli.tables import table
from evalaction.cli.world import World
from evalaction.engine.prepare import Prepared, load, prepare, settle
from evalaction.engine.trial import Trial
from evalaction.errors import EvalactionError, Settled, UsageError
from evalaction.method.card import AtCommit, Card
from evalaction.method.judging.false_alarm import false_alarm
from evalaction.method.plan import ArmCost, Plan, check_budget, check_halves, lost_items, ten_thousandths
from evalaction.method.telling.words import count
from evalaction.registration.frozen import Frozen
from evalaction.report.encode import term
from evalaction.report.figures import percent, share


def run(options: Options, world: World) -> int:
    lost = share_of(options.assume_lost)
    frozen = load(world.cwd / options.card, world.environ, rehearse_only=True)
    supposed = _supposes(options, frozen.card)
    prepared = prepare(_like_itself(frozen, options) if supposed else opposed(options)(frozen))
    plan = prepared.plan
    world.say(
        f"{term(prepared.card.name)}: {count(plan.items, 'item')} × {count(plan.draws, 'draw')} × "
        f"{count(len(plan.costs), 'arm')} = {count(plan.calls, 'call')}"
    )
    world.say()
    world.say(
        table(
            ("arm", "endpoint", "calls", "tokens in ≤", "tokens out ≤", "USD ≤"),
            [_row(cost.arm, cost.endpoint, cost) for cost in plan.costs]
            + ([_row("both", "", plan)] if len(plan.costs) > 1 else []),
        )
    )
    world.say()
    if supposed:
        world.say("without --base the control is counted as the treatment; what base has may cost more or less")
    for line in (*_time(plan), *_halves(plan), *_nothing(prepared), *_lost(prepared, lost)):
        world.say(line)
    return _refusals(prepared, world, supposed=supposed)


def _supposes(options: Options, card: Card) -> bool:
    """Whether the price is asked before there is anything to compare with. Which items change can only be seen against a base."""
    changed_only = card.sign is not None and card.sign.items == "changed"
    return options.base is None and card.control == AtCommit() and not changed_only


def _like_itself(frozen: Frozen, options: Options) -> Trial:
    trial = opposed(options, needed=False)(frozen)
    return replace(trial, arms={"treatment": trial.arms["treatment"], "control": trial.arms["treatment"]}, base_missing=False)


def share_of(text: str) -> Fraction:
    """A share between 0 and 1 as a fraction. Raises UsageError."""
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(f"--assume-lost takes a share such as 0.03, not {text!r}.") from error
    if not 0 <= share < 1:
        raise UsageError("--assume-lost takes a share of at least 0 and less than 1, such as 0.03.")
    return share


def _row(arm: str, endpoint: str, cost: ArmCost | Plan) -> tuple[str, ...]:
    out = "unbounded" if cost.output_tokens is None else f"{cost.output_tokens:,}"
    usd = "unknown" if cost.usd is None else ten_thousandths(cost.usd)
    return (arm, endpoint, f"{cost.calls:,}", f"{cost.input_tokens:,}", out, usd)


def _time(plan: Plan) -> list[str]:
    each = " · ".join(f"{_duration(plan.seconds(ms))} at {ms / 1000:g} s a reply" for ms in (500, 2000, 10_000))
    deadline = Fraction(plan.deadline_ms, 1000)
    worst = _duration(min(plan.seconds(plan.timeout_ms), deadline))
    return [
        f"time with {plan.slots} at once: {each}",
        f"at worst {worst}: every draw takes its whole timeout, or the deadline of {_duration(deadline)} ends the run",
    ]


def _duration(seconds: Fraction) -> str:
    whole = -(-seconds.numerator // seconds.denominator)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {whole % 60:02} s" if minutes else f"{whole} s"


def _halves(plan: Plan) -> list[str]:
    if plan.halves is None:
        return ["one arm: no halves, no sign"]
    floor = f", at least {plan.floor} are needed in each" if plan.floor else ", this claim needs none"
    return [f"halves: {plan.halves[0]} and {plan.halves[1]} items{floor}"]


def _nothing(prepared: Prepared) -> list[str]:
    """How often a sign would be earned out of nothing, where draws are at their worst and where they are as usual."""
    sign, halves = prepared.card.sign, prepared.plan.halves
    if sign is None or sign.claim == "none" or halves is None:
        return []
    rates = [
        false_alarm(halves, sign, prepared.plan.draws, pass_rate=passes, shared=shared)
        for passes, shared in ((0.8, 0.0), (0.9, 0.8))
    ]
    return [
        f"two identical arms would earn a sign in {share(rates[0])} of such runs if 80 % of the draws pass whatever the item, in "
        f"{share(rates[1])} if 90 % pass and mostly the item decides; `calibrate` measures it"
    ]


def _lost(prepared: Prepared, lost: Fraction) -> list[str]:
    """Which limits a given share of lost draws would leave undecided, and by how much they must be cleared."""
    if not lost:
        return []
    draws = prepared.plan.draws
    share = lost_items(lost, draws)
    loss = "their draw" if draws == 1 else f"at least one of their {draws}"
    lines = [f"if {percent(lost)} of the draws do not arrive, {percent(share)} of the items lose {loss}"]
    bands = {
        "first": ("min_first_pass", "max_first_drop"),
        "stable": ("min_stable_pass", "max_stable_drop", "max_flip_rate", "max_flip_gain"),
    }
    for band, width in (("first", lost), ("stable", share)):
        names = sorted({limit.name for limit in prepared.card.limits if limit.name in bands[band]})
        if names:
            lines.append(
                f"  then {', '.join(names)} can only be decided about {percent(width)} away from the bound, else undecided"
            )
    return lines


def _refusals(prepared: Prepared, world: World, *, supposed: bool) -> int:
    """Say what `run` would refuse, in its order; the exit code is the first one's."""
    try:
        if not supposed:
            settle(prepared)
    except Settled as end:
        world.say(f"run would draw nothing ({end.outcome.value}): {end.sentence}")
        return 0
    gates: list[Callable[[], None]] = [lambda: check_budget(prepared.card, prepared.plan), lambda: check_halves(prepared.plan)]
    code = 0
    for gate in gates:
        try:
            gate()
        except EvalactionError as error:
            world.say(f"run would refuse ({error.outcome.exit_code}): {error.sentence}")
            code = code or error.outcome.exit_code
    return code
