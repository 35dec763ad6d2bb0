"""What `verify` tries of an exam before any call: references, and on request every check twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalaction.cli.words import plain
from evalaction.cli.world import World
from evalaction.method.telling.words import count

if TYPE_CHECKING:
    from evalaction.registration.frozen import Frozen


def tried(frozen: Frozen, world: World, *, twice: bool, allow_unsafe: bool) -> bool:
    """Whether the exam stands the trial; says what it found. Raises UsageError (`no_isolation`), SandboxError."""
    from evalaction.engine.references import complaints, doubts, needs_box, try_out
    from evalaction.sandbox.rungs import find_rung

    exam, checks = frozen.exam, frozen.card.checks
    rung = find_rung(allow_unsafe=allow_unsafe, image=checks.image) if needs_box(exam, twice=twice) else None
    trials = try_out(exam, checks, rung, twice=twice)
    for doubt in doubts(trials):
        world.say(f"warning: {plain(doubt)}")
    found = list(complaints(trials))
    for code, complaint in found:
        world.say(f"{code}: {plain(complaint)}")
    references = sum(trial.given == "reference" for trial in trials)
    if references and not found:
        box = f", in a box ({rung.name}, {rung.how})" if rung else ""
        world.say(f"{count(references, 'reference')} passed{box}")
    if twice and not found:
        world.say(f"{count(len(trials), 'output')} judged twice, with the same verdict each time")
    return not found
