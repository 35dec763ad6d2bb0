"""Whether a run has code of a model or of an exam to run, and how this machine keeps that apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalaction.checks.kinds import is_program
from evalaction.errors import UsageError

if TYPE_CHECKING:
    from evalaction.engine.prepare import Prepared
    from evalaction.method.exams.exam import Exam
    from evalaction.sandbox.records import Rung


def rung_for(prepared: Prepared, *, allow_unsafe: bool, draws: bool = True, checks: bool = True) -> Rung | None:
    """The isolation for the exam's programs and those of commands; None without any. Raises UsageError (`no_isolation`).

    `draws`, `checks`: whether this job draws, and whether it judges.
    """
    of_checks = checks and any(map(is_program, prepared.exam.items))
    if not of_checks and not (draws and any(one.command for one in prepared.asked)):
        return None
    from evalaction.sandbox.rungs import find_rung

    rung = find_rung(allow_unsafe=allow_unsafe, image=prepared.card.checks.image)
    if of_checks and rung.how == "docker":
        refuse_files(prepared.exam, prepared.card.checks.isolation)
    return rung


def refuse_files(exam: Exam, isolation: str) -> None:
    """Raise UsageError (`no_isolation`) where a check needs files in its box: in a container all draws are one user's, who could
    read them."""
    from evalaction.checks.boxed.programs import program_of

    remedy = "use a hosted Ubuntu runner, or a machine with namespaces or Landlock"
    only = "Of what can isolate code from a model, this machine has docker alone"
    for item in exam.items:
        if item.check.kind == "code" and isolation == "in_process":
            raise UsageError(f"{only}, where `isolation: in_process` cannot be had; {remedy}.", code="no_isolation")
        beside = program_of(item.check.file, exam.files).beside if is_program(item) and item.check.file else {}
        if beside:
            sentence = (
                f"{only}, where a check has no files but its own, and {item.check.file} has {min(beside)} beside it; {remedy}."
            )
            raise UsageError(sentence, code="no_isolation")


def isolation_of(prepared: Prepared, rung: Rung | None, *, checks: bool = True) -> dict[str, str]:
    """What manifest and report say of it: the rung's own details as texts, and `checks`; empty where nothing was run."""
    if rung is None:
        return {}
    kinds = {item.check.kind for item in prepared.exam.items} if checks else set()
    said = prepared.card.checks.isolation if "code" in kinds else "python" if "python" in kinds else None
    details = {name: str(value).lower() for name, value in rung.details.items()}
    return details | ({"checks": said} if said else {})
