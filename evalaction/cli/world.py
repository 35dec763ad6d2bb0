"""The outside world as one value, built once: every command is handed it, so tests patch nothing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from evalaction.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class World:
    """Environment variables, standard streams and the folder that relative paths start from."""

    environ: Mapping[str, str] = field(repr=False)
    out: TextIO
    err: TextIO
    cwd: Path
    own: bool = False
    """Whether this is the process's own world, and not one that was made up."""

    @classmethod
    def real(cls) -> World:
        for stream in (sys.stdout, sys.stderr):
            # A console that cannot print a character gets its escape, not a crash.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # real streams are TextIOWrapper
        return cls(environ=dict(os.environ), out=sys.stdout, err=sys.stderr, cwd=Path.cwd(), own=True)

    @property
    def encoding(self) -> str:
        return getattr(self.out, "encoding", None) or "utf-8"

    @property
    def colour(self) -> bool:
        """Whether standard output takes colour: a terminal, unless NO_COLOR or a TERM of `dumb` says otherwise."""
        return self.out.isatty() and not self.environ.get("NO_COLOR") and self.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Columns for prose: those of the terminal, within what reads well; 100 where there is none."""
        if not self.out.isatty():
            return 100
        return min(max(shutil.get_terminal_size((100, 24)).columns, 40), 100)

    def write_utf8(self, text: str) -> None:
        """Write a file's text to standard output as the file's own bytes, whatever the console's encoding is."""
        buffer = getattr(self.out, "buffer", None)
        with _heard(self.out):
            if buffer is None:
                self.out.write(text)
                return
            self.out.flush()
            buffer.write(text.encode())

    def guard(self, secrets: Iterable[str]) -> None:
        """Before programs of others run beside us: nobody reads our memory, and our environment has no secrets any more."""
        if self.own:
            from evalaction.sandbox import own

            own.close()
            own.forget(secrets)

    def say(self, text: str = "") -> None:
        with _heard(self.out):
            self.out.write(text + "\n")

    def warn(self, text: str) -> None:
        with suppress(UsageError), _heard(self.err):  # there is no other place to say it
            self.err.write(text + "\n")
            self.err.flush()

    def flush(self) -> None:
        """Raises UsageError where standard output cannot be written."""
        with _heard(self.out):
            self.out.flush()


@contextmanager
def _heard(stream: TextIO) -> Iterator[None]:
    """Nothing follows from a reader that leaves (`evalaction run | head`): the work and its exit code stay what they are.

    Raises UsageError, once, where the stream cannot be written for another reason.
    """
    try:
        yield
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            raise UsageError(f"The output cannot be written: {error.strerror}; make room, or write it elsewhere.") from error
