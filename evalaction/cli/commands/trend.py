"""`evalaction trend`: the runs of a history over time, with intervals, and whether it has got worse; nothing is written."""

from __future__ import annotations

from evalaction.cli.history import trends
from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.errors import UsageError
from evalaction.method.canonical import dumps
from evalaction.method.series.trend import trend_json


def run(options: Options, world: World) -> int:
    assert options.history is not None
    found = trends(world.cwd / options.history)
    if not found:
        raise UsageError(
            f"The history in {options.history} has no entry yet; add one with `evalaction run --history`.", code="history"
        )
    match options.format:
        case "json":
            world.write_utf8(dumps([trend_json(trend) for trend in found]) + "\n")
        case "html":
            from evalaction.report.trend.html import trend_page

            world.write_utf8(trend_page(found))
        case "markdown":
            from evalaction.report.trend.markdown import trend_markdown

            world.write_utf8("\n\n".join(trend_markdown(trend, heading="##", rows=1000) for trend in found) + "\n")
        case _:
            from evalaction.report.trend.text import trend_text

            world.say("\n".join(map(trend_text, found)))
    return 0
