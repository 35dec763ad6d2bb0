"""`evalaction report`: print the report of a run in one of its forms; nothing is written."""

from __future__ import annotations

from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.engine.score import planned_rows, score
from evalaction.report.markdown import comment, summary
from evalaction.report.results_json import results_json
from evalaction.report.rows_csv import rows_csv
from evalaction.report.text import render_text


def run(options: Options, world: World) -> int:
    folder = world.cwd / options.run
    if options.format == "csv":
        world.out.write(rows_csv(planned_rows(folder)))
        return 0
    report = score(folder)
    if options.format == "text":
        world.say(render_text(report, encoding=world.encoding, colour=world.colour, width=world.width))
    else:
        world.out.write({"markdown": comment, "summary": summary, "json": results_json}[options.format](report))
    return 0
