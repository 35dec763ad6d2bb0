"""Every goal of speed in one run, as ratios: `python -m benchmarks`, or with `--quick` in under a minute on an idle machine.

Absolute times depend on the machine and on what else it does; ratios of one run do so far less.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import command, deriving
from benchmarks.exams import stub_server
from benchmarks.measuring import Figure
from benchmarks.table import show


def figures(folder: Path, *, quick: bool) -> Iterator[Figure]:
    yield from command.start_up(rounds=5 if quick else 21)
    with stub_server() as url:
        yield from command.whole_command(folder, url, rounds=2 if quick else 7)
        yield from command.drawing_loop(folder, url, items=800 if quick else 2_000, rounds=1 if quick else 5)
    yield from deriving.figures(folder, (10_000, 50_000) if quick else (100_000, 300_000, 1_000_000))


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    options = parser.parse_args()
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    print(f"{machine}, {load()}; median (least–greatest) of several rounds")
    with tempfile.TemporaryDirectory() as folder:
        show(figures(Path(folder), quick=options.quick))
    print(f"Afterwards: {load()}. Further tables: python -m benchmarks.transport, .checks, .code_exam, .drift, .html_page")


if __name__ == "__main__":
    main()
