"""`evalaction init`: a card, tasks, a prompt and a workflow to begin with. Asks nothing, overwrites nothing."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from itertools import chain
from pathlib import Path

from evalaction.cli.new_files import refuse_filled, write_folder
from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.errors import UsageError
from evalaction.method.exams.exam import COMFORTABLE
from evalaction.method.reading import paths
from evalaction.report.encode import term

FIRST = 3
"""Tasks of a card with one arm."""
WORKFLOW = Path(".github/workflows/evaluation.yml")
_PAIR = (
    f"The pair card claims that a change is not behind. That takes about {COMFORTABLE} items: as many placeholders are written, "
    "put your own in their place."
)


def run(options: Options, world: World) -> int:
    folder = world.cwd / options.folder
    root = _root(folder)
    where = (folder.resolve().relative_to(root) / "card.yaml").as_posix()
    if paths.refusal(where):
        raise UsageError(f"{options.folder}: a card cannot lie there, its path {paths.refusal(where)}.")
    refuse_filled(folder, shown=str(options.folder))
    write_folder(folder, _files(folder.name, pair=options.pair), shown=str(options.folder))
    card = options.folder / "card.yaml"
    world.say(f"written: {term(str(card))} with {'two arms' if options.pair else 'one arm'}, tasks.jsonl, prompts/system.md")
    added = [str(options.folder), *_workflow(root, where, world)]
    if options.pair:
        world.say(_PAIR)
    world.say(f"Name your model in {term(str(card))}; EVAL_URL and EVAL_KEY say where it is. The next two commands:")
    world.say()
    begin = "" if (root / ".git").exists() else "git init && "
    typed = shlex.quote(str(card))
    world.say(f"  {begin}evalaction lock {typed} && git add {shlex.join(added)} && git commit -m 'Ask a first question'")
    world.say(f"  evalaction verify {typed}")
    return 0


def _root(folder: Path) -> Path:
    """The work tree that the folder will lie in, or the folder above it where there is none."""
    above = folder.resolve().parent
    return next((place for place in chain([above], above.parents) if (place / ".git").exists()), above)


def _files(name: str, *, pair: bool) -> dict[str, bytes]:
    data = files("evalaction").joinpath("data/init")
    card = data.joinpath("pair.yaml" if pair else "card.yaml").read_bytes()
    tasks = data.joinpath("tasks.jsonl").read_bytes()
    plain = name if re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,60}", name) else "evaluation"
    return {
        "card.yaml": card.replace(b"NAME", plain.encode()),
        "tasks.jsonl": tasks if pair else b"".join(tasks.splitlines(keepends=True)[:FIRST]),
        "prompts/system.md": data.joinpath("prompts/system.md").read_bytes(),
    }


def _workflow(root: Path, card: str, world: World) -> list[str]:
    """Write the workflow where there is none; its path as the user would type it, for `git add`."""
    place = root / WORKFLOW
    shown = _typed(place, world)
    text = files("evalaction").joinpath("data/init/workflow.yml").read_bytes().replace(b"CARD", card.encode())
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.write(text)
    except FileExistsError:
        world.say(f"{term(shown)} is there already and was left as it is; add {term(card)} to its `card`.")
        return []
    except OSError as error:
        raise UsageError(f"{shown} cannot be written: {error.strerror}. The card and its tasks are there.") from error
    world.say(f"written: {term(shown)}, to be pinned to the release that you reviewed")
    return [shown]


def _typed(place: Path, world: World) -> str:
    cwd = world.cwd.resolve()
    return str(place.relative_to(cwd)) if place.is_relative_to(cwd) else str(place)
