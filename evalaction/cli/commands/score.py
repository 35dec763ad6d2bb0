"""`evalaction score`: derive everything of a run again from its manifest and rows, offline, byte for byte."""

from __future__ import annotations

from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.engine.derive import derive
from evalaction.engine.folder import locked
from evalaction.report.text import render_text


def run(options: Options, world: World) -> int:
    folder = world.cwd / options.run
    with locked(folder):
        report = derive(folder)
    world.say(render_text(report, encoding=world.encoding, colour=world.colour, width=world.width))
    return report.verdict.outcome.exit_code
