"""Trying the exam on itself, before any call: references must pass, and a check must say the same thing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from evalaction.checks.kinds import is_program
from evalaction.method.records import Columns, Completion, Item, Quoted, Sentence

if TYPE_CHECKING:
    from evalaction.method.card import CheckLimits
    from evalaction.method.exams.exam import Exam
    from evalaction.sandbox.records import Rung

Given: TypeAlias = Literal["reference", "blank candidate"]
WORKERS = 2
_BLANK = "pass\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedOutput:
    """One output that was judged, once or twice."""

    item: Item
    given: Given
    columns: tuple[Columns, ...]

    @property
    def steady(self) -> bool:
        return len({one.verdict for one in self.columns}) == 1


def needs_box(exam: Exam, *, twice: bool) -> bool:
    """Whether trying this exam runs programs."""
    return any(is_program(item) for item, _, _ in _outputs(exam, twice=twice))


def try_out(exam: Exam, limits: CheckLimits, rung: Rung | None, *, twice: bool) -> tuple[TriedOutput, ...]:
    """Every reference, judged as a draw would be; under `twice` each of them twice, and programs on a blank candidate too.

    `rung` is needed where `needs_box` says so. Raises SandboxError.
    """
    outputs = list(_outputs(exam, twice=twice))
    if not outputs:
        return ()
    return asyncio.run(_judged(exam, outputs, limits, rung, times=2 if twice else 1))


def complaints(trials: Sequence[TriedOutput]) -> Iterator[tuple[str, Sentence]]:
    """What makes the exam unusable, each with its code: references that do not pass, checks that change their mind."""
    for trial in trials:
        name = Quoted(trial.item.id)
        if not trial.steady:
            verdicts = " and then ".join(one.verdict for one in trial.columns)
            yield (
                "check_unsteady",
                (
                    "Item ",
                    name,
                    f": its check says {verdicts} of one and the same {trial.given}; make it a function of the output.",
                ),
            )
        elif trial.given == "reference" and trial.columns[0].verdict != "pass":
            first = trial.columns[0]
            why = first.contract_reason or first.check_reason or first.verdict
            yield "reference_fails", ("Item ", name, ": its reference does not pass (", Quoted(why), "); correct one of them.")


def doubts(trials: Sequence[TriedOutput]) -> Iterator[Sentence]:
    """What a check should not do."""
    for trial in trials:
        if trial.given == "blank candidate" and all(one.verdict == "pass" for one in trial.columns):
            yield "Item ", Quoted(trial.item.id), ": its check accepts a candidate that does nothing."


def _outputs(exam: Exam, *, twice: bool) -> Iterator[tuple[Item, Given, str]]:
    for item in exam.items:
        if item.reference is not None:
            yield item, "reference", item.reference
        if twice and item.check.kind == "code":
            yield item, "blank candidate", f"```python\n{_BLANK}```\n" if item.extract == "fenced" else _BLANK


async def _judged(
    exam: Exam, outputs: Sequence[tuple[Item, Given, str]], limits: CheckLimits, rung: Rung | None, *, times: int
) -> tuple[TriedOutput, ...]:
    from evalaction.checks.pool import Judge

    async with Judge(exam.items, limits, WORKERS, files=exam.files, rung=rung) as judge:
        judging = [[judge(item, Completion(reason=None, output=text)) for _ in range(times)] for item, _, text in outputs]
        judged = await asyncio.gather(*(one for several in judging for one in several))
    columns = iter(one.columns for one in judged)
    return tuple(
        TriedOutput(item=item, given=given, columns=tuple(next(columns) for _ in range(times))) for item, given, _ in outputs
    )
