"""Checks that are programs, run through the real judge in the real box."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from support.judging import item, reached

from evalaction.checks.judgement import Judgement
from evalaction.checks.pool import Judge
from evalaction.errors import UsageError
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check, Completion, Item
from evalaction.sandbox.records import Rung
from evalaction.sandbox.rungs import find_rung

FOLDER = "tasks/one"
PATIENT = CheckLimits(timeout_ms=120_000, cpu_ms=20_000)
BRIEF = CheckLimits(timeout_ms=120_000, cpu_ms=1_000, memory_mb=256)
"""Little CPU time; the clock leaves room for a busy machine."""


@functools.cache
def _best() -> Rung | str:
    try:
        return find_rung(allow_unsafe=False, image=None)
    except UsageError as error:
        return error.sentence


def best_rung() -> Rung:
    """The rung that a run would take here; skips the test where there is none."""
    found = _best()
    if isinstance(found, str):
        pytest.skip(f"this machine cannot isolate: {found}")
    return found


def judged(
    jobs: Sequence[tuple[Item, Completion]],
    files: Mapping[str, bytes],
    limits: CheckLimits = PATIENT,
    *,
    rung: Rung | None = None,
) -> list[Judgement]:
    """All at once; fails after two minutes instead of hanging the test run."""

    async def run() -> list[Judgement]:
        async with Judge([one for one, _ in jobs], limits, 2, files=files, rung=rung or best_rung()) as judge:
            return await asyncio.gather(*(judge(one, completion) for one, completion in jobs))

    return asyncio.run(asyncio.wait_for(run(), 150))


def code(check: str, candidates: Sequence[str], limits: CheckLimits = PATIENT, **how: Any) -> list[str]:
    """What the check says of each candidate: `pass`, or the reason. `beside` are files in the folder of the check."""
    files = {f"{FOLDER}/{name}": data for name, data in how.pop("beside", {}).items()}
    files[f"{FOLDER}/check.py"] = check.encode()
    one = item(Check(kind="code", file=f"{FOLDER}/check.py"), extract=how.pop("extract", "raw"))
    return words(judged([(one, reached(candidate)) for candidate in candidates], files, limits, **how))


def each(checks: Sequence[str], candidate: str, limits: CheckLimits = PATIENT) -> list[str]:
    """What each of several checks says of one candidate."""
    files = {f"tasks/{number}/check.py": check.encode() for number, check in enumerate(checks)}
    items = [item(Check(kind="code", file=file), index=number) for number, file in enumerate(files)]
    return words(judged([(one, reached(candidate)) for one in items], files, limits))


def python(checker: str, outputs: Sequence[str | Completion], limits: CheckLimits = PATIENT, **how: Any) -> list[str]:
    """What a Python checker says of each output."""
    completions = [reached(output) if isinstance(output, str) else output for output in outputs]
    check = Check(kind="python", file="checker.py", fixture=how.pop("fixture", None), source=how.pop("source", "output"))
    rung = how.pop("rung", None)
    one = item(check, **how)
    files = {"checker.py": checker.encode()}
    return words(judged([(one, completion) for completion in completions], files, limits, rung=rung))


def words(judgements: Sequence[Judgement]) -> list[str]:
    columns = (one.columns for one in judgements)
    return [one.contract_reason or one.check_reason or one.verdict for one in columns]
