"""A page of memory on which a worker notes what it is at: free to write for each job, read by the parent after a death."""

from __future__ import annotations

import mmap
import os
import struct
from typing import NamedTuple

_BEGUN = struct.Struct("<idd")  # job within the batch, when it began, CPU time then
_AT = struct.Struct("<B64s64s")  # phase, digest of the text, digest of the value
_AT_OFFSET = 32
PHASES = ("reading", "contract", "check")
NOBODY = -1


class Noted(NamedTuple):
    """What a page says. `began` is on the system's monotonic clock, `cpu_s` the CPU time of the worker's life before the job."""

    job: int
    began: float
    cpu_s: float
    phase: str
    text_sha256: str | None
    parsed_sha256: str | None


class Spot:
    """One page shared by descriptor: the parent makes it, the worker maps it again."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._page = mmap.mmap(descriptor, mmap.PAGESIZE)
        self.clear()

    @classmethod
    def fresh(cls) -> Spot:
        """A page that lies in no folder; the descriptor is the caller's to close."""
        descriptor = os.memfd_create("spot") if hasattr(os, "memfd_create") else _unnamed_file()
        os.ftruncate(descriptor, mmap.PAGESIZE)
        return cls(descriptor)

    def begin(self, job: int, began: float, cpu_s: float) -> None:
        _AT.pack_into(self._page, _AT_OFFSET, 0, b"", b"")
        _BEGUN.pack_into(self._page, 0, job, began, cpu_s)

    def at(self, phase: str, text_sha256: str | None, parsed_sha256: str | None) -> None:
        text, parsed = (text_sha256 or "").encode("ascii"), (parsed_sha256 or "").encode("ascii")
        _AT.pack_into(self._page, _AT_OFFSET, PHASES.index(phase), text, parsed)

    def close(self) -> None:
        """Close the descriptor; what was noted stays readable."""
        os.close(self.descriptor)

    def clear(self) -> None:
        self.begin(NOBODY, 0.0, 0.0)

    def read(self) -> Noted:
        job, began, cpu_s = _BEGUN.unpack_from(self._page, 0)
        phase, text, parsed = _AT.unpack_from(self._page, _AT_OFFSET)
        text, parsed = (digest.rstrip(b"\0").decode("ascii") or None for digest in (text, parsed))
        return Noted(job, began, cpu_s, PHASES[phase], text, parsed)


def _unnamed_file() -> int:
    import tempfile  # here: only needed where there is no memfd, and the worker starts faster without

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
