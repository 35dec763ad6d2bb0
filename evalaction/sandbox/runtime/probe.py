"""A first process that tries, harmlessly, what must fail; a rung on which it succeeds is none."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable


def look(argument: bytes) -> int:
    """0 when everything was refused; else 1, and standard error names what was not. `argument` is a path that must not open."""
    tries: dict[str, Callable[[], object]] = {
        "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "start a process": _fork,
        "read a file that it was not given": lambda: os.close(os.open(argument, os.O_RDONLY)),
        "write outside its folder": lambda: os.close(os.open("/evalaction-probe", os.O_WRONLY | os.O_CREAT)),
        "list the processes of the machine": lambda: os.close(os.open("/proc/self/environ", os.O_RDONLY)),
    }
    open_ways = []
    for name, attempt in tries.items():
        try:
            attempt()
        except OSError:
            continue
        open_ways.append(name)
    sys.stderr.write("; ".join(open_ways))
    return 1 if open_ways else 0


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
