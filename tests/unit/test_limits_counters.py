"""Limits on the counters of a trace: the largest value of any draw, unknown where a draw does not tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import card, counted, facts, limit, say, sign

from evalaction.errors import Outcome
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.limits import judge_limits
from evalaction.method.judging.verdict import judge
from evalaction.method.records import ArmName
from evalaction.method.report import LimitResult
from evalaction.method.telling.summary import build_report

Told = Sequence[Sequence[Mapping[str, int] | None]]


def result(told: Told, bound: str = "3", *, scope: str = "treatment", control: Told | None = None) -> LimitResult:
    sides: dict[ArmName, Told] = {"treatment": told} if control is None else {"treatment": told, "control": control}
    grid = counted(sides, "hops")
    made = card(limit("max_counter", bound, scope, counter="hops"), draws=len(told[0]), claim=sign("none") if control else None)
    return judge_limits(made, grid)[0]


def hops(*values: int | None) -> list[Mapping[str, int] | None]:
    """One item's draws; -1: the draw reached and does not tell the counter, None: it did not reach."""
    return [None if value is None else {} if value < 0 else {"hops": value} for value in values]


@pytest.mark.parametrize(
    ("told", "state", "sentence"),
    [
        ([hops(0, 3)], "held", "max_counter hops of treatment is held: at most 3, limit 3."),
        ([hops(0, 3), hops(4, 0)], "breached", "max_counter hops of treatment is breached: at most 4, limit 3."),
        ([hops(4, None)], "breached", "max_counter hops of treatment is breached: at most 4, limit 3."),
        (
            [hops(2, None), hops(-1, 1)],
            "undecided",
            "max_counter hops of treatment is undecided: at most 2, limit 3; not every draw tells it (2 draws without).",
        ),
        ([hops(-1, None)], "undecided", "max_counter hops of treatment is undecided: no draw tells it (2 draws without)."),
    ],
)
def test_held_breached_undecided(told: Told, state: str, sentence: str) -> None:
    found = result(told)
    assert (found.state, say(found.sentence)) == (state, sentence)
    assert found.measured == max((one["hops"] for draws in told for one in draws if one), default=None)


def test_limits_of_the_control_and_of_a_tag() -> None:
    assert result([hops(0)], scope="control", control=[hops(9)]).state == "breached"
    both = result([hops(9)], control=[hops(9)])
    assert (both.already_at_base, "so already at base" in say(both.sentence)) == (True, True)
    assert not result([hops(9)], control=[hops(0)]).already_at_base
    grid = counted({"treatment": [hops(9), hops(1)]}, "hops", tags={"t0001": ["long"]})
    found = judge_limits(card(limit("max_counter", "3", tag="long", counter="hops")), grid)[0]
    assert (found.state, say(found.sentence)) == (
        "held",
        "max_counter hops of treatment, tag ‹long› is held: at most 1, limit 3.",
    )


def test_a_tag_reads_every_draw_of_its_items_and_no_other() -> None:
    for place in range(3):
        grid = counted({"treatment": [hops(1, 9), hops(3, 4), hops(9, 1)]}, "hops", tags={f"t000{place}": ["long"]})
        found = judge_limits(card(limit("max_counter", "3", tag="long", counter="hops"), draws=2), grid)[0]
        assert found.measured == (9, 4, 9)[place]


def verdict(told: Told) -> tuple[Outcome, list[str], str]:
    grid: Tally = counted({"treatment": told}, "hops", "retries")
    limits = [limit("max_counter", "3", counter=name) for name in grid.sides["treatment"].counters.names]
    made = card(*limits, draws=grid.draws)
    found = judge(made, grid, facts(grid, made))
    report = build_report(made, grid, facts(grid, made))
    return found.outcome, [one.code for one in found.breaks], say(report.todo or ("",))


def test_each_counter_breaks_by_its_own_name() -> None:
    both = [[{"hops": 9, "retries": 9}]]
    codes = ["limit:treatment:max_counter:hops", "limit:treatment:max_counter:retries"]
    assert verdict(both)[:2] == (Outcome.FAIL, codes)
    assert verdict([[{"hops": 9, "retries": 0}]])[:2] == (Outcome.FAIL, codes[:1])
    outcome, breaks, todo = verdict([[{"hops": 1}]])
    assert (outcome, breaks) == (Outcome.INCONCLUSIVE, [f"{codes[1]}:undecided"])
    assert "does not tell the counter on every draw" in todo
    assert verdict([[{"hops": 0, "retries": 0}]])[0] is Outcome.PASS


@given(st.lists(st.none() | st.integers(-1, 6), min_size=1, max_size=6), st.integers(0, 6), st.data())
def test_an_unknown_value_never_helps_and_is_never_blamed(values: list[int | None], bound: int, data: st.DataObject) -> None:
    before = result([hops(*values)], str(bound)).state
    place = data.draw(st.integers(0, len(values) - 1))
    unknown = [*values[:place], None, *values[place + 1 :]]
    after = result([hops(*unknown)], str(bound)).state
    assert after in ({"undecided", "breached"} if before == "breached" else {"undecided"} if before == "held" else {before})
