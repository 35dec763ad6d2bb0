"""`evalaction report`: print the report of a run in one of its forms; nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.engine.derive import junit_of, page_of
from evalaction.engine.score import planned_rows, score
from evalaction.method.report import Report
from evalaction.report.badge import badge_json
from evalaction.report.markdown import comment, summary
from evalaction.report.results_json import results_json
from evalaction.report.rows_csv import COLUMNS, heading, row_line
from evalaction.report.text import render_text

_OF_REPORTS: dict[str, Callable[[Report], str]] = {
    "markdown": comment,
    "summary": summary,
    "json": results_json,
    "badge": badge_json,
}


def run(options: Options, world: World) -> int:
    folder = world.cwd / options.run
    if options.format == "text":
        world.say(render_text(score(folder), encoding=world.encoding, colour=world.colour, width=world.width))
    else:
        _file(folder, options.format, world)
    return 0


def _file(folder: Path, form: str, world: World) -> None:
    """What is also a file of the run, byte for byte."""
    if form == "html":
        for piece in page_of(folder):
            world.write_utf8(piece)
    elif form == "junit":
        for piece in junit_of(folder):
            world.write_utf8(piece)
    elif form == "csv":
        lines = map(row_line, planned_rows(folder))
        first = next(lines, "")  # a run that cannot be shown is refused here, before anything is written
        world.write_utf8(heading(COLUMNS) + first)
        for line in lines:
            world.write_utf8(line)
    else:
        world.write_utf8(_OF_REPORTS[form](score(folder)))
