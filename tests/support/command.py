"""The real command in a real repository, as a user has them: an ordinary git, a stub server on loopback, and a process of its
own where the process may matter."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from support import cards
from support.endpoint_server import Behaviour, EndpointServer
from support.here import run_here
from support.repos import Repo

from evalaction.registration.lock import lock as lock_card

KEY = "sk-acceptance-0123456789abcdef"
HANGS_S = 300
"""A command that takes longer hangs: a busy machine needs a minute for thirty boxed draws."""
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
DERIVED = (
    "comment.md", "results.json", "rows.csv", "summary.md", "verdicts.csv", "report.html", "junit.xml", "badge.json",
    "SHA256SUMS",
)  # fmt: skip


@dataclass(frozen=True)
class Done:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


def environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Only what a command needs, so that nothing of the machine leaks in; a value of None takes a variable away."""
    base: dict[str, str | None] = {name: os.environ[name] for name in KEPT if name in os.environ}
    base["PYTHONPATH"] = str(Path(__file__).parents[2])
    return {name: value for name, value in (base | dict(extra or {})).items() if value is not None}


def evalaction(*arguments: str, cwd: Path, env: Mapping[str, str | None] | None = None) -> Done:
    """Run the command to its end; a traceback is never acceptable."""
    done = subprocess.run(
        [sys.executable, "-m", "evalaction", *arguments],
        cwd=cwd, env=environment(env), capture_output=True, timeout=HANGS_S, check=False,
    )  # fmt: skip
    said = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in said.said, said.said
    return said


def evalaction_here(*arguments: str, cwd: Path, env: Mapping[str, str | None] | None = None) -> Done:
    """The same in this process: no interpreter is started."""
    said = Done(*run_here(arguments, cwd=cwd, environ=environment(env)))
    assert "Traceback" not in said.said, said.said
    return said


class Serve(Protocol):
    """A fixture: start a stub server; it ends with the test."""

    def __call__(self, behaviour: Behaviour) -> EndpointServer: ...


class Make(Protocol):
    """A fixture: a committed project in a folder of its own; one arm and four items where nothing else is said."""

    def __call__(
        self, card: dict[str, Any] | bytes | None = None, files: dict[str, bytes] | None = None, **how: Any
    ) -> Project: ...


class Project:
    """A repository with a card, an exam and prompts in it. `url` is the address of the stub server, if there is one.

    own_process: whether a command is a process as a user starts it; the tests of what the command decides need none.
    """

    def __init__(
        self,
        root: Path,
        card: Mapping[str, Any] | bytes,
        files: Mapping[str, bytes],
        *,
        url: str | None = None,
        lock: bool = True,
        own_process: bool = True,
    ) -> None:
        self.repo = Repo(root)
        self.root = root
        self.env: dict[str, str | None] = {"EVAL_URL": url, "EVAL_KEY": KEY} if url else {}
        self.own_process = own_process
        self.repo.write({"card.yaml": card if isinstance(card, bytes) else cards.text(card), **files})
        if lock:
            lock_card(root / "card.yaml")
        self.repo.commit()

    def __call__(self, *arguments: str, env: Mapping[str, str | None] | None = None, cwd: Path | None = None) -> Done:
        command = evalaction if self.own_process else evalaction_here
        return command(*arguments, cwd=cwd or self.root, env={**self.env, **(env or {})})

    def run(self, *arguments: str, to: str = "run", **how: Any) -> Done:
        return self("run", "--run-dir", to, "--quiet", *arguments, **how)

    def results(self, of: str = "run") -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.root / of / "results.json").read_bytes())
        return value

    def comment(self, of: str = "run") -> str:
        return (self.root / of / "comment.md").read_text(encoding="utf-8")

    def rows(self, of: str = "run") -> list[dict[str, Any]]:
        """The draws of a run, without its seal."""
        lines = (self.root / of / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        return [row for row in map(json.loads, lines) if "item" in row]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def sums_hold(folder: Path) -> bool:
    """`sha256sum --check`, and every other file of the folder is named."""
    listed = {line.split("  ", 1)[1] for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
    checked = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=False)
    there = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    return checked.returncode == 0 and listed == there


def gated(draws: int = 2, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One arm at one endpoint with a key, K draws, a limit."""
    base = {"draws": {"count": draws, "timeout_ms": 10_000}, "exam.tasks": "tasks.jsonl", "arms.treatment.system": "prompt.md"}
    return cards.card({**base, **(changes or {})})


def paired(draws: int = 2, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Two arms at one endpoint that differ in their system message; `claim: none`."""
    base = {
        "arms.control": {"endpoint": "main", "system": "other.md"},
        "sign": {"claim": "none", "seed": "freeze-me-before-running"},
        "limits": ...,
    }
    return gated(draws, {**base, **(changes or {})})


def exam(count: int = 4) -> dict[str, bytes]:
    return {"tasks.jsonl": cards.exam_text(count), "prompt.md": b"Be brief.\n", "other.md": b"Be kind.\n"}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def asked(body: Any) -> tuple[str, str]:
    """System message and prompt of a request in the OpenAI shape."""
    texts: Sequence[Mapping[str, str]] = body["messages"]
    return texts[0]["content"], texts[-1]["content"]


def right(received: Any) -> str:
    """The expected answer of `cards.item`: the number in "Say 7."."""
    return asked(received.json)[1].removeprefix("Say ").removesuffix(".")
