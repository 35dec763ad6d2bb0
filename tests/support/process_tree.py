"""Processes as the machine sees them: who descends from whom, and whether they are gone."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """A process; its number may be given again, number and start together never."""

    pid: int
    start: int
    name: str


def _stat(pid: int) -> tuple[Seen, int, str] | None:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        name = text[text.index("(") + 1 : text.rindex(")")]
        fields = text[text.rindex(")") + 2 :].split()
        return Seen(pid, int(fields[19]), name), int(fields[1]), fields[0]
    return None


def descendants(pid: int) -> list[Seen]:
    """All processes below `pid` that still run, nearest first."""
    found: dict[int, list[Seen]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _stat(int(entry.name))) is not None and stat[2] != "Z":
            found.setdefault(stat[1], []).append(stat[0])
    below, wave = [], [pid]
    while wave:
        next_wave = [one for parent in wave for one in found.get(parent, [])]
        below += next_wave
        wave = [one.pid for one in next_wave]
    return below


def wait_for(pid: int, count: int) -> list[Seen]:
    """The descendants as soon as there are at least `count`."""
    return _wait_for(lambda: descendants(pid), count)


def _wait_for(look: Callable[[], list[Seen]], count: int, patience_s: float = 30.0) -> list[Seen]:
    ends = time.monotonic() + patience_s
    while len(found := look()) < count:
        assert time.monotonic() < ends, f"only {found}"
        time.sleep(0.05)
    return found


class Since:
    """What a process has got below it since now; others of its children, of rooms that stay open, are none of our business."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = frozenset(descendants(pid))

    def now(self) -> list[Seen]:
        """Nearest first."""
        return [one for one in descendants(self._pid) if one not in self._before]

    def wait_for(self, count: int) -> list[Seen]:
        """As soon as there are at least `count`."""
        return _wait_for(self.now, count)


def survivors(processes: list[Seen], patience_s: float = 30.0) -> list[Seen]:
    """Those that are still there when the patience is over; zombies are none."""
    ends = time.monotonic() + patience_s
    while True:
        alive = [
            one for one in processes if (stat := _stat(one.pid)) is not None and stat[0].start == one.start and stat[2] != "Z"
        ]
        if not alive or time.monotonic() > ends:
            return alive
        time.sleep(0.05)
