"""What `api: command` asks of its endpoint: the files that are the program, and variables that a program may be given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalaction.method.cards.rules import Problem
from evalaction.method.reading import paths
from evalaction.method.reading.source import Path
from evalaction.method.reading.text import short

# Tokens, command files and addresses of the runner go by these names; a program gets what it needs by names of the team.
_RUNNERS = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "EVALACTION_")
_BOX = ("PATH", "HOME", "TMPDIR")


def problems(card: Any) -> Iterator[Problem]:
    """The problems of the programs of a card that fits the schema."""
    for name, endpoint in card["endpoints"].items():
        if endpoint["api"] == "command":
            path: Path = ("endpoints", name)
            yield from _paths((*path, "paths"), endpoint["paths"])
            yield from _variables((*path, "env"), endpoint.get("env", []))
            if endpoint.get("output") == "tool_calls":
                yield Problem((*path, "output"), "a program writes text; remove `output: tool_calls`")


def _paths(path: Path, named: list[str]) -> Iterator[Problem]:
    seen = set()
    for place, written in enumerate(named):
        why = paths.refusal(written.removesuffix("/"), "the root of the repository")
        if why:
            yield Problem((*path, place), f"the path `{short(written)}` {why}")
        if written.removesuffix("/") in seen:
            yield Problem((*path, place), f"the path `{short(written)}` is named twice")
        seen.add(written.removesuffix("/"))


def _variables(path: Path, named: list[str]) -> Iterator[Problem]:
    for place, name in enumerate(named):
        if name.upper().startswith(_RUNNERS):
            sentence = f"`{short(name)}` belongs to the runner and is given to no program; pass its value by a name of your own"
            yield Problem((*path, place), sentence)
        if name in _BOX:
            yield Problem((*path, place), f"`{name}` is set inside the box; remove it")
        if name in named[:place]:
            yield Problem((*path, place), f"the variable `{short(name)}` is named twice")
