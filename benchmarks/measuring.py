"""Figures of one run: medians, what they are compared with, and the goal."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.exams import ENVIRON


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One row of the table; `goal` is a bound of the ratio, a least one where `more` is better."""

    what: str
    measured: str
    beside: str
    ratio: float
    goal: float | None = None
    more: bool = False

    @property
    def state(self) -> str:
        if self.goal is None:
            return ""
        return "held" if (self.ratio >= self.goal if self.more else self.ratio <= self.goal) else "MISSED"

    @property
    def bound(self) -> str:
        return "" if self.goal is None else f"{'≥' if self.more else '≤'} {self.goal:g}"


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall and CPU seconds of a process with all that it started."""

    wall_s: float
    cpu_s: float


def cost_of(command: Sequence[str | Path], *, cwd: Path | None = None, environ: Mapping[str, str] = ENVIRON) -> Cost:
    """Run a command to its end. Raises CalledProcessError when it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=cwd, env=environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float], unit: str, *, scale: float = 1.0, digits: int = 2) -> str:
    """`2.10 s (2.05–2.31)`: the median with the least and the greatest value."""
    shown = [f"{value * scale:.{digits}f}" for value in (median(values), min(values), max(values))]
    return f"{shown[0]} {unit} ({shown[1]}–{shown[2]})" if len(values) > 1 else f"{shown[0]} {unit}"


PYTHON = sys.executable
