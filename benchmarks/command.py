"""The whole command on loopback: wall time against the ideal, CPU per draw against the bare loop, start-up against Python's."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import transport
from benchmarks.exams import ENVIRON, commit_exam
from benchmarks.measuring import PYTHON, Cost, Figure, cost_of, median, spread
from evalaction.engine.prepare import load, prepare
from evalaction.engine.session import Setting, draw
from evalaction.engine.trial import trial_of

LATENCY_S = 0.05
DRAWS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """One run of the command; `loop_s` is the wall time of its drawing alone, as its seal says."""

    cost: Cost
    loop_s: float


def run_once(card: Path, folder: Path) -> Drawn:
    cost = cost_of([PYTHON, "-m", "evalaction", "run", card, "--quiet", "--run-dir", folder], cwd=card.parent)
    seal = json.loads((folder / "rows.jsonl").read_bytes().splitlines()[-1])["seal"]
    return Drawn(cost=cost, loop_s=seal["ms"] / 1000)


def whole_command(folder: Path, url: str, *, rounds: int) -> Iterator[Figure]:
    """200 items × 5 draws, 32 at once."""
    card = commit_exam(folder / "small", url=url, items=200, draws=DRAWS, concurrency=32)
    ideal = math.ceil(200 * DRAWS / 32) * LATENCY_S
    walls, bare = [], []
    for number in range(rounds):
        walls.append(run_once(card, folder / f"small-{number}").cost.wall_s)
        bare.append(asyncio.run(transport.measure(transport.bare, url, 200 * DRAWS, 32))[0])
    yield Figure(
        what="the command, 200 × 5, 32 at once: wall ÷ ideal",
        measured=spread(walls, "s"),
        beside=f"{ideal:.2f} s",
        ratio=median(walls) / ideal,
        goal=1.4,
    )
    yield _beside_bare("the same beside the bare loop, which has no start and no end", walls, bare)


def drawing_loop(folder: Path, url: str, *, items: int, rounds: int) -> Iterator[Figure]:
    """`items` × 5 draws, 128 at once; bare loop and command take turns, so that both see the same machine."""
    card = commit_exam(folder / "large", url=url, items=items, draws=DRAWS, concurrency=128)
    draws = items * DRAWS
    ideal = math.ceil(draws / 128) * LATENCY_S
    runs, bare, client = [], [], []
    for number in range(rounds):
        bare.append(asyncio.run(transport.measure(transport.bare, url, draws, 128)))
        client.append(_drawing_cpu(card, folder / f"client-{number}") / draws * 1000)
        runs.append(run_once(card, folder / f"large-{number}"))
    loops = [run.loop_s for run in runs]
    size = f"{items:,} × {DRAWS}, 128 at once"
    yield Figure(
        what=f"its drawing loop, {size}: ideal ÷ wall",
        measured=spread(loops, "s"),
        beside=f"{ideal:.2f} s",
        ratio=ideal / median(loops),
        goal=0.85,
        more=True,
    )
    yield _beside_bare("the same beside the bare loop", loops, [wall for wall, _ in bare])
    least = [cpu for _, cpu in bare]
    beside = spread(least, "ms", digits=3)
    yield _cpu(f"CPU a draw, {size}: the client's process while it draws ÷ bare loop", client, least, beside)
    whole = [run.cost.cpu_s / draws * 1000 for run in runs]
    yield _cpu("CPU a draw: the whole command with git, judging workers and reports ÷ bare loop", whole, least, beside)
    library = asyncio.run(transport.measure(transport.httpcore_connections, url, draws // 5, 128))[1]
    yield Figure(
        what="CPU a draw: the whole command ÷ a bare loop over httpcore, for comparison",
        measured=spread(whole, "ms", digits=3),
        beside=f"{library:.3f} ms",
        ratio=median(whole) / library,
    )


def _beside_bare(what: str, walls: list[float], bare: list[float]) -> Figure:
    """On a busy machine the ideal is out of reach for everybody; this is what the bare loop reached in the same minute."""
    ratios = [one / other for one, other in zip(walls, bare, strict=True)]
    return Figure(what=what, measured=spread(walls, "s"), beside=spread(bare, "s"), ratio=median(ratios))


def _cpu(what: str, measured: list[float], bare: list[float], beside: str) -> Figure:
    ratios = [one / other for one, other in zip(measured, bare, strict=True)]
    return Figure(what=what, measured=spread(measured, "ms", digits=3), beside=beside, ratio=median(ratios), goal=1.5)


def _drawing_cpu(card: Path, folder: Path) -> float:
    """CPU seconds of this process from the first request to the seal: sending, reading, handing to the judges, writing."""
    setting = Setting(folder=folder, environ=ENVIRON, identity={}, inputs={})
    prepared = prepare(trial_of(load(card, ENVIRON, rehearse_only=False), None))
    start = time.process_time()
    asyncio.run(draw(prepared, setting, progress=lambda _: None))
    return time.process_time() - start


def start_up(*, rounds: int) -> Iterator[Figure]:
    """Everything in turn, many times: these are milliseconds."""
    commands = {
        "version": [PYTHON, "-m", "evalaction", "--version"],
        "pass": [PYTHON, "-c", "pass"],
        "isolated": [PYTHON, "-I", "-S", "-c", "pass"],
    }
    walls: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            walls[name].append(cost_of(command).wall_s)
    version = walls.pop("version")
    for name, other in walls.items():
        yield Figure(
            what=f"evalaction --version ÷ python {' '.join(commands[name][1:])}",
            measured=spread(version, "ms", scale=1000, digits=0),
            beside=spread(other, "ms", scale=1000, digits=0),
            ratio=median(version) / median(other),
            goal=4.0,
        )
