"""`evalaction lock`: write the hashes of exam and checkers into the card, and touch nothing else."""

from __future__ import annotations

from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.registration.lock import lock


def run(options: Options, world: World) -> int:
    result = lock(world.cwd / options.card)
    for change in result.changes:
        world.say(f"{change.field}: {change.old or 'none'} → {change.new}")
    if result.written:
        world.say(f"{options.card} is locked. Commit it together with the exam before you run it.")
    else:
        world.say(f"{options.card} was locked already; nothing changed.")
    return 0
