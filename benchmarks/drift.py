"""How often the drift alarm is false, and how soon it is right, beside ways that look simpler: `python -m benchmarks.drift`.

Simulated nights of items with the pass rate 0.9, whose difficulties differ as those of real exams do (beta, intraclass
correlation 0.8). Everything follows from the seed, so the table is the same on every machine.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalaction.errors import Outcome
from evalaction.method.canonical import digest
from evalaction.method.records import ArmName
from evalaction.method.report import Counts
from evalaction.method.series.drift import changed, drift
from evalaction.method.series.entry import ArmEntry, Comparable, Entry
from evalaction.method.series.evidence import ALARM, ALPHA, mcnemar, one_sided
from evalaction.method.series.latency import Latency

SEED = 20_260_301
RATE, CORRELATION = 0.9, 0.8
QUIET = 7
"""Nights before the drop."""
NIGHTS = 30
"""Nights with the drop, or as many without."""
LOOKS = (1, 5, 10, 30)


@dataclass(frozen=True, kw_only=True)
class World:
    """What is true: how much the rate falls after the quiet nights, and how much nights differ by chance."""

    items: int = 80
    drop: float = 0.0
    noise: float = 0.0
    """Standard deviation of a night's rate around the truth."""


@dataclass(frozen=True)
class Exam:
    """The items of one repetition with their pass probabilities."""

    chances: Sequence[float]
    dice: random.Random

    def drawn(self, world: World, *, dropped: bool, draws: int, luck: float) -> bytes:
        """Strips of one arm on one night."""
        scale = (RATE - (world.drop if dropped else 0.0) + luck) / RATE
        roll = self.dice.random
        return bytes(b"p"[0] if roll() < chance * scale else b"k"[0] for chance in self.chances for _ in range(draws))


Night = tuple[bytes, bytes]
"""Strips of treatment and control."""
Way = Callable[[Sequence[Night], int], Iterator[bool]]
"""From all nights of one repetition: whether there is an alarm after each."""


def exam(dice: random.Random, items: int) -> Exam:
    shape = 1 / CORRELATION - 1
    return Exam([dice.betavariate(RATE * shape, (1 - RATE) * shape) for _ in range(items)], dice)


def nights(dice: random.Random, world: World, draws: int) -> list[Night]:
    """The control never drops; both arms of a night share its luck."""
    asked = exam(dice, world.items)
    found = []
    for night in range(QUIET + NIGHTS):
        luck = dice.gauss(0, world.noise) if world.noise else 0.0
        dropped = night >= QUIET
        found.append(
            (
                asked.drawn(world, dropped=dropped, draws=draws, luck=luck),
                asked.drawn(world, dropped=False, draws=draws, luck=luck),
            )
        )
    return found


def entries(found: Sequence[Night], draws: int, arms: Sequence[ArmName]) -> Iterator[Entry]:
    """The same nights as a history would hold them."""
    zero = "0" * 64
    same = Comparable(
        exam_sha256=zero, ids_sha256=zero, checker_sha256=None, items_sha256=zero, timeout_ms=1, draws=draws, checks_sha256=zero,
        arms=tuple(arms), output="text", parameters_sha256=None,
    )  # fmt: skip
    for number, night in enumerate(found):
        yield Entry(
            card="card.yaml", name="", run=f"{number:03}", started_at="2026-01-01T00:00:00Z", tool_version="",
            question_digest=digest(number), outcome=Outcome.PASS, comparable=same, items=len(night[0]) // draws,
            counts=Counts(planned=1, sent=1, written=1),
            arms=tuple(arm_entry(arm, strips) for arm, strips in zip(arms, night, strict=False)),
        )  # fmt: skip


def arm_entry(arm: ArmName, strips: bytes) -> ArmEntry:
    return ArmEntry(
        arm=arm, endpoint="", model=None, requests_sha256="0" * 64, seeded=False, strips=strips, latency=Latency(0, 0, 0)
    )


def own_draws(found: Sequence[Night], draws: int) -> Iterator[bool]:
    yield from _alarms(entries(found, draws, ("treatment",)))


def own_control(found: Sequence[Night], draws: int) -> Iterator[bool]:
    yield from _alarms(entries(found, draws, ("treatment", "control")))


def _alarms(history: Iterator[Entry]) -> Iterator[bool]:
    for step in drift(list(history)).steps:
        yield step is not None and step.evidence >= ALARM


def frozen(found: Sequence[Night], draws: int) -> Iterator[bool]:
    """The first night is laid beside every later one."""
    worse = better = 0
    for ours, _ in found:
        more = changed(ours[::draws], found[0][0][::draws])
        worse, better = worse + more[0], better + more[1]
        yield one_sided(worse, better) >= ALARM


def one_night(found: Sequence[Night], draws: int) -> Iterator[bool]:
    """McNemar's exact test of each night against its own control, for worse alone."""
    for ours, theirs in found:
        yield _significant(*changed(ours[::draws], theirs[::draws]))


def all_nights(found: Sequence[Night], draws: int) -> Iterator[bool]:
    """The same test on everything so far, looked at every night."""
    worse = better = 0
    for ours, theirs in found:
        more = changed(ours[::draws], theirs[::draws])
        worse, better = worse + more[0], better + more[1]
        yield _significant(worse, better)


def _significant(worse: int, better: int) -> bool:
    return worse > better and mcnemar(worse, better) <= ALPHA


WAYS: tuple[tuple[str, Way, int], ...] = (
    ("evidence, one arm, fresh draws of earlier nights, K = 5", own_draws, 5),
    ("evidence, one arm, fresh draws of earlier nights, K = 2", own_draws, 2),
    ("evidence, two arms, each night its own control", own_control, 1),
    ("evidence, one frozen baseline night", frozen, 1),
    ("McNemar, one night, its own control", one_night, 1),
    ("McNemar, all nights so far, its own control", all_nights, 1),
)
WORLDS: tuple[tuple[str, World], ...] = (
    ("no change", World()),
    ("drop of 5 points", World(drop=0.05)),
    ("drop of 10 points", World(drop=0.10)),
    ("no change, nights differ by 2 points", World(noise=0.02)),
    ("no change, 400 items", World(items=400)),
    ("drop of 2 points, 400 items", World(items=400, drop=0.02)),
)


def shares(way: Way, world: World, draws: int, *, rounds: int) -> list[Fraction]:
    """Share of repetitions with an alarm by night 1, 5, 10 and 30 after the quiet ones; an alarm before them counts too."""
    hits = [0] * len(LOOKS)
    for number in range(rounds):
        alarms = list(way(nights(random.Random(f"{SEED}:{number}"), world, draws), draws))
        for place, look in enumerate(LOOKS):
            hits[place] += any(alarms[: QUIET + look])
    return [Fraction(count, rounds) for count in hits]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__)
    parser.add_argument("--rounds", type=int, default=400, help="repetitions of each line (default: 400)")
    options = parser.parse_args()
    print(f"pass rate {RATE}, 80 items unless said otherwise, {QUIET} quiet nights, {options.rounds} repetitions, seed {SEED}")
    print(f"share with an alarm by night {', '.join(map(str, LOOKS))} after the quiet ones; alarm at evidence {ALARM}, p {ALPHA}")
    for title, world in WORLDS:
        print(f"\n{title}")
        for name, way, draws in WAYS:
            found = shares(way, world, draws, rounds=options.rounds)
            print(f"  {name:58}" + "".join(f"{float(share):7.3f}" for share in found), flush=True)


if __name__ == "__main__":
    main()
