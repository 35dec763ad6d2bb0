"""Whether a run has code of a model or of an exam to run, and how this machine keeps that apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalaction.checks.kinds import is_program

if TYPE_CHECKING:
    from evalaction.engine.prepare import Prepared
    from evalaction.sandbox.records import Rung


def rung_for(prepared: Prepared, *, allow_unsafe: bool) -> Rung | None:
    """The isolation for the exam's programs and those of commands; None without any. Raises UsageError (`no_isolation`)."""
    if not any(map(is_program, prepared.exam.items)) and not any(one.command for one in prepared.asked):
        return None
    from evalaction.sandbox.rungs import find_rung

    return find_rung(allow_unsafe=allow_unsafe, image=prepared.card.checks.image)


def isolation_of(prepared: Prepared, rung: Rung | None) -> dict[str, str]:
    """What manifest and report say of it: the rung's own details as texts, and `checks`; empty where nothing was run."""
    if rung is None:
        return {}
    kinds = {item.check.kind for item in prepared.exam.items}
    checks = prepared.card.checks.isolation if "code" in kinds else "python" if "python" in kinds else None
    details = {name: str(value).lower() for name, value in rung.details.items()}
    return details | ({"checks": checks} if checks else {})
