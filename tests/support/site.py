"""A repository on the stand-in for GitHub with a pull request in it, and the events that happen to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support import cards
from support.act import KEY, REPOSITORY, WORKFLOWS, Machine, Ran
from support.command import exam, gated, right
from support.endpoint_server import EndpointServer
from support.events import example
from support.github_api import StandIn
from support.github_state import Comment
from support.repos import Repo

FORK = "mallory/demo"
NUMBER = 7


def locked(repo: Repo, card: str, value: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Write a card with its files and lock it."""
    folder = card.rpartition("/")[0]
    repo.write({card: cards.text(value), **{f"{folder}/{name}": data for name, data in files.items()}})
    command = [sys.executable, "-m", "evalaction", "lock", card]
    done = subprocess.run(
        command, cwd=repo.root, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


class Site:
    """`main` holds a card; `push` adds a commit to the pull request's branch, and GitHub's merge commit with it."""

    def __init__(self, machine: Machine, server: EndpointServer, hub: StandIn, root: Path) -> None:
        self.machine, self.server, self.hub = machine, server, hub
        self.repo = Repo(root)
        self.secrets = {"EVAL_KEY": KEY}
        self.base = self.head = self.merge = ""
        self.head_repository = REPOSITORY

    def start(
        self, value: Mapping[str, Any] | None = None, files: Mapping[str, bytes] | None = None, *, card: str = "eval/card.yaml"
    ) -> None:
        """The state of `main`."""
        locked(self.repo, card, gated() if value is None else value, exam() if files is None else files)
        self.base = self.repo.commit()

    def push(self, files: Mapping[str, bytes] | None = None) -> None:
        """A commit on the branch `topic`, which begins at base; without files an empty one."""
        if self.head:
            self.repo.git("checkout", "--quiet", "topic")
        else:
            self.repo.git("checkout", "--quiet", "-b", "topic", self.base)
        self.head = self.repo.commit(files or {})
        self.repo.git("checkout", "--quiet", "--detach", self.base)
        self.repo.git("merge", "--quiet", "--no-ff", "--message", "merge", "topic")
        self.merge = self.repo.git("rev-parse", "HEAD")
        repository = self.hub.hub.repository(REPOSITORY)
        self.hub.hub.add_pull(REPOSITORY, NUMBER, head_repo=self.head_repository, head_ref="topic", head_sha=self.head)
        repository.pulls[NUMBER].merge_sha = self.merge

    def payload(self, action: str = "synchronize", **more: Any) -> dict[str, Any]:
        """The event of the pull request."""
        value = self.in_here(example("pull_request.opened"))
        pull = value["pull_request"]
        value.update(action=action, number=NUMBER, **more)
        pull.update(number=NUMBER)
        pull["head"].update(sha=self.head, ref="topic")
        pull["head"]["repo"].update(full_name=self.head_repository, fork=self.head_repository != REPOSITORY)
        pull["base"].update(sha=self.base, ref="main")
        pull["base"]["repo"].update(full_name=REPOSITORY)
        return value

    def in_here(self, value: dict[str, Any]) -> dict[str, Any]:
        """A real payload, as if it had happened in this repository."""
        value["repository"].update(full_name=REPOSITORY, name="demo", default_branch="main")
        return value

    def finished_run(self, *, conclusion: str = "success") -> dict[str, Any]:
        """The event that a run of the pull request has ended."""
        value = self.in_here(example("workflow_run.completed"))
        value["workflow_run"].update(
            event="pull_request", head_sha=self.head, head_branch="topic", conclusion=conclusion, run_attempt=1, pull_requests=[]
        )
        value["workflow_run"]["head_repository"].update(full_name=self.head_repository)
        return value

    def run(
        self,
        workflow: str | Path = "pull-request.yml",
        *,
        event: str = "pull_request",
        payload: Mapping[str, Any] | None = None,
        at: str | None = None,
        **how: Any,
    ) -> Ran:
        """Run a workflow, one of the examples by its name; unless told at the merge commit, with secrets and variables."""
        where = WORKFLOWS / workflow if isinstance(workflow, str) else workflow
        settings = {"hub": self.hub, "secrets": self.secrets, "variables": {"EVAL_URL": self.server.url}, **how}
        what = self.payload() if payload is None else payload
        return self.machine.run(where, self.repo, event=event, payload=what, checked_out=at or self.merge, **settings)

    @property
    def comments(self) -> list[Comment]:
        return list(self.hub.hub.repository(REPOSITORY).comments.values())

    @property
    def ours(self) -> list[Comment]:
        return [comment for comment in self.comments if comment.body.startswith("<!-- evalaction:comment ")]

    @property
    def comment(self) -> str:
        """The body of our comment, of which there is one."""
        [comment] = self.ours
        return comment.body


def by_arm(received: Any) -> str:
    """Right for the treatment; the control, whose system message is "Be kind.", is right about one item in three."""
    answer = right(received)
    kind = received.json["messages"][0]["content"].startswith("Be kind")
    return "wrong" if kind and int(answer) % 3 else answer
