"""How git is called during a run: a wrapper in its place writes down every call."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from support.changes import against_base
from support.command import Project, exam, gated, right
from support.endpoint_server import answering, serving

WRAPPER = """#!{python} -S
import json, os, sys
seen = {{name: value for name, value in os.environ.items() if name.startswith("GIT_") or name in ("HOME", "EVAL_KEY")}}
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], seen]) + "\\n")
os.execv({git!r}, ["git", *sys.argv[1:]])
"""
READ_ONLY = {"cat-file", "ls-tree", "ls-files", "rev-parse", "check-ref-format", "merge-base"}
"""Neither attributes, filters, external programs nor hooks are consulted by these; `diff` and `checkout` are not among them."""


@pytest.fixture(name="calls")
def recorded(tmp_path: Path) -> list[tuple[list[str], dict[str, str]]]:
    folder, log = tmp_path / "bin", tmp_path / "log"
    folder.mkdir()
    wrapper = folder / "git"
    wrapper.write_text(WRAPPER.format(python=sys.executable, log=str(log), git=shutil.which("git")), encoding="utf-8")
    wrapper.chmod(0o755)
    with serving(answering(right)) as server:
        project = Project(tmp_path / "p", against_base(), exam(4), url=server.url)
        base = project.repo.git("rev-parse", "HEAD")
        project.repo.commit({"prompt.md": b"Be very brief.\n"})
        done = project.run("--base", base, env={"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "GIT_DIR": "/elsewhere"})
    assert done.code == 0, done.said
    found: list[Any] = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert found
    return [(arguments, environ) for arguments, environ in found]


def command_of(arguments: list[str]) -> tuple[dict[str, str], str, list[str]]:
    """Settings, the command, and what follows it."""
    settings = {}
    place = 0
    while arguments[place].startswith("-"):
        if arguments[place] == "-c":
            name, _, value = arguments[place + 1].partition("=")
            settings[name] = value
            place += 1
        place += 1
    return settings, arguments[place], arguments[place + 1 :]


def test_only_commands_that_run_nothing_of_the_repository(calls: list[tuple[list[str], dict[str, str]]]) -> None:
    for arguments, environ in calls:
        settings, command, rest = command_of(arguments)
        assert command in READ_ONLY
        if command in {"ls-tree", "ls-files"}:
            assert "-z" in rest and "--" in rest
        assert settings["core.hooksPath"] == "/dev/null" and settings["core.fsmonitor"] == "false"
        assert settings["protocol.allow"] == "never" and "safe.directory" in settings
        assert environ["GIT_LITERAL_PATHSPECS"] == "1" and environ["GIT_NO_REPLACE_OBJECTS"] == "1"
        assert environ["GIT_ALLOW_PROTOCOL"] == "" and environ["HOME"] == os.devnull
        assert "GIT_DIR" not in environ and "EVAL_KEY" not in environ


@pytest.mark.parametrize(
    "path",
    ["--upload-pack=touch pwned", "main:refs/heads/x", "../outside", "/etc/passwd", ".git/config", "a\\b", "a\nb"],
)
def test_paths_of_the_card_reach_git_as_nothing_but_paths(tmp_path: Path, path: str) -> None:
    """An option-like name is a name; the others are refused before git is asked."""
    project = Project(tmp_path / "p", gated(2, {"arms.treatment.system": path}), exam(2), lock=False)
    done = project("verify")
    assert done.code in {2, 4}
    assert not (project.root / "pwned").exists() and project.repo.git("branch", "--list") == "* main"
    assert done.code == 2 or "--upload-pack" in done.said


def test_a_committed_symlink_gives_no_prompt(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", gated(2), exam(2))
    (project.root / "prompt.md").unlink()
    (project.root / "prompt.md").symlink_to("/etc/hostname")
    project.repo.commit()
    done = project.run(env={"EVAL_URL": "http://127.0.0.1:9", "EVAL_KEY": "0123456789"})
    assert done.code == 4 and "symlink" in done.err
