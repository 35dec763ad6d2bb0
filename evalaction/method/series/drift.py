"""Has it got worse since the series began? Evidence that is looked at every night, from fresh draws on both sides.

With two arms a night brings its own control: draw 0 of the treatment against draw 0 of the control. With one arm, draw 0 of the
night is laid beside the oldest earlier draw that no night has been laid beside yet. A draw is used once: with one baseline run
used again and again the nights would share its luck, and "no change" would raise the alarm one time in four within a month.
So the K draws of the first night are the controls of the next K nights, and the reference ages slowly, the more slowly the larger
K is. With K = 1 every second night is compared with the one before.

An item of which either draw has no verdict says nothing. Nights whose data are not valid are left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.counting.tally import OFF_CONTRACT, PASS, WRONG
from evalaction.method.series.entry import Entry
from evalaction.method.series.evidence import ALARM, Running

_FAILS = (WRONG, OFF_CONTRACT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One night: what it added, and what it comes to."""

    worse: int
    """Items that failed that night and passed in their control draw."""
    better: int
    evidence: Fraction
    """After that night."""
    against: int | None
    """Place of the entry that gave the control draws; None: its own control."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    steps: tuple[Step | None, ...]
    """One an entry; None: nothing was compared."""
    paired: bool
    """The nights bring their own control."""
    seeded: bool = False
    """A sampling seed is fixed, so that no draw is a fresh one, and nothing is compared."""

    @property
    def nights(self) -> int:
        return sum(step is not None for step in self.steps)

    @property
    def worse(self) -> int:
        return sum(step.worse for step in self.steps if step)

    @property
    def better(self) -> int:
        return sum(step.better for step in self.steps if step)

    @property
    def evidence(self) -> Fraction:
        return next((step.evidence for step in reversed(self.steps) if step), Fraction(1))

    @property
    def highest(self) -> Fraction:
        return max((step.evidence for step in self.steps if step), default=Fraction(1))

    @property
    def anytime_p(self) -> Fraction:
        """Holds at whatever night one stops: min(1, 1 / highest)."""
        return min(Fraction(1), 1 / self.highest)

    @property
    def alarm(self) -> bool:
        return self.evidence >= ALARM


def drift(entries: Sequence[Entry]) -> Drift:
    """`entries` of one series, oldest first; from them alone, whatever an earlier run said."""
    paired = any(entry.arm("control") for entry in entries)
    if any(arm.seeded for entry in entries for arm in entry.arms):
        return Drift(steps=(None,) * len(entries), paired=paired, seeded=True)
    so_far = Running()
    steps: list[Step | None] = []
    unused: deque[tuple[int, int]] = deque()
    for place, entry in enumerate(entries):
        found = (_own_control(entry) if paired else _earlier(entries, place, unused)) if entry.valid else None
        if found is None:
            steps.append(None)
            continue
        worse, better, against = found
        so_far.add(worse, better)
        steps.append(Step(worse=worse, better=better, evidence=so_far.value, against=against))
    return Drift(steps=tuple(steps), paired=paired)


def _own_control(entry: Entry) -> tuple[int, int, None]:
    ours, theirs = (arm.strips[:: entry.draws] for arm in entry.arms)
    return (*changed(ours, theirs), None)


def _earlier(entries: Sequence[Entry], place: int, unused: deque[tuple[int, int]]) -> tuple[int, int, int] | None:
    """`unused` holds the draws that no night was laid beside yet, as (entry, draw), oldest first."""
    draws = entries[place].draws
    if not unused:
        unused.extend((place, draw) for draw in range(draws))
        return None
    against, draw = unused.popleft()
    unused.extend((place, later) for later in range(1, draws))
    ours, theirs = entries[place].arms[0].strips[::draws], entries[against].arms[0].strips[draw::draws]
    return (*changed(ours, theirs), against)


def changed(ours: bytes, theirs: bytes) -> tuple[int, int]:
    """Items that got (worse, better), from one letter an item on each side."""
    pairs = list(zip(ours, theirs, strict=True))
    worse = sum(now in _FAILS and then == PASS for now, then in pairs)
    better = sum(now == PASS and then in _FAILS for now, then in pairs)
    return worse, better
