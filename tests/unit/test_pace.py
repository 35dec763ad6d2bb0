"""Pacing in counted time: slots, the minute, Retry-After, the deadline."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import CountedClock

from evalaction.engine.pace import OPENING_S, Pacer
from evalaction.method.card import Pace


def turns(pace: Pace, count: int, *, slots: int = 4, latency: float = 0.0, hold: tuple[int, int] | None = None) -> list[float]:
    """Seconds since the start at which `count` draws are sent; after draw `hold[0]` a Retry-After of `hold[1]` ms arrives."""
    clock = CountedClock()
    start, sent = clock.now(), list[float]()

    async def slot(pacer: Pacer, number: int) -> None:
        while len(sent) < count and await pacer.turn(number):
            sent.append(clock.now() - start)
            if hold and len(sent) == hold[0]:
                pacer.hold(hold[1])
            await clock.sleep(latency)

    async def work() -> None:
        pacer = Pacer(pace, clock)
        await asyncio.gather(*(slot(pacer, number) for number in range(slots)))

    clock.run(work())
    return sent


def test_slots_open_one_after_another() -> None:
    assert turns(Pace(), 4, latency=1.0) == pytest.approx([0, OPENING_S, 2 * OPENING_S, 3 * OPENING_S])


def test_without_a_pace_a_free_slot_sends_at_once() -> None:
    assert turns(Pace(), 6, slots=1, latency=0.5) == pytest.approx([0, 0.5, 1.0, 1.5, 2.0, 2.5])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 200), st.integers(1, 12), st.sampled_from([0.0, 0.3, 5.0]), st.integers(1, 15), st.integers(1, 30_000))
def test_no_minute_holds_more_than_its_share(per_minute: int, slots: int, latency: float, at: int, wait: int) -> None:
    sent = turns(Pace(per_minute=per_minute), 20, slots=slots, latency=latency, hold=(at, wait))
    for place, first in enumerate(sent):
        assert sum(first <= other < first + 60 for other in sent[place:]) <= per_minute
    assert all(b - a >= 60 / per_minute for a, b in itertools.pairwise(sent)), "evenly spaced, never a burst"


def test_the_pace_is_used_in_full() -> None:
    sent = turns(Pace(per_minute=60), 30, slots=8, latency=2.0)
    assert sent[29] == pytest.approx(29, rel=0.02)


def test_retry_after_holds_every_draw_not_yet_sent() -> None:
    sent = turns(Pace(), 12, slots=4, latency=1.0, hold=(4, 20_000))
    assert sent[:4] == pytest.approx([0, 0.002, 0.004, 0.006])
    assert min(sent[4:]) == pytest.approx(20.006)
    assert sent[4:8] == pytest.approx([20.006, 20.008, 20.010, 20.012]), "idle connections reopen one after another, too"


def test_a_longer_retry_after_is_noted_and_not_waited_for() -> None:
    clock = CountedClock()
    pacer = Pacer(Pace(max_wait_ms=1000), clock)
    pacer.hold(1001)
    pacer.hold(5000)
    pacer.hold(2000)
    assert pacer.too_long_ms == 5000
    assert clock.run(pacer.turn(0))
    assert clock.time == 1000.0
    pacer.hold(1000)
    assert clock.run(pacer.turn(0))
    assert clock.time == 1001.0


def test_a_shorter_retry_after_never_shortens_a_longer_one() -> None:
    clock = CountedClock()
    pacer = Pacer(Pace(), clock)
    pacer.hold(9000)
    pacer.hold(10)
    pacer.hold(0)
    assert clock.run(pacer.turn(0))
    assert clock.time == 1009.0


def test_a_hold_reaches_a_draw_that_already_waits() -> None:
    sent = turns(Pace(per_minute=6), 4, slots=4, hold=(1, 25_000))
    assert sent[0] == 0
    assert sent[1] == pytest.approx(25, abs=0.1)
    assert sent[2] - sent[1] >= 10


def test_the_deadline_ends_the_turns() -> None:
    sent = turns(Pace(deadline_ms=10_000), 100, slots=2, latency=3.0)
    assert len(sent) == 8
    assert max(sent) < 10


def test_a_wait_beyond_the_deadline_ends_there() -> None:
    clock = CountedClock()
    pacer = Pacer(Pace(deadline_ms=5000), clock)
    pacer.hold(20_000)
    assert clock.run(pacer.turn(0)) is False
    assert clock.time == 1005.0
