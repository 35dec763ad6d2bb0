"""What every command that draws does with a prepared question: leave a refusal, or draw, derive and search for secrets."""

from __future__ import annotations

import asyncio
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from evalaction import __version__
from evalaction.cli.progress import progress
from evalaction.engine.session import Setting
from evalaction.errors import EvalactionError, Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from evalaction.cli.world import World
    from evalaction.engine.prepare import Prepared
    from evalaction.engine.run import Drawn
    from evalaction.method.report import Report
    from evalaction.redaction import Redactor


def leave(error: EvalactionError, prepared: Prepared | None, setting: Setting, *, card: str) -> Report:
    """Write a refusal into the run folder. `card` is the path to show where the card was not read. Raises UsageError."""
    from evalaction.engine.manifest import Ended
    from evalaction.engine.prepare import SECRET_IN_CARD
    from evalaction.engine.refusal import refuse_prepared, refuse_unread
    from evalaction.engine.requests import request_lines
    from evalaction.engine.session import manifest_of, redactor_of
    from evalaction.method.report import Provenance

    if prepared and error.code != SECRET_IN_CARD:  # a manifest holds the card's text
        ended = Ended(outcome=error.outcome, code=error.code, sentence=error.sentence)
        redact = redactor_of(prepared.named, setting.environ).redact
        requests = request_lines(prepared, redact) if error.outcome is Outcome.UNCHANGED else ()
        return refuse_prepared(setting.folder, manifest_of(prepared, setting), ended, requests)
    where = Provenance(tool_version=__version__, card_path=card, runner=setting.identity, inputs=setting.inputs)
    return refuse_unread(setting.folder, error, name=card, provenance=where, breaks=getattr(error, "breaks", ()))


def draw_derived(prepared: Prepared, setting: Setting, world: World, redactor: Redactor, *, quiet: bool) -> tuple[Drawn, Report]:
    """Draw and derive every file.

    Raises EvalactionError (`secret_found`) where a file still holds the value of a secret; its reports are gone then.
    """
    from evalaction.engine.folder import locked
    from evalaction.engine.session import draw

    # What the end needs is loaded while replies are under way, not when the last one is in.
    Thread(target=_load_the_end, daemon=True).start()
    with progress(world, quiet=quiet, planned=prepared.planned) as show:
        drawn = asyncio.run(draw(prepared, setting, progress=show))
    from evalaction.engine.derive import derive

    with locked(setting.folder):
        report = derive(setting.folder)
        refuse_leaks(setting.folder, redactor)
    return drawn, report


def draw_only(prepared: Prepared, setting: Setting, world: World, redactor: Redactor, *, quiet: bool) -> tuple[Drawn, Report]:
    """Draw and judge nothing; the report tells the counts alone.

    Raises Interrupted, InconclusiveError (`partial_grid`) where the drawing did not come to its end, EvalactionError
    (`secret_found`) as `draw_derived` does.
    """
    from evalaction.engine.folder import locked
    from evalaction.engine.run import refuse_interrupted
    from evalaction.engine.session import draw
    from evalaction.engine.unjudged import drawn_report

    with progress(world, quiet=quiet, planned=prepared.planned) as show:
        drawn = asyncio.run(draw(prepared, setting, progress=show))
    with locked(setting.folder):
        refuse_leaks(setting.folder, redactor)
    refuse_interrupted(drawn, f"{setting.folder} --draw-only")
    return drawn, drawn_report(setting.folder)


def judge_drawn(prepared: Prepared, folder: Path, world: World, *, quiet: bool, allow_unsafe: bool) -> Report:
    """Judge the sealed draws of a run and derive every file.

    Raises UnregisteredError for another runner than the card demands, and as `judge_draws` does.
    """
    from evalaction.engine.derive import derive
    from evalaction.engine.folder import locked
    from evalaction.engine.isolation import rung_for
    from evalaction.engine.judge import Bench, judge_draws
    from evalaction.engine.runner import check_runner, runner_identity

    bench = Bench(folder=folder, environ=world.environ, identity=runner_identity(world.environ))
    check_runner(prepared.card.runner, bench.identity)
    rung = rung_for(prepared, allow_unsafe=allow_unsafe, draws=False)
    if rung is not None:
        from evalaction.endpoints import secrets_of

        world.guard(secrets_of(prepared.named, world.environ).values())
    with progress(world, quiet=quiet, planned=prepared.planned) as show:
        asyncio.run(judge_draws(prepared, bench, rung, progress=show))
    with locked(folder):
        return derive(folder)


def _load_the_end() -> None:
    for module in ("evalaction.engine.derive", "evalaction.report.text", "tabulate"):
        import_module(module)
    import_module("evalaction.report.html.assets").load()


def refuse_leaks(folder: Path, redactor: Redactor) -> None:
    """Raise EvalactionError (`secret_found`), and take the derived files away, where one of the folder's files holds a secret."""
    from evalaction.engine.derive import drop_derived, find_leaks

    leaks = find_leaks(folder, redactor)
    if leaks:
        drop_derived(folder)
        places = ", ".join(f"{file} ({name})" for file, name in leaks)
        raise EvalactionError(
            f"The value of a secret stands in the files of the run: {places}. The reports were taken away; delete the "
            f"folder {folder} too. A key that is an ordinary word cannot be kept out: use a longer one.",
            code="secret_found",
        )
