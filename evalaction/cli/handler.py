"""The one outermost handler: exceptions become a sentence and an exit code, never a traceback for a mistake of the user."""

from __future__ import annotations

import importlib
import os
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, cast

from evalaction.cli.parser import Options, parse
from evalaction.cli.world import World
from evalaction.errors import EvalactionError, Outcome, SourceError, UsageError

WORDS = {
    Outcome.USAGE: "cannot start",
    Outcome.INTERNAL: "nothing is shown",
    Outcome.UNREGISTERED: "not registered, something that was frozen has moved",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_RUN: "not run",
    Outcome.INTERRUPTED: "interrupted",
}

MODULES = {"import": "importing"}
"""Commands whose name cannot be that of a module."""

SENTENCE = 2_000
"""Characters of an error sentence; cut later than a table cell, for its end says what to do."""


class Command(Protocol):
    """A module of `cli.commands`."""

    def run(self, options: Options, world: World) -> int: ...


def run_command(argv: Sequence[str], world: World | None = None) -> int:
    """Parse, run, and translate what went wrong; argparse itself exits with 2 on a usage error."""
    world = world or World.real()  # first: a console of few characters must be able to show the help too
    options = parse(argv)
    try:
        module = MODULES.get(options.command, options.command)
        command = cast("Command", importlib.import_module(f"evalaction.cli.commands.{module}"))
        code = command.run(options, world)
        world.flush()
        return code
    except EvalactionError as error:
        explain(error, world, folder=options.card.parent)
        return error.outcome.exit_code
    except KeyboardInterrupt:
        world.warn("evalaction: interrupted")
        return Outcome.INTERRUPTED.exit_code
    except Exception as error:  # noqa: BLE001  a bug of ours must not look like a failed gate
        world.warn(f"evalaction: internal error (3), this is a bug of ours: {type(error).__name__}")
        world.warn(traceback.format_exc())
        return Outcome.INTERNAL.exit_code
    finally:
        with suppress(UsageError):
            world.flush()  # here, where a reader that left is no error; at the end of the process it would be one


def explain(error: EvalactionError, world: World, *, folder: Path) -> None:
    """Print the outcome in words, the sentence, and any notes that carry the likely fix; `folder` is the card's."""
    from evalaction.report.encode import term

    words = WORDS.get(error.outcome, error.outcome.value)
    world.warn(f"evalaction: {words} ({error.outcome.exit_code})")
    breaks = getattr(error, "breaks", ())
    lines = [(item.code, "".join(str(getattr(part, "text", part)) for part in item.sentence)) for item in breaks]
    for code, sentence in lines or [(error.code, _from_here(error, world.cwd, folder))]:
        line = sentence if code == error.outcome.value else f"{code}: {sentence}"  # the outcome stands above already
        world.warn("  " + term(line, SENTENCE))
    for note in getattr(error, "__notes__", ()):
        world.warn("  " + term(note, SENTENCE))


def _from_here(error: EvalactionError, cwd: Path, folder: Path) -> str:
    """The sentence; a file that the card names by a path from its own folder has one that can be opened from here."""
    if not isinstance(error, SourceError):
        return error.sentence
    found = folder / error.file
    if os.path.exists(cwd / error.file) or not os.path.exists(cwd / found):  # noqa: PTH110  Path.exists raises for some names
        return error.sentence
    return f"{found.as_posix()}{error.sentence.removeprefix(error.file)}"
