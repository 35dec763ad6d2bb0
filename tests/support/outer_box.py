"""A throwaway box made without the code under test: what runs in it is undefended and yet can harm nothing outside.

Own pid, mount, network, IPC and UTS namespaces, everything read-only but an empty /tmp, no other user's home, no sockets of
the machine, a user of its own, limits, a timeout. Nothing outlives it. An attack shows here that it works.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PYTHON = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
"""An interpreter that runs inside, with its standard library."""
UID = 61_234
_INSIDE = Path(__file__).with_name("outer_box_init.py")
_BASE = str(Path(PYTHON).parent.parent)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """How a program ended in the outer box; `timed_out` when it was killed by the clock."""

    code: int
    stdout: str
    stderr: str
    timed_out: bool


def run(
    argv: list[str],
    *,
    files: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    cpu_s: int = 20,
    memory_mb: int = 1024,
    processes: int = 64,
    loopback: bool = False,
    code: Mapping[str, str] | None = None,
) -> Ran:
    """Run `argv` in a fresh outer box, in /tmp/work with `files` in it. Skips the test where no such box can be made.

    `env` is all of its environment beside PATH and HOME. `loopback` brings a loopback interface up, of this box alone.
    `code` shows folders of this machine read-only: path inside → path here.
    """
    require()
    settings = {
        "argv": argv,
        "files": dict(files or {}),
        "env": {"PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin", "HOME": "/tmp/work", **(env or {})},
        "limits": {"cpu_s": cpu_s, "memory_mb": memory_mb, "processes": processes},
        "timeout_s": timeout_s,
        "loopback": loopback,
        "show": {_BASE: _BASE, **(code or {})},
        "uid": UID if os.geteuid() == 0 else None,
    }
    done = _start(settings)
    return Ran(code=done.returncode, stdout=done.stdout, stderr=done.stderr, timed_out=done.returncode == 124)


def require() -> None:
    """Skip the test, with a sentence, where no outer box can be made: nothing undefended runs outside of one."""
    if (why := _missing()) is not None:
        pytest.skip(f"no outer box can be made here: {why}")


def _start(settings: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    given, patience_s = json.dumps(settings), settings["timeout_s"] + 60
    return subprocess.run(
        _command(), input=given, capture_output=True, text=True, errors="replace", timeout=patience_s, env={}, check=False
    )


def _command() -> list[str]:
    unshare = shutil.which("unshare") or "unshare"
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    spaces = ["--pid", "--mount", "--net", "--ipc", "--uts", "--fork", "--kill-child", "--propagation", "private"]
    return [unshare, *user, *spaces, "--", PYTHON, "-I", "-S", "-B", str(_INSIDE)]


@functools.cache
def _missing() -> str | None:
    if not sys.platform.startswith("linux"):
        return "this is not Linux"
    if shutil.which("unshare") is None:
        return "there is no unshare command"
    look = {
        "argv": [PYTHON, "-I", "-S", "-c", "import os; print(os.getpid(), os.getuid(), os.access('/usr', os.W_OK))"],
        "files": {}, "env": {}, "limits": {"cpu_s": 10, "memory_mb": 512, "processes": 16}, "timeout_s": 30.0, "loopback": False,
        "show": {_BASE: _BASE}, "uid": UID if os.geteuid() == 0 else None,
    }  # fmt: skip
    done = _start(look)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return lines[-1] if lines else f"it ended with {done.returncode}"
    pid, uid, writable = done.stdout.split()
    inside = int(pid) < 10 and writable == "False" and (int(uid) == UID or os.geteuid() != 0)
    return None if inside else f"it gave too much: {done.stdout.strip()}"
