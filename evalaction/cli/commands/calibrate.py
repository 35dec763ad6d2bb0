"""`evalaction calibrate`: draw one arm against itself, and see how often this card earns a sign out of nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.cli.own_runs import default_folder, ignored_by_git
from evalaction.cli.parser import Options
from evalaction.cli.pipeline import draw_derived
from evalaction.cli.tables import table
from evalaction.cli.words import plain
from evalaction.cli.world import World
from evalaction.engine.calibration import against_itself
from evalaction.engine.prepare import expected_head, pass_gates, prepare
from evalaction.engine.runner import runner_identity
from evalaction.engine.session import Setting
from evalaction.engine.trial import trial_of
from evalaction.errors import Outcome, UsageError
from evalaction.method.calibration import Calibrated, all_runs, calibrated, speaks
from evalaction.method.report import CALIBRATION
from evalaction.method.series.intervals import wilson
from evalaction.method.telling.words import count, decimal
from evalaction.registration.freeze import freeze
from evalaction.report.encode import term
from evalaction.report.figures import share

if TYPE_CHECKING:
    from evalaction.engine.prepare import Prepared
    from evalaction.method.report import HalfReport, Report

MOST = 1_000


def run(options: Options, world: World) -> int:
    times = options.times
    if not 1 <= times <= MOST:
        raise UsageError(f"--times takes a whole number from 1 to {MOST:,}, not {times}.")
    frozen = freeze(world.cwd / options.card, expected_head=expected_head(world.environ))
    prepared = prepare(trial_of(against_itself(frozen), None))
    for warning in prepared.warnings:
        world.warn(f"warning: {plain(warning)}")
    identity = runner_identity(world.environ)
    together = replace(prepared, plan=all_runs(prepared.plan, times))  # budget and allowance hold for all runs
    rung = pass_gates(together, world.environ, identity, rehearsal=False, ca_bundle=options.ca_bundle)
    if rung is not None:
        from evalaction.endpoints import secrets_of

        world.guard(secrets_of(prepared.named, world.environ).values())
    folder = options.run_dir or Path(f"{default_folder(options.card)}-calibration")
    setting = Setting(
        folder=world.cwd / folder,
        environ=world.environ,
        identity=identity,
        inputs={},
        ca_bundle=options.ca_bundle,
        rung=rung,
    )
    world.warn(f"{count(times, 'run')} × {count(prepared.planned, 'call')} = {count(times * prepared.planned, 'call')} planned")
    with ignored_by_git(world.cwd):
        reports = _drawn(prepared, setting, options, world)
    return _tell(prepared, reports, options, world)


def _drawn(prepared: Prepared, setting: Setting, options: Options, world: World) -> list[Report]:
    """One run folder after another; the first run that reaches nobody is the last."""
    from evalaction.engine.run import refuse_interrupted
    from evalaction.engine.session import redactor_of

    redactor = redactor_of(prepared.named, world.environ)
    for name in redactor.short:
        world.warn(f"warning: the value of {term(name)} is shorter than 8 characters and is not searched for in the runs")
    reports: list[Report] = []
    for number in range(1, options.times + 1):
        one = replace(setting, folder=setting.folder / f"{number:04d}", inputs={CALIBRATION: f"{number} of {options.times}"})
        one.folder.parent.mkdir(parents=True, exist_ok=True)
        drawn, report = draw_derived(prepared, one, world, redactor, quiet=options.quiet)
        refuse_interrupted(drawn, str(one.folder))
        reports.append(report)
        if report.verdict.outcome is Outcome.UNREACHABLE:
            break
    world.say(f"Run folders: {setting.folder}")
    return reports


def _tell(prepared: Prepared, reports: list[Report], options: Options, world: World) -> int:
    world.say()
    rows = [(str(number), *_row(report)) for number, report in enumerate(reports, 1)]
    world.say(table(("run", "half 0", "half 1", "sign", "outcome of the claim"), rows))
    world.say()
    assert prepared.card.sign is not None, "an A/A card has two arms"
    found = calibrated(reports, prepared.card.sign, prepared.card.draws.count)
    for line in _sentences(found, len(reports), options.times):
        world.say(line)
    if any(report.verdict.outcome is Outcome.UNREACHABLE for report in reports):
        return Outcome.UNREACHABLE.exit_code
    return Outcome.PASS.exit_code if found.spoke else Outcome.INCONCLUSIVE.exit_code


def _row(report: Report) -> tuple[str, ...]:
    leads = tuple(map(_lead, report.halves)) or ("–", "–")
    sign = {1: "treatment ahead", -1: "control ahead"}.get(report.verdict.sign, "none")
    codes = ", ".join(found.code for found in report.verdict.breaks)
    outcome = report.verdict.outcome.value + (f" ({codes})" if codes else "")
    return (*leads, sign if speaks(report) else "invalid data", outcome)


def _lead(half: HalfReport) -> str:
    if half.lead_items is None:
        return "nothing to compare"
    return f"{'+' if half.lead_items > 0 else ''}{decimal(half.lead_items)} of {count(half.items, 'item')}"


def _sentences(found: Calibrated, runs: int, times: int) -> list[str]:
    if found.share is None or found.computed is None:
        return ["No run had valid data, so nothing can be said of the card."]
    lines = [
        f"One arm against itself earned a sign in {found.earned} of {count(found.spoke, 'run')}"
        f" ({found.ahead} ahead, {found.behind} behind)."
    ]
    interval = wilson(found.share, found.spoke)
    if interval:
        lines[0] += f" So many runs place the rate between {share(interval.low)} and {share(interval.high)} (95 %)."
    computed = found.computed
    likeness = f"draws pass {share(computed.pass_rate)} of the time, correlation between the arms {computed.shared:.2f}"
    lines.append(
        f"Computed for this size: {share(computed.rate)} ({likeness}). Much more than that in many runs is drift: "
        "the endpoint changes between the draws."
    )
    if found.spoke < runs or runs < times:
        lines.append(f"{count(times, 'run')} asked for, {runs} drawn, {found.spoke} with valid data.")
    lines.append("A calibration is never a result and is never posted.")
    return lines
