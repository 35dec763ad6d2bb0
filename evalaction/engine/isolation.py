"""Whether a run has code of a model or of an exam to run, and how this machine keeps that apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalaction.checks.kinds import is_program

if TYPE_CHECKING:
    from evalaction.engine.prepare import Prepared
    from evalaction.sandbox.records import Rung


def rung_for(prepared: Prepared, *, allow_unsafe: bool, draws: bool = True, checks: bool = True) -> Rung | None:
    """The isolation for the exam's programs and those of commands; None without any. Raises UsageError (`no_isolation`).

    `draws`, `checks`: whether this job draws, and whether it judges.
    """
    of_checks = checks and any(map(is_program, prepared.exam.items))
    if not of_checks and not (draws and any(one.command for one in prepared.asked)):
        return None
    from evalaction.sandbox.rungs import find_rung

    return find_rung(allow_unsafe=allow_unsafe, image=prepared.card.checks.image)


def isolation_of(prepared: Prepared, rung: Rung | None, *, checks: bool = True) -> dict[str, str]:
    """What manifest and report say of it: the rung's own details as texts, and `checks`; empty where nothing was run."""
    if rung is None:
        return {}
    kinds = {item.check.kind for item in prepared.exam.items} if checks else set()
    said = prepared.card.checks.isolation if "code" in kinds else "python" if "python" in kinds else None
    details = {name: str(value).lower() for name, value in rung.details.items()}
    return details | ({"checks": said} if said else {})
