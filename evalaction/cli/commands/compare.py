"""`evalaction compare`: the items of two runs paired; measured, never judged, so that it ends with 0 whatever it finds."""

from __future__ import annotations

from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.engine.history.pairs import Side, read_side
from evalaction.method.canonical import dumps
from evalaction.method.series.comparison import compare, refuse_incomparable
from evalaction.report.trend.comparison import Shown, comparison_json, comparison_markdown, comparison_text


def run(options: Options, world: World) -> int:
    then, now = (read_side(world.cwd / folder) for folder in (options.run, options.other))
    refuse_incomparable(then.comparable, now.comparable)
    shown = Shown(
        name=now.name,
        then=_called(then),
        now=_called(now),
        titles=tuple(dict.fromkeys((*then.titles, *now.titles))),
        arms=tuple(compare(then.tally, now.tally, arm) for arm in now.comparable.arms),
    )
    match options.format:
        case "json":
            world.write_utf8(dumps(comparison_json(shown)) + "\n")
        case "markdown":
            world.write_utf8(comparison_markdown(shown))
        case _:
            world.say(comparison_text(shown).removesuffix("\n"))
    return 0


def _called(side: Side) -> str:
    """`2026-03-01 09:30 (1a2b3c4d5e6f)`"""
    when = side.started_at[:16].replace("T", " ")
    return f"{when} ({side.commit[:12]})" if side.commit else when
