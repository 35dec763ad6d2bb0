"""The worker process: takes limits upon itself, then answers one message after another until its parent is gone."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

from evalaction.checks.bench import Bench, inspect
from evalaction.checks.spot import Spot
from evalaction.checks.wire import PREFIX, SPENT, Job, frame

_PR_SET_PDEATHSIG = 1
_OPEN_FILES = 32
# Deep enough for a recursive schema over JSON of the greatest depth, shallow enough for an 8 MiB stack.
_RECURSION = 5_000


def main() -> None:
    """Serve. The settings are a JSON object in the first argument: parent, spot, cpu_ms, memory_mb, schemas."""
    settings = json.loads(sys.argv[1])
    _die_with(settings["parent"])
    spot = Spot(settings["spot"])
    spot.close()
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)  # what a library prints must not be read as an answer
    os.close(null)
    if settings["schemas"]:
        import evalaction.checks.schema_check  # noqa: F401 - before the limits, so that no job pays for it
    _limit(settings["memory_mb"])
    sys.setrecursionlimit(_RECURSION)
    gc.freeze()
    _serve(out, spot, settings["cpu_ms"] / 1000)


def _serve(out: int, spot: Spot, cpu_s: float) -> None:
    bench = Bench()
    _send(out, ["ready"])
    while (message := _receive()) is not None:
        signal.setitimer(signal.ITIMER_PROF, cpu_s)  # nobody handles SIGPROF: it ends the process, also inside C code
        if "inspect" in message:
            answers: list[Any] = [inspect(*piece) for piece in message["inspect"]]
        else:
            bench.learn(message)
            answers = _judge(bench, message["jobs"], spot, cpu_s)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(out, ["done", bench.spent, answers])
        if bench.spent:
            sys.exit(SPENT)


def _judge(bench: Bench, jobs: list[Any], spot: Spot, cpu_s: float) -> list[Any]:
    answers: list[Any] = []
    for number, job in enumerate(jobs):
        spot.begin(number, time.monotonic(), time.process_time())
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        answers.append(bench.judge(Job(*job), spot.at))
        if bench.spent:
            break  # the parent gives the rest to a fresh worker
    spot.clear()
    return answers


def _receive() -> dict[str, Any] | None:
    prefix = sys.stdin.buffer.read(PREFIX)
    if len(prefix) < PREFIX:
        return None
    body = sys.stdin.buffer.read(int.from_bytes(prefix, "big"))
    message: dict[str, Any] = json.loads(body)
    return message


def _send(out: int, message: Any) -> None:
    data = memoryview(frame(message))
    while data:
        data = data[os.write(out, data) :]


def _die_with(parent: int) -> None:
    """End when the parent does, however it ends; elsewhere than on Linux the closed pipe and the CPU limit have to do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        sys.exit(0)


def _limit(memory_mb: int) -> None:
    """`memory_mb` comes on top of what the started worker holds already."""
    if sys.platform == "linux":
        held = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory_mb * 2**20,) * 2)
    _, core = resource.getrlimit(resource.RLIMIT_CORE)
    core = core and 1  # 0 would still start a handler in core_pattern, and outputs may be private
    resource.setrlimit(resource.RLIMIT_CORE, (core, core))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
