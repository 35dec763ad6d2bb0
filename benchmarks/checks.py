"""What a killable worker costs: CPU time per output of parent and worker, beside the same judging in this process.

    python -m benchmarks.checks [outputs]

Every figure is measured in this one run; compare ratios, not microseconds. `bare` awaits a future and judges nothing.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from evalaction.checks.bench import Bench
from evalaction.checks.judgement import of_answer
from evalaction.checks.pool import Judge
from evalaction.checks.wire import Job, contract_text, schema_text
from evalaction.method.canonical import Json
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check, Completion, Item

CONCURRENCY = 32
SCHEMA: Json = {"type": "object", "required": ["status"], "properties": {"status": {"enum": ["green", "red"]}}}


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    item: Item
    output: str


def case(name: str, check: Check, output: str, *, json: bool = False, schema: bool = False) -> Case:
    item = Item(
        id=name,
        index=0,
        file="tasks.jsonl",
        line=1,
        prompt="?",
        check=check,
        sha256="0" * 64,
        extract="json" if json or schema else "raw",
        schema=SCHEMA if schema else None,
    )
    return Case(name=name, item=item, output=output)


CASES = (
    case("exact", Check(kind="exact", expected="a" * 200), "a" * 200),
    case("contains", Check(kind="contains", expected="yes"), "x" * 200 + "yes"),
    case("number", Check(kind="number", expected=42), "42.0"),
    case("json", Check(kind="json", expected={"status": "green"}), '{"status": "green"}', json=True),
    case("regex", Check(kind="regex", expected=r"\byes\b"), "x" * 200 + " yes"),
    case("json + schema", Check(kind="json", expected={"status": "green"}), '{"status": "green"}', schema=True),
)


async def spread(one: Callable[[], Awaitable[object]], count: int) -> None:
    """`count` calls, at most CONCURRENCY at once, each awaited by a task of its own as draws are."""
    gate = asyncio.Semaphore(CONCURRENCY)

    async def call() -> None:
        async with gate:
            await one()

    await asyncio.gather(*(call() for _ in range(count)))


async def bare() -> None:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    loop.call_soon(future.set_result, None)
    await future


def worker_cpu(judge: Judge) -> float:
    total = 0
    for link in judge._links:
        fields = Path(f"/proc/{link.child.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def in_process(one: Case, count: int) -> float:
    bench = Bench()
    schemas = [(0, schema_text(one.item.schema))] if one.item.schema is not None else []
    bench.learn({"schemas": schemas, "contracts": [(0, contract_text(one.item, 0 if schemas else None))]})
    began = time.process_time()
    for _ in range(count):
        of_answer(bench.judge(Job(0, one.output, None), lambda *_: None))
    return (time.process_time() - began) / count


async def measured(one: Case, count: int) -> tuple[float, float, float]:
    """Per output: CPU seconds of the parent beyond `bare`, CPU seconds of the workers, wall seconds."""
    before = time.process_time()
    await spread(bare, count)
    nothing = time.process_time() - before
    completion = Completion(reason=None, output=one.output)
    async with Judge([one.item], CheckLimits(), 2) as judge:
        await spread(lambda: judge(one.item, completion), CONCURRENCY * 4)  # workers started, contracts known
        cpu, workers, wall = time.process_time(), worker_cpu(judge), time.monotonic()
        await spread(lambda: judge(one.item, completion), count)
        cpu, workers, wall = time.process_time() - cpu, worker_cpu(judge) - workers, time.monotonic() - wall
    return (cpu - nothing) / count, workers / count, wall / count


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    print(f"{count:,} outputs each, {CONCURRENCY} at once, 2 workers; µs of CPU per output")
    print(f"{'check':<15}{'parent':>8}{'worker':>8}{'in process':>12}{'worker ÷ in process':>21}{'outputs/s':>11}")
    for one in CASES:
        parent, worker, wall = asyncio.run(measured(one, count))
        alone = in_process(one, count)
        costs = f"{parent * 1e6:>8.0f}{worker * 1e6:>8.0f}{alone * 1e6:>12.0f}"
        print(f"{one.name:<15}{costs}{worker / alone:>20.1f}×{1 / wall:>11,.0f}")


if __name__ == "__main__":
    main()
