"""What the benchmarks work on: a stub server as a process of its own, and committed exams that ask it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).parent.parent / "tests" / "support" / "endpoint_server.py"
PROMPT = "Sort this message into one of seven classes. " * 8
KEY = "sk-benchmark-0123456789"
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
ENVIRON = {**os.environ, **GIT, "EVAL_KEY": KEY}
"""What the measured commands see."""


@contextmanager
def stub_server(latency_ms: float = 50.0) -> Iterator[str]:
    """Base address of a server process that answers every request with "ok" after `latency_ms`."""
    with subprocess.Popen(
        [sys.executable, SERVER, "--latency-ms", str(latency_ms)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def commit_exam(folder: Path, *, url: str, items: int, draws: int, concurrency: int) -> Path:
    """A locked and committed exam of `items` short questions for one arm at `url`; its card."""
    question = {"prompt": PROMPT, "expected": "ok"}
    lines = [json.dumps({"id": f"item-{number:06}", **question}) for number in range(items)]
    files = {"tasks.jsonl": ("\n".join(lines) + "\n").encode()}
    return commit_files(folder, files, url=url, tasks="tasks.jsonl", draws=draws, concurrency=concurrency)


def commit_files(folder: Path, files: Mapping[str, bytes], *, url: str, tasks: str, draws: int, concurrency: int) -> Path:
    """The same with the exam's own files, of which `tasks` names the items."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    card = {
        "protocol": "evalaction/1",
        "name": "benchmark",
        "exam": {"tasks": tasks, "data": "synthetic"},
        "endpoints": {"main": {"api": "openai", "url": url, "key_env": "EVAL_KEY", "model": "m"}},
        "arms": {"treatment": {"endpoint": "main"}},
        "draws": {"count": draws, "timeout_ms": 10_000},
        "pace": {"concurrency": concurrency},
        "limits": {"min_stable_pass": 0.8},
    }
    path = folder / "card.json"
    path.write_text(json.dumps(card, indent=2) + "\n")
    who = ("-c", "user.name=b", "-c", "user.email=b@example.invalid")
    for command in (
        ("git", "init", "--quiet"),
        (sys.executable, "-m", "evalaction", "lock", str(path)),
        ("git", "add", "."),
        ("git", *who, "commit", "--quiet", "--message", "benchmark"),
    ):
        subprocess.run(command, cwd=folder, env=ENVIRON, check=True, stdout=subprocess.DEVNULL)
    return path
