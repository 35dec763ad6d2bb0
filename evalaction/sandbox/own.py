"""Our own process, before programs of others run beside it: closed to them, and poorer by its secrets."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
from collections.abc import Iterable

from evalaction.sandbox.runtime import kernel

_NAMED_SO = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|(^|_)KEY($|_)", re.IGNORECASE)


def close() -> None:
    """Close our memory, environment and open files to other processes of our user; on Linux, where the kernel lets us."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, KeyError):
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def forget(secrets: Iterable[str]) -> tuple[str, ...]:
    """Take out of our environment the variables that hold one of these values or are named like a secret; returns their names.

    Their text is overwritten where it lies, so that /proc/<pid>/environ does not show it either. Whoever still needs a value
    has a copy of his own.
    """
    values = [secret for secret in secrets if secret]
    names = tuple(
        name for name, value in os.environ.items() if _NAMED_SO.search(name) or any(secret in value for secret in values)
    )
    for name in names:
        _overwrite(name)
        os.environ.pop(name, None)
    return names


def _overwrite(name: str) -> None:
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.getenv.restype = ctypes.c_void_p
        place = libc.getenv(os.fsencode(name))
        if place:
            ctypes.memset(place, 0, len(ctypes.string_at(place)))
