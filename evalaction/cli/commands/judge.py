"""`evalaction judge`: judge what `run --draw-only` drew, in a checkout of its commit; no key is needed, nothing is called."""

from __future__ import annotations

from dataclasses import replace

from evalaction.cli.opposed import opposed
from evalaction.cli.parser import Options
from evalaction.cli.pipeline import judge_drawn
from evalaction.cli.words import plain
from evalaction.cli.world import World
from evalaction.engine.judge import refuse_undrawn
from evalaction.engine.manifest import read_manifest
from evalaction.engine.prepare import load_prepared
from evalaction.errors import UsageError
from evalaction.registration.git import find_root
from evalaction.report.text import render_text


def run(options: Options, world: World) -> int:
    folder = world.cwd / options.run
    manifest = read_manifest(folder)
    refuse_undrawn(manifest, options.run)
    root = find_root(world.cwd.resolve())
    if root is None:
        raise UsageError("There is no checkout here; judge in one of the commit that was drawn.", code="not_a_repository")
    asked = replace(options, base=manifest.base, question=manifest.question or "base")
    prepared = load_prepared(root / manifest.card_path, world.environ, opposed(asked), rehearse_only=False)
    for warning in prepared.warnings:
        world.warn(f"warning: {plain(warning)}")
    report = judge_drawn(prepared, folder, world, quiet=options.quiet, allow_unsafe=options.allow_unsafe)
    world.say(render_text(report, encoding=world.encoding, colour=world.colour, width=world.width))
    world.say(f"Run folder: {folder}")
    return report.verdict.outcome.exit_code
