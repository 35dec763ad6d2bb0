"""The pipes and unnamed files of one check: ours to make, ours to close whatever happens."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType

VERDICT_BYTES = 65_536


class Descriptors:
    """`with Descriptors() as own:` closes at the end what is still open."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def __enter__(self) -> Descriptors:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close(list(self._open))

    def pipe(self) -> tuple[int, int]:
        """The reading and the writing end."""
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def file(self, content: bytes) -> int:
        """An unnamed file with the content, to be read from its start."""
        descriptor = os.memfd_create("job")
        self._open.add(descriptor)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def close(self, descriptors: Iterable[int]) -> None:
        for descriptor in descriptors:
            self._open.remove(descriptor)
            os.close(descriptor)

    def said(self, file: int) -> bytes:
        """What was written to a file, up to a bound."""
        return os.pread(file, VERDICT_BYTES + 1, 0)
