"""One worker process as its parent sees it: started with nothing of ours but two pipes, killed with all it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import evalaction
from evalaction.checks.spot import Spot
from evalaction.method.card import CheckLimits

# `-I` hides PYTHONPATH and the current folder, so the package is found by its address and the parent's other folders come last.
_START = (
    "import json, sys; s = json.loads(sys.argv[1]); sys.path.insert(0, s['root']); import evalaction; del sys.path[0]; "
    "sys.path += s['path']; from evalaction.checks.worker import main; main()"
)
# Where shared libraries lie is all that an interpreter may need; nothing else of the environment is handed on.
_INHERITED = ("LD_LIBRARY_PATH",)


UNKNOWN = 255
"""Exit code of a worker whose end nobody told us."""


class Death(NamedTuple):
    """How a worker ended: exit code (negative: the signal) and the CPU seconds of its whole life."""

    code: int
    cpu_s: float

    @property
    def by_cpu_limit(self) -> bool:
        return self.code == -signal.SIGPROF


@dataclass(frozen=True, slots=True)
class Child:
    """A started worker; `reader` and `writer` are our ends of its pipes."""

    process: subprocess.Popen[bytes]
    reader: int
    writer: int
    spot: Spot
    """What the worker notes; still readable after its death."""

    @classmethod
    def start(cls, limits: CheckLimits, *, schemas: bool, command: tuple[str, ...] | None = None) -> Child:
        """Start a worker in a session of its own, in `/`, with an empty environment. `command` replaces it in tests.

        Must be called on a thread that lives as long as the worker: Linux ends the worker with the thread that started it.
        """
        spot = Spot.fresh()
        settings = {
            "spot": spot.descriptor,
            "root": str(Path(evalaction.__file__).resolve().parent.parent),
            "path": [place for place in sys.path if place],
            "parent": os.getpid(),
            "cpu_ms": limits.cpu_ms,
            "memory_mb": limits.memory_mb,
            "schemas": schemas,
        }
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own text
            [*(command or (sys.executable, "-I", "-B", "-X", "utf8", "-c", _START)), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={name: os.environ[name] for name in _INHERITED if name in os.environ} | {"LC_ALL": "C.UTF-8", "TZ": "UTC"},
            start_new_session=True,
            pass_fds=(spot.descriptor,),
        )
        spot.close()
        assert process.stdin and process.stdout
        os.set_blocking(process.stdin.fileno(), False)
        return cls(process, process.stdout.fileno(), process.stdin.fileno(), spot)

    def kill(self) -> None:
        """SIGKILL to the worker and whatever it started; safe to repeat until it is buried."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def bury(self, *, wait: bool) -> Death | None:
        """How it ended, its pipes closed; None while it still runs and `wait` is not set."""
        try:
            pid, status, usage = os.wait4(self.process.pid, 0 if wait else os.WNOHANG)
        except ChildProcessError:  # where SIGCHLD is ignored the system buries its dead itself
            self.process.returncode, cpu_s = UNKNOWN, 0.0
        else:
            if pid == 0:
                return None
            self.process.returncode, cpu_s = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return Death(self.process.returncode, cpu_s)
