"""`evalaction selfcheck`: the fixtures of the three protocols through this installation; opens no socket, needs no key."""

from __future__ import annotations

import json
from importlib.resources import files

from evalaction.cli.parser import Options
from evalaction.cli.tables import table
from evalaction.cli.world import World
from evalaction.errors import Outcome
from evalaction.method.selfcheck import Compared, selfcheck

WIDTH = 48


def run(_options: Options, world: World) -> int:
    golden = json.loads(files("evalaction").joinpath("data/selfcheck.json").read_bytes())
    compared = selfcheck(golden)
    wrong = [one for one in compared if not one.same]
    world.say("synthetic fixtures: they check the arithmetic and describe no product")
    world.say(table(("", "what", "expected", "got"), [_row(one) for one in compared]))
    world.say(f"{len(compared) - len(wrong)} of {len(compared)} values as published")
    return Outcome.INTERNAL.exit_code if wrong else Outcome.PASS.exit_code


def _row(one: Compared) -> tuple[str, str, str, str]:
    return ("ok" if one.same else "WRONG", one.name, _short(one.expected), _short(one.got))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
