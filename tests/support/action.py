"""`evalaction action` as a step runs it: in a checkout of a pull request's merge commit, with GitHub's variables."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import cards
from support.command import HANGS_S, KEY, environment, exam, gated, right
from support.endpoint_server import EndpointServer, answering, serving
from support.github_api import BOT, TOKEN, StandIn, serve
from support.github_state import Comment
from support.here import run_here
from support.repos import Repo

from evalaction.registration.lock import lock

NAME = "octo/demo"
FORK = "somebody/demo"
NUMBER = 7
CREDENTIAL = {"EVALACTION_GITHUB_TOKEN": TOKEN}


@dataclass(frozen=True)
class Step:
    """What a step left: exit code, log, outputs, summary and its files."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def run_dir(self) -> Path:
        return Path(self.outputs["run-dir"])

    def cards(self) -> list[dict[str, Any]]:
        listed: dict[str, Any] = json.loads((self.run_dir / "cards.json").read_bytes())
        found: list[dict[str, Any]] = listed["cards"]
        return found

    def annotations(self) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith(("::error", "::warning", "::notice"))]


class Demo:
    """A repository with a base branch and a pull request, GitHub's stand-in and a model server beside it.

    `merge` makes what actions/checkout leaves: a merge commit of base and head, checked out.
    """

    def __init__(
        self, root: Path, github: StandIn, model: EndpointServer, *, card: Mapping[str, Any] | None = None, tasks: int = 4
    ) -> None:
        self.root = root
        self.github = github
        self.model = model
        self.temp = root.parent / "runner"
        self.temp.mkdir()
        self.repo = Repo(root)
        self.repo.write({"card.yaml": cards.text(card or gated()), **exam(tasks)})
        lock(root / "card.yaml")
        self.base = self.repo.commit()
        self.head = self.merged = self.base
        self.runs = 0
        self.own_process = False
        """Whether a step is a process of its own, as on a runner: what programs of others could see of it matters then."""

    def change(self, files: Mapping[str, bytes] | None = None, *, locked: bool = False, merge: bool = True) -> str:
        """Commit on the pull request's branch and check the merge out; the head's id."""
        start = self.base if self.head == self.base else self.head
        self.repo.git("checkout", "--quiet", "-B", "topic", start)
        self.repo.write(files or {})
        if locked:
            lock(self.root / "card.yaml")
        self.head = self.repo.commit()
        return self.merge() if merge else self.head

    def amend(self, message: str) -> str:
        self.repo.git("checkout", "--quiet", "topic")
        self.repo.git("commit", "--quiet", "--amend", "--message", message)
        self.head = self.repo.git("rev-parse", "HEAD")
        return self.merge()

    def merge(self) -> str:
        self.repo.git("checkout", "--quiet", "-B", "merged", self.base)
        self.repo.git("merge", "--quiet", "--no-ff", "--message", "merge", self.head)
        self.merged = self.repo.git("rev-parse", "HEAD")
        self.github.hub.add_pull(NAME, NUMBER, head_sha=self.head, base_sha=self.base)
        return self.head

    def pull(self, **more: Any) -> dict[str, Any]:
        """The payload's pull request; `fork=True` for one from a fork."""
        fork = more.pop("fork", False)
        return {
            "action": "synchronize",
            "number": NUMBER,
            "pull_request": {
                "number": NUMBER,
                "state": "open",
                "head": {"sha": self.head, "ref": "topic", "repo": {"full_name": FORK if fork else NAME}},
                "base": {"sha": self.base, "ref": "main", "repo": {"full_name": NAME}},
            },
            "repository": {"full_name": NAME, "default_branch": "main"},
            **more,
        }

    def environ(self, event: str, payload: Mapping[str, Any], env: Mapping[str, str | None] | None = None) -> dict[str, str]:
        self.runs += 1
        files = {name: self.temp / f"{name}-{self.runs}" for name in ("event.json", "output", "summary")}
        files["event.json"].write_text(json.dumps(payload), encoding="utf-8")
        for name in ("output", "summary"):
            files[name].touch()
        return environment(
            {
                "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_REPOSITORY": NAME,
                "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": self.github.base,
                "GITHUB_GRAPHQL_URL": f"{self.github.base}/graphql", "GITHUB_SHA": self.repo.git("rev-parse", "HEAD"),
                "GITHUB_REF": f"refs/pull/{NUMBER}/merge", "GITHUB_ACTOR": "octocat", "GITHUB_RUN_ID": str(1000 + self.runs),
                "GITHUB_RUN_ATTEMPT": "1", "GITHUB_WORKFLOW": "evaluation", "GITHUB_JOB": "gate", "RUNNER_TEMP": str(self.temp),
                "GITHUB_EVENT_PATH": str(files["event.json"]), "GITHUB_OUTPUT": str(files["output"]),
                "GITHUB_STEP_SUMMARY": str(files["summary"]), "EVAL_URL": self.model.url, "EVAL_KEY": KEY,
                **CREDENTIAL, **(env or {}),
            }
        )  # fmt: skip

    def start(self, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "evalaction", "action"],
            cwd=self.root, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def step(
        self, event: str = "pull_request", payload: Mapping[str, Any] | None = None, env: Mapping[str, str | None] | None = None
    ) -> Step:
        """One step of a job on an event; the pull request's unless told."""
        environ = self.environ(event, self.pull() if payload is None else payload, env)
        if not self.own_process:
            code, log, _ = run_here(["action"], cwd=self.root, environ=environ, one_stream=True)
            return self.read(code, log, environ)
        process = self.start(environ)
        out, _ = process.communicate(timeout=HANGS_S)
        return self.read(process.returncode, out.decode(), environ)

    def step_with_key(self, key: str) -> Step:
        """One step whose key has this value; for keys that are words, which `read` does not look for."""
        return self.step(env={"EVAL_KEY": key})

    def read(self, code: int, log: str, environ: Mapping[str, str]) -> Step:
        assert "Traceback" not in log, log
        assert self.github.violations == []
        pairs = [line.split("=", 1) for line in Path(environ["GITHUB_OUTPUT"]).read_text(encoding="utf-8").splitlines()]
        step = Step(code, log, dict(pairs), Path(environ["GITHUB_STEP_SUMMARY"]).read_text("utf-8"))
        for text in (log.replace(f"::add-mask::{KEY}", ""), step.summary, str(step.outputs)):
            assert KEY not in text
        return step

    def comments(self) -> list[Comment]:
        """Ours, oldest first."""
        found = self.github.hub.repository(NAME).comments.values()
        return sorted((one for one in found if one.login == BOT), key=lambda one: one.id)

    def comment(self) -> str:
        (only,) = self.comments()
        return only.body


@contextmanager
def demo_at(folder: Path, card: Mapping[str, Any] | None = None, *, prefix: str = "", tasks: int = 4) -> Iterator[Demo]:
    """The repository in a new folder, beside GitHub and a model that is always right."""
    with serve(prefix) as github, serving(answering(right)) as model:
        yield Demo(folder / "demo", github, model, card=card, tasks=tasks)
