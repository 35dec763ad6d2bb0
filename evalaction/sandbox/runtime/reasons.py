"""Which limit an exception inside the box speaks of, and the exit codes that say so to the outside."""

from __future__ import annotations

import errno
from typing import Literal, TypeAlias

Reason: TypeAlias = Literal["memory", "disk", "processes", "files"]

FIRST_EXIT = 241
ORDER: tuple[Reason, ...] = ("memory", "disk", "processes", "files")
_BY_ERRNO: dict[int, Reason] = {
    errno.ENOMEM: "memory",
    errno.ENOSPC: "disk",
    errno.EFBIG: "disk",
    errno.EDQUOT: "disk",
    errno.EAGAIN: "processes",
    errno.EMFILE: "files",
}


def limit_of(error: BaseException) -> Reason | None:
    """The limit that made this exception; None for every other."""
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, OSError):
        return _BY_ERRNO.get(error.errno or 0)
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return "processes"
    return None


def exit_code(reason: Reason) -> int:
    return FIRST_EXIT + ORDER.index(reason)


def reason_of(code: int) -> Reason | None:
    return ORDER[code - FIRST_EXIT] if FIRST_EXIT <= code < FIRST_EXIT + len(ORDER) else None
