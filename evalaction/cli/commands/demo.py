"""`evalaction demo`: the main job on a small exam in a real repository, against the embedded scripted endpoint."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from contextlib import nullcontext
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from evalaction.cli.commands import lock, plan
from evalaction.cli.commands import run as run_command
from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.errors import UsageError

AUTHOR = ("-c", "user.name=evalaction demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgsign=false")


def run(options: Options, world: World) -> int:
    """Ends with 0 when it ran, whatever it judged."""
    if shutil.which("git") is None:
        raise UsageError("The demo needs git; install it and try again.")
    if options.keep and (world.cwd / options.keep).exists():
        raise UsageError(f"{options.keep} exists already; --keep takes the name of a new folder.")
    home = nullcontext(str(world.cwd / options.keep)) if options.keep else tempfile.TemporaryDirectory(prefix="evalaction-demo-")
    with home as folder:
        _demo(Path(folder), options, world)
    return 0


def _demo(folder: Path, options: Options, world: World) -> None:
    world.say("Synthetic replies from a file: this shows the protocol and describes no model.\n")
    with as_file(files("evalaction").joinpath("data/demo")) as data:
        shutil.copytree(data, folder, dirs_exist_ok=True)
    here = replace(world, cwd=folder, environ={name: value for name, value in world.environ.items() if name[:7] != "GITHUB_"})
    card = replace(options, card=Path("card.yaml"))
    _git(folder, world, "init", "--quiet")
    _step(world, "evalaction lock")
    lock.run(card, here)
    _step(world, "git commit")
    _git(folder, world, "add", ".")
    _git(folder, world, *AUTHOR, "commit", "--quiet", "--message", "Ask whether the short prompt will do")
    _step(world, "evalaction plan")
    plan.run(card, here)
    _step(world, "evalaction run --synthetic")
    silent = replace(here, out=io.StringIO())
    code = run_command.run(replace(card, run_dir=Path("run"), synthetic=True, quiet=True), silent)
    world.say((folder / "run" / "comment.md").read_text(encoding="utf-8"))
    world.say(
        f"That is the comment on the pull request; the job would end with {code}. `evalaction report` prints it for a terminal."
    )
    if options.keep:
        world.say(f"Everything is kept in {options.keep}: the card, the rows and the report.")


def _step(world: World, words: str) -> None:
    world.say(f"\n─── {words}\n")


def _git(folder: Path, world: World, *arguments: str) -> None:
    """Git as the user has it, but in the demo's own folder whatever repository surrounds it."""
    environ = {name: value for name, value in world.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "core.hooksPath=" + os.devnull, "-c", "core.autocrlf=false", *arguments]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)  # noqa: S603  fixed words
    if done.returncode:
        raise UsageError(f"git {arguments[0]} failed in the demo: {done.stderr.strip()[:300]}")
