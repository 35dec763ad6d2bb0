"""A job that ends before, or without, any card's verdict: one annotation, one line of summary, one output, no comment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.github.commands import Annotation
from evalaction.github.files import output_file
from evalaction.method.records import Quoted

if TYPE_CHECKING:
    from evalaction.cli.action.log import Log
    from evalaction.cli.world import World
    from evalaction.errors import EvalactionError


def tell_early(world: World, log: Log, error: EvalactionError) -> None:
    """Say why, wherever that can be said."""
    from evalaction.report.encode import words

    sentence = log.redactor().redact(error.sentence)
    log.annotations.append(Annotation(level="error", text=(Quoted(sentence),), weight=1_000, title=error.outcome.value))
    append(world, log, "GITHUB_STEP_SUMMARY", f"## evalaction: {error.outcome.value}\n\n{words(sentence, 2_000)}\n".encode())
    append(world, log, "GITHUB_OUTPUT", output_file({"outcome": error.outcome.value}, log.secrets).data)
    log.annotate()


def append(world: World, log: Log, variable: str, data: bytes) -> None:
    """Add to one of the runner's files; where that is not possible the log says so."""
    path = world.environ.get(variable)
    if not path:
        return
    try:
        with Path(path).open("ab") as file:
            file.write(data)
    except OSError as error:
        log.warn((f"{variable} cannot be written: {error.strerror}.",))
