"""`evalaction run`: freeze, pass the gates, draw, judge, report. Every ending leaves a report in the run folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalaction.cli.opposed import opposed
from evalaction.cli.own_runs import default_folder, ignored_by_git
from evalaction.cli.parser import Options
from evalaction.cli.pipeline import draw_derived, draw_only, leave
from evalaction.cli.words import plain
from evalaction.cli.world import World
from evalaction.engine.folder import DRAWS
from evalaction.engine.runner import runner_identity
from evalaction.engine.session import Setting
from evalaction.errors import EvalactionError, Outcome, Settled, UsageError
from evalaction.method.telling.words import count
from evalaction.report.encode import term

if TYPE_CHECKING:
    from evalaction.engine.prepare import Prepared
    from evalaction.method.report import Report


_SET_UP = "setup_failed"
SETTLED = frozenset({Outcome.UNCHANGED, Outcome.REGISTERED})


def run(options: Options, world: World) -> int:
    if options.resume and options.run_dir is None:
        raise UsageError("--resume needs --run-dir, the folder of the run to finish.")
    if options.history is not None:
        from evalaction.cli.history import expect

        expect(world.cwd / options.history, rehearsal=options.rehearse)
    if options.draw_only and (options.rehearse or options.history is not None):
        raise UsageError("--draw-only goes with neither --rehearse nor --history: nothing is judged yet that could be kept.")
    setting = Setting(
        folder=world.cwd / (options.run_dir or default_folder(options.card)),
        environ=world.environ,
        identity=runner_identity(world.environ),
        inputs=_inputs(options),
        ca_bundle=options.ca_bundle,
        resume=options.resume,
        rehearsal=options.rehearse,
        judged_apart=options.draw_only,
    )
    with ignored_by_git(world.cwd):
        report = draw_and_report(options, world, setting)
    from evalaction.report.text import render_text

    world.say(render_text(report, encoding=world.encoding, colour=world.colour, width=world.width))
    world.say(f"Run folder: {setting.folder}")
    if options.draw_only and (setting.folder / DRAWS).exists():
        world.say(f"Judge it in a checkout of this commit, without the keys: evalaction judge {setting.folder}")
    if options.history is not None and report.verdict.outcome in SETTLED:
        world.say("History: nothing was drawn, so nothing is added.")
    elif options.history is not None:
        from evalaction.cli.history import remember

        remember(setting.folder, world.cwd / options.history, world)
    return report.verdict.outcome.exit_code


def draw_and_report(options: Options, world: World, setting: Setting) -> Report:
    """The report of the run. A refusal leaves its report in the folder and is raised."""
    from evalaction.engine.prepare import load_prepared, pass_gates

    try:
        card = world.cwd / options.card
        prepared = load_prepared(card, world.environ, opposed(options), rehearse_only=options.rehearse)
    except EvalactionError as error:
        _leave(error, None, options, setting)
        raise
    for warning in prepared.warnings:
        world.warn(f"warning: {plain(warning)}")
    try:
        rung = pass_gates(
            prepared,
            world.environ,
            setting.identity,
            rehearsal=options.rehearse,
            ca_bundle=options.ca_bundle,
            allow_unsafe=options.allow_unsafe,
            judged_apart=options.draw_only,
        )
    except Settled as end:
        return leave(end, prepared, setting, card=str(options.card))
    except EvalactionError as error:
        _leave(error, prepared, options, setting)
        raise
    if rung is not None:
        from evalaction.endpoints import secrets_of

        world.guard(secrets_of(prepared.named, world.environ).values())
    try:
        return _drawn(prepared, options, world, replace(setting, rung=rung))
    except UsageError as error:
        if error.code == _SET_UP:  # the last of the refusals before a call, and the only one after the gates
            _leave(error, prepared, options, setting)
        raise


def _inputs(options: Options) -> dict[str, str]:
    given = {"synthetic": options.synthetic, "allow-unsafe-execution": options.allow_unsafe}
    question = {"question": options.question} if options.question != "base" else {}
    base = {"base": options.base} if options.base is not None else {}
    return {name: "true" for name, set_ in given.items() if set_} | base | question


def _leave(error: EvalactionError, prepared: Prepared | None, options: Options, setting: Setting) -> None:
    """Write the refusal into the run folder; what prevents that is a note on the refusal, not another error."""
    if setting.resume:  # the folder holds the rows of an earlier sitting
        return
    try:
        leave(error, prepared, setting, card=str(options.card))
    except EvalactionError as second:
        error.add_note(f"No report was left: {second.sentence}")
    else:
        error.add_note(f"Report: {setting.folder / 'comment.md'}")


def _drawn(prepared: Prepared, options: Options, world: World, setting: Setting) -> Report:
    from evalaction.engine.run import refuse_interrupted
    from evalaction.engine.session import redactor_of

    redactor = redactor_of(prepared.named, world.environ)
    for name in redactor.short:
        world.warn(
            f"warning: the value of {term(name)} is shorter than 8 characters and is not searched for in the files of the run"
        )
    if not setting.resume:
        world.warn(f"{count(prepared.planned, 'call')} planned")
    draw = draw_only if options.draw_only else draw_derived
    drawn, report = draw(prepared, setting, world, redactor, quiet=options.quiet)
    if setting.resume:
        world.warn(f"{count(drawn.added, 'draw')} added, {drawn.counts.written:,} of {drawn.counts.planned:,} are on disk")
    refuse_interrupted(drawn, str(setting.folder))
    return report
