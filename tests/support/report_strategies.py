"""Any report that could be built: consistent numbers, any outcome, any hostile text in the untrusted places."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from support.reports import HOSTILE, arm, columns, counted, half, limit, report, verdict

from evalaction.errors import Outcome
from evalaction.method.numbers import Bounded
from evalaction.method.records import ArmName, Break, Quoted
from evalaction.method.report import ArmReport, ColumnRates, Flip, HalfReport, LimitResult, LimitState, Pair, Report

TEXTS = st.one_of(st.text(max_size=30), st.sampled_from(HOSTILE))
SENTENCES = st.lists(
    st.one_of(TEXTS.map(Quoted), st.sampled_from(["lost ", "12 of 84 items. ", "≥ 5 % | _x_ "])), min_size=1, max_size=4
).map(tuple)
BREAKS = st.builds(Break, code=st.sampled_from(["halves_disagree", "behind", "treatment.h0:transport"]), sentence=SENTENCES)
STRIPS = st.text("pkcue", min_size=3, max_size=3)
ITEMS, DRAWS = 40, 3


@st.composite
def column_rates(draw: st.DrawFn, total: int) -> ColumnRates:
    reached = draw(st.integers(0, total))
    contracted = draw(st.integers(0, reached))
    errors = draw(st.integers(0, contracted))
    return columns(total, reached, contracted, draw(st.integers(0, contracted - errors)), errors)


@st.composite
def bounds(draw: st.DrawFn) -> tuple[int, int]:
    low = draw(st.integers(0, ITEMS))
    return low, draw(st.integers(low, ITEMS))


@st.composite
def arms(draw: st.DrawFn, name: ArmName) -> ArmReport:
    draws = counted(ITEMS, draw(bounds()), draw(bounds()), draw(bounds()), draw(st.integers(0, ITEMS)))
    return replace(
        arm(name, draw(column_rates(ITEMS * DRAWS)), draws),
        endpoint=draw(TEXTS),
        model=draw(st.none() | TEXTS),
        reasons={"check": tuple(draw(st.lists(st.tuples(TEXTS, st.integers(1, 9)), max_size=3)))},
    )


@st.composite
def halves(draw: st.DrawFn, number: int) -> HalfReport:
    scored = draw(st.integers(1, 20)), draw(st.integers(1, 20))
    passed = [draw(st.integers(0, total)) for total in scored]
    return half(number, 20, (passed[0], scored[0]), (passed[1], scored[1]), draw(st.sampled_from([-1, 0, 1])))


@st.composite
def limits(draw: st.DrawFn) -> LimitResult:
    low, high = draw(bounds())
    states: tuple[LimitState, ...] = ("held", "breached", "undecided")
    state = draw(st.sampled_from(states))
    name = draw(st.sampled_from(["min_first_pass", "min_stable_pass", "max_flip_rate"]))
    return limit("treatment", name, "0.80", state, Bounded(low, high, ITEMS), says=draw(SENTENCES), tag=draw(st.none() | TEXTS))


@st.composite
def reports(draw: st.DrawFn) -> Report:
    outcome = draw(st.sampled_from([*Outcome]))
    earned = draw(st.booleans())
    drawn = draw(st.sampled_from([0, 1, 2]))
    both = drawn == 2
    names: tuple[ArmName, ...] = ("control", "treatment") if both else ("treatment",) if drawn else ()
    item_lists = st.lists(TEXTS, max_size=4)
    return report(
        outcome,
        draw(SENTENCES),
        verdict=replace(
            verdict(outcome, *draw(st.lists(BREAKS, max_size=3))),
            earned=earned,
            sign=draw(st.sampled_from([-1, 1])) if earned else 0,
        ),
        name=draw(TEXTS),
        titles=tuple(draw(st.lists(st.sampled_from(["NOT RUN", "SYNTHETIC", "REHEARSAL", "SMALL"]), unique=True, max_size=2))),
        items=ITEMS,
        draws=DRAWS,
        todo=draw(st.none() | SENTENCES),
        callouts=tuple(draw(st.lists(SENTENCES, max_size=3))),
        arms=tuple(draw(arms(name)) for name in names),
        halves=(draw(halves(0)), draw(halves(1))) if both and draw(st.booleans()) else (),
        discordant={"check": (draw(st.integers(0, 9)), draw(st.integers(0, 9)))} if both else {},
        pairs=tuple(
            Pair(
                kind="lost",
                item=item,
                control=draw(STRIPS),
                treatment=draw(STRIPS),
                column="check",
                reason=draw(st.none() | TEXTS),
            )
            for item in (draw(item_lists) if both else [])
        ),
        flips=tuple(
            Flip(item=item, arm="treatment", strip=draw(STRIPS), reason=draw(st.none() | TEXTS))
            for item in (draw(item_lists) if names else [])
        ),
        limits=tuple(draw(st.lists(limits(), max_size=3))),
        gated=draw(st.booleans()),
    )
