"""From the start of the action's step to its first draw, as on a new runner: `python -m benchmarks.cold_start`.

Each round has a fresh copy of the action and a fresh temporary folder. The packages come from the index without anything of pip's
cache, from pip's cache, or from the environment that an earlier step of the same job made. Goals on two idle cores: 6 s without
the cache, 2 s with it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from benchmarks.exams import ENVIRON, commit_exam, stub_server
from benchmarks.measuring import Cost, spread

ROOT = Path(__file__).parent.parent
SHIPPED = ("action.yml", "action", "evalaction", "requirements.lock")
GITHUB = {
    "GITHUB_EVENT_NAME": "schedule",
    "GITHUB_REPOSITORY": "octo/demo",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_GRAPHQL_URL": "https://api.github.com/graphql",
    "GITHUB_REF": "refs/heads/main",
    "EVALACTION_CARD": "card.json",
}


def ship(folder: Path) -> Path:
    """The action as a runner downloads it: without bytecode."""
    folder.mkdir()
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def first_draw(repository: Path, action: Path, temporary: Path, environ: Mapping[str, str]) -> Cost:
    """Seconds until the first draw is sent, and CPU seconds of the whole step."""
    runs = temporary / f"run-{time.time_ns()}"
    given = {
        **ENVIRON, **GITHUB, "RUNNER_TEMP": str(temporary), "GITHUB_ACTION_PATH": str(action),
        "GITHUB_WORKSPACE": str(repository), "EVALACTION_RUN_DIR": str(runs), **environ,
    }  # fmt: skip
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run(["bash", action / "action" / "start.sh", "run"], env=given, cwd=repository, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    [rows] = runs.glob("*/rows.jsonl")
    sent = [json.loads(line).get("started_at") for line in rows.read_text(encoding="utf-8").splitlines()]
    first = min(datetime.fromisoformat(moment).timestamp() for moment in sent if moment)
    return Cost(first - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    found: dict[str, list[Cost]] = {"index, no cache": [], "pip's cache": [], "same job again": []}
    with tempfile.TemporaryDirectory() as name, stub_server(latency_ms=1) as url:
        root = Path(name)
        repository = commit_exam(root / "repository", url=url, items=4, draws=1, concurrency=4).parent
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True).stdout
        base = {"GITHUB_SHA": head.strip()}
        for number in range(rounds):
            cache = {**base, "PIP_CACHE_DIR": str(root / f"cache-{number}")}
            for kind in ("index, no cache", "pip's cache"):
                temporary = root / f"temporary-{number}-{kind[:3]}"
                temporary.mkdir()
                action = ship(root / f"action-{number}-{kind[:3]}")
                found[kind].append(first_draw(repository, action, temporary, cache))
            found["same job again"].append(first_draw(repository, action, temporary, cache))
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; median (least–greatest) of {rounds}")
    for kind, costs in found.items():
        wall, cpu = spread([cost.wall_s for cost in costs], "s"), spread([cost.cpu_s for cost in costs], "s")
        print(f"{kind:16}  first draw after {wall}, CPU of the whole step {cpu}")


if __name__ == "__main__":
    main()
