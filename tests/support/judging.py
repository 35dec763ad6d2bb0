"""Items, completions and a judge for tests of the checks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from evalaction.checks.judgement import Judgement
from evalaction.checks.pool import Judge
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check, Completion, Item


def item(check: Check, *, index: int = 0, **fields: Any) -> Item:
    """An item of `tasks.jsonl`; a schema or a json check implies `extract: json`, as the exam resolves it."""
    implied = "json" if fields.get("schema") is not None or check.kind == "json" else "raw"
    return Item(
        id=f"item-{index}",
        index=index,
        file="tasks.jsonl",
        line=index + 1,
        prompt="?",
        check=check,
        sha256="0" * 64,
        **{"extract": implied, **fields},
    )


def reached(output: str, finish_reason: str | None = None) -> Completion:
    return Completion(reason=None, output=output, finish_reason=finish_reason)


def judged(
    items: Sequence[Item],
    jobs: Sequence[tuple[int, Completion]],
    limits: CheckLimits | None = None,
    *,
    workers: int = 2,
    command: tuple[str, ...] | None = None,
) -> list[Judgement]:
    """All jobs at once, in the order given; fails after 60 s instead of hanging the test run."""

    async def run() -> list[Judgement]:
        async with Judge(items, limits or CheckLimits(), workers, command=command) as judge:
            return await asyncio.gather(*(judge(items[index], completion) for index, completion in jobs))

    return asyncio.run(asyncio.wait_for(run(), 60))
