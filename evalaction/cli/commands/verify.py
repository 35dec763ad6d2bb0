"""`evalaction verify`: registration only, offline. Says what was compared, not just that it fits."""

from __future__ import annotations

from collections.abc import Iterator

from evalaction.cli.opposed import opposed
from evalaction.cli.parser import Options
from evalaction.cli.references import tried
from evalaction.cli.tables import table
from evalaction.cli.words import plain
from evalaction.cli.world import World
from evalaction.engine.prepare import Prepared, expected_head, prepare
from evalaction.errors import Outcome
from evalaction.method.arms import moved_levers
from evalaction.method.telling.changed import question_sentence
from evalaction.method.telling.words import count, listed
from evalaction.registration.freeze import verify


def run(options: Options, world: World) -> int:
    report = verify(world.cwd / options.card, expected_head=expected_head(world.environ))
    world.say(f"commit {report.commit or 'none'}")
    rows = [(one.role, one.path, short(one.committed_sha256), short(one.working_sha256)) for one in report.checked]
    world.say(table(("file", "path", "committed", "working tree"), rows))
    if report.pinned:
        world.say()
        pins = [(pin.field, short(pin.card), short(pin.committed), short(pin.working)) for pin in report.pinned]
        world.say(table(("hash", "card", "committed", "working tree"), pins))
    world.say()
    for warning in report.warnings:
        world.say(f"warning: {plain(warning)}")
    for broken in report.breaks:
        world.say(f"{broken.code}: {plain(broken.sentence)}")
    if report.readable:
        # Prompts fill, requests build, schemas and patterns hold: found here rather than in the run.
        prepared = prepare(opposed(options, needed=False)(report.readable))
        for warning in prepared.warnings:
            if warning not in report.warnings:
                world.say(f"warning: {plain(warning)}")
    if report.frozen is None:
        return Outcome.UNREGISTERED.exit_code
    arms = count(1 if report.frozen.card.control is None else 2, "arm")
    world.say(f"registered: {count(len(report.frozen.exam.items), 'item')}, {arms}")
    for line in _against(prepared):
        world.say(line)
    stands = tried(report.frozen, world, twice=options.check_twice, allow_unsafe=options.allow_unsafe)
    return 0 if stands else Outcome.USAGE.exit_code


def _against(prepared: Prepared) -> Iterator[str]:
    """What a run against the named base would compare."""
    trial = prepared.trial
    if trial.base is None:
        return
    yield f"base {trial.base}"
    if trial.new:
        yield plain((trial.new,))
    if trial.question_changes:
        asked = "base's" if trial.asked_by == "base" else "this one"
        yield f"the question changes, and {asked} is asked: {plain(question_sentence(trial.question_changes))}"
    if len(prepared.arms) == 2:
        levers = moved_levers(prepared.arms["treatment"], prepared.arms["control"])
        items = len(prepared.exam.items) + len(prepared.left_out)
        changed = len(prepared.exam.items) - len(prepared.unchanged)
        moved = listed(levers) if levers else "no lever moved"
        yield f"{changed:,} of {count(items, 'item')} ask something else than at base ({moved})"


def short(digest: str | None) -> str:
    return digest[:12] if digest else "–"
