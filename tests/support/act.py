"""Whole workflows run by act on this machine: a real repository, a real event file, our action as a release holds it, a stub
model server and a stand-in for GitHub's API. Nested actions are small stand-ins, since nothing is downloaded but our lock."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.github_api import TOKEN, StandIn
from support.repos import Repo

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / "examples" / "workflows"
STAND_INS = Path(__file__).parent / "actions"
SHIPPED = ("action.yml", "action", "evalaction", "requirements.lock")
PINS = {
    "checkout": "3d3c42e5aac5ba805825da76410c181273ba90b1",
    "setup-python": "5fda3b95a4ea91299a34e894583c3862153e4b97",
    "upload-artifact": "043fb46d1a93c77aae656e7c1c64a875d1fc6a0a",
    "download-artifact": "3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c",
    "attest": "1e69f48acb82d1966a394da916b4c1698aa569d6",
}
OURS = "OWNER/evalaction@" + "0" * 40
KEY = "sk-workflow-0123456789abcdef"
REPOSITORY = "octo/demo"
NETWORK = re.compile(r"PIP_(CERT|INDEX_URL|FIND_LINKS|EXTRA_INDEX_URL|PROXY)|SSL_CERT_\w+|(HTTPS?|NO|ALL)_PROXY", re.IGNORECASE)


def act() -> str | None:
    """The program, beside this interpreter or in PATH."""
    beside = Path(sys.executable).parent / "act"
    return str(beside) if beside.exists() else shutil.which("act")


def ship(folder: Path) -> Path:
    """What a release holds of the repository, as far as the action needs it."""
    if not folder.exists():
        building = folder.with_suffix(f".{os.getpid()}")
        for name in SHIPPED:
            place = building / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, place)
        try:
            building.rename(folder)
        except OSError:  # another worker of this test run was first
            shutil.rmtree(building)
    return folder


def network() -> dict[str, str]:
    """How this machine reaches the index."""
    return {name: value for name, value in os.environ.items() if NETWORK.fullmatch(name)}


@dataclass(frozen=True)
class Ran:
    """How a workflow ended."""

    code: int
    lines: Sequence[Mapping[str, Any]]
    artifacts: Path

    @property
    def log(self) -> str:
        return "".join(str(line.get("msg", "")).rstrip("\n") + "\n" for line in self.lines)

    @property
    def jobs(self) -> dict[str, str]:
        """Result of each job that ran."""
        return {line["jobID"]: line["jobResult"] for line in self.lines if "jobResult" in line}

    @property
    def outputs(self) -> dict[str, str]:
        """All outputs that were set, of whichever step; the last one of a name."""
        return {line["name"]: line.get("arg", "") for line in self.lines if line.get("command") == "set-output"}

    @property
    def summary(self) -> str:
        return "".join(line["content"] for line in self.lines if line.get("command") == "summary")

    @property
    def uploaded(self) -> list[str]:
        return sorted(place.name for place in self.artifacts.iterdir())

    def annotations(self, level: str) -> list[str]:
        return [str(line.get("msg", "")) for line in self.lines if line.get("command") == level]


@dataclass
class Machine:
    """A runner: the shipped action, the artifacts of its runs, and a folder of installed environments to begin with."""

    root: Path
    shipped: Path
    installed: Path
    variables: dict[str, str] = field(default_factory=dict)

    def install(self) -> None:
        """Make the environment that runs begin with, as the action itself would, so that not every test waits for pip."""
        self.installed.mkdir(parents=True, exist_ok=True)
        found = self.root / "found"
        environ = {
            **self.environment(self.root),
            **network(),
            "GITHUB_ACTION_PATH": str(self.shipped),
            "GITHUB_OUTPUT": str(found),
        }
        subprocess.run(["bash", str(self.shipped / "action" / "start.sh"), "find"], env=environ, check=True)
        python = found.read_text(encoding="utf-8").strip().removeprefix("python=")
        start = "import runpy, sys, pathlib; runpy.run_path(sys.argv[1])['environment'](pathlib.Path(sys.argv[2]))"
        script = str(self.shipped / "action" / "start.py")
        subprocess.run([python, "-I", "-c", start, script, str(self.installed)], env=environ, check=True, timeout=300)

    def run(
        self,
        workflow: Path,
        repo: Repo,
        *,
        event: str,
        payload: Mapping[str, Any],
        hub: StandIn | None = None,
        secrets: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        checked_out: str = "HEAD",
        installed: bool = True,
    ) -> Ran:
        """Run one workflow for one event at a commit of `repo`, as a runner with `secrets` and `vars` would."""
        number = len(list(self.root.glob("run-*")))
        while True:
            place = self.root / f"run-{number}"
            try:
                place.mkdir(parents=True)
                break
            except FileExistsError:
                number += 1
        (place / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        start = Repo(place / "start", init=None)
        repo.git("clone", "--quiet", "--no-hardlinks", "--no-checkout", str(repo.root), str(start.root))
        start.git("checkout", "--quiet", "--detach", repo.git("rev-parse", checked_out))
        artifacts = self.root / "artifacts"
        artifacts.mkdir(exist_ok=True)
        given = {
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": str(1000 + number),
            "GITHUB_API_URL": hub.base if hub else "http://127.0.0.1:9",
            "STAND_IN_ORIGIN": str(repo.root),
            "STAND_IN_ARTIFACTS": str(artifacts),
            "STAND_IN_INSTALLED": str(self.installed) if installed else "",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **network(),
            **self.variables,
            **(environ or {}),
        }
        command = [
            str(act()), event, "--json", "--directory", str(start.root), "--workflows", str(workflow),
            "--eventpath", str(place / "event.json"), "--actor", "octocat", "--no-cache-server", "--no-skip-checkout",
            "--action-cache-path", str(place / "cache"), "--action-offline-mode", "--use-new-action-cache",
            "--defaultbranch", "main", "--local-repository", f"{OURS}={self.shipped}", "--secret", f"GITHUB_TOKEN={TOKEN}",
        ]  # fmt: skip
        for image in ("ubuntu-24.04", "ubuntu-22.04"):
            command += ["--platform", f"{image}=-self-hosted"]
        for name, pin in PINS.items():
            command += ["--local-repository", f"actions/{name}@{pin}={STAND_INS / name}"]
        for flag, values in (("--secret", secrets), ("--var", variables), ("--env", given)):
            for name, value in (values or {}).items():
                command += [flag, f"{name}={value}"]
        done = subprocess.run(command, capture_output=True, timeout=120, check=False, cwd=place, env=self.environment(place))
        lines = [json.loads(line) for line in done.stdout.decode().splitlines() if line.startswith("{")]
        lines.append({"msg": done.stderr.decode()})
        return Ran(done.returncode, lines, artifacts)

    def environment(self, home: Path) -> dict[str, str]:
        """A small PATH, whose first python3 is the one that made this environment."""
        programs = self.root / "bin"
        programs.mkdir(exist_ok=True)
        python = programs / "python3"
        if not python.exists():
            python.symlink_to(getattr(sys, "_base_executable", sys.executable))
        git = Path(str(shutil.which("git"))).parent
        return {"PATH": f"{programs}:{git}:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
