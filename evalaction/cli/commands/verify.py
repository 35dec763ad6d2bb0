"""`evalaction verify`: registration only, offline. Says what was compared, not just that it fits."""

from __future__ import annotations

from evalaction.cli.parser import Options
from evalaction.cli.tables import table
from evalaction.cli.words import plain
from evalaction.cli.world import World
from evalaction.engine.prepare import expected_head, prepare
from evalaction.errors import Outcome
from evalaction.method.telling.words import count
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
        prepare(report.readable)  # prompts fill, requests build, schemas and patterns hold: found here rather than in the run
    if report.frozen is None:
        return Outcome.UNREGISTERED.exit_code
    arms = count(len(report.frozen.card.arms), "arm")
    world.say(f"registered: {count(len(report.frozen.exam.items), 'item')}, {arms}")
    return 0


def short(digest: str | None) -> str:
    return digest[:12] if digest else "–"
