"""What `verify` tries of an exam before any call: references, and on request every check twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalaction.cli.words import plain
from evalaction.cli.world import World
from evalaction.method.telling.words import count

if TYPE_CHECKING:
    from evalaction.engine.references import TriedOutput
    from evalaction.registration.frozen import Frozen
    from evalaction.sandbox.records import Rung


def trials_of(frozen: Frozen, *, twice: bool, allow_unsafe: bool) -> tuple[tuple[TriedOutput, ...], Rung | None]:
    """The exam's references judged, and the box they ran in, if any. Raises UsageError (`no_isolation`), SandboxError."""
    from evalaction.engine.references import needs_box, try_out
    from evalaction.sandbox.rungs import find_rung

    exam, checks = frozen.exam, frozen.card.checks
    rung = find_rung(allow_unsafe=allow_unsafe, image=checks.image) if needs_box(exam, twice=twice) else None
    return try_out(exam, checks, rung, twice=twice), rung


def passed(trials: tuple[TriedOutput, ...], rung: Rung | None) -> str | None:
    """One sentence on the references of an exam that stands the trial; None where it has none."""
    references = sum(trial.given == "reference" for trial in trials)
    box = f", in a box ({rung.name}, {rung.how})" if rung else ""
    return f"{count(references, 'reference')} passed{box}" if references else None


def tried(frozen: Frozen, world: World, *, twice: bool, allow_unsafe: bool) -> bool:
    """Whether the exam stands the trial; says what it found. Raises UsageError (`no_isolation`), SandboxError."""
    from evalaction.engine.references import complaints, doubts

    trials, rung = trials_of(frozen, twice=twice, allow_unsafe=allow_unsafe)
    for doubt in doubts(trials):
        world.say(f"warning: {plain(doubt)}")
    found = list(complaints(trials))
    for code, complaint in found:
        world.say(f"{code}: {plain(complaint)}")
    if found:
        return False
    if said := passed(trials, rung):
        world.say(said)
    if twice and trials:
        world.say(f"{count(len(trials), 'output')} judged twice, with the same verdict each time")
    elif twice:
        world.say("nothing was judged twice: no item has a reference")
    return True
