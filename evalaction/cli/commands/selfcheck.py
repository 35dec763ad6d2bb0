"""`evalaction selfcheck`: the fixtures of the three protocols through this installation; opens no socket, needs no key."""

from __future__ import annotations

import json
from importlib.resources import files

from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.errors import Outcome
from evalaction.method.selfcheck import Compared, selfcheck
from evalaction.report.encode import term

WIDTH = 98
WRONG_WIDTH = 2_000
"""What differs is shown whole."""


def run(_options: Options, world: World) -> int:
    golden = json.loads(files("evalaction").joinpath("data/selfcheck.json").read_bytes())
    compared = selfcheck(golden)
    wrong = [one for one in compared if not one.same]
    world.say("synthetic fixtures: they check the arithmetic and describe no product")
    for one in compared:
        for line in _lines(one):
            world.say(line)
    world.say(f"{len(compared) - len(wrong)} of {len(compared)} values as published")
    return Outcome.INTERNAL.exit_code if wrong else Outcome.PASS.exit_code


def _lines(one: Compared) -> list[str]:
    if one.same:
        return [term(f"ok     {one.name}: {one.got}", WIDTH)]
    return [
        term(f"WRONG  {one.name}", WIDTH),
        f"       published {term(one.expected, WRONG_WIDTH)}",
        f"       here      {term(one.got, WRONG_WIDTH)}",
    ]
