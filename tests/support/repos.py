"""Real git repositories for tests: an ordinary git with a scrubbed environment, unlike the one that is tested."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class Repo:
    """A repository at `root`."""

    def __init__(self, root: Path, *, init: tuple[str, ...] | None = ()) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        if init is not None:
            self.git("init", "--quiet", "--initial-branch=main", *init)

    def git(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false", *arguments],
            cwd=self.root, env={**os.environ, **(env or {})}, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)

    def commit(self, files: Mapping[str, bytes] | None = None) -> str:
        """Write, add everything, commit; the commit's id."""
        self.write(files or {})
        self.git("add", "--all", "--force", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")
