"""The command in this process, for tests to whom its outcome matters and not how it is started: an interpreter that starts takes
longer than most commands."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn
from unittest import mock

from evalaction.cli.handler import run_command
from evalaction.cli.world import World

PATIENCE_S = 60.0


def run_here(
    arguments: Sequence[str], *, cwd: Path, environ: Mapping[str, str], one_stream: bool = False
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; as `one_stream` all of it is output, in the order in which it was written.

    The command sees `environ` and nothing else of ours. What a process of its own would have, its memory and its environment,
    it does not guard against programs of others here: those tests start one. Raises TimeoutError after a minute.
    """
    out, err = _Written(), _Written()
    errors = out if one_stream else err
    world = World(environ=dict(environ), out=out, err=errors, cwd=cwd)
    with (
        mock.patch.dict(os.environ, environ, clear=True),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        _in_time(),
    ):
        try:
            code = run_command(arguments, world)
        except SystemExit as end:  # argparse ends so
            assert isinstance(end.code, int)
            code = end.code
    return code, out.text(), err.text()


class _Written(io.TextIOWrapper):
    """A stream as a pipe would be, kept."""

    def __init__(self) -> None:
        self._kept = io.BytesIO()
        super().__init__(self._kept, encoding="utf-8", errors="backslashreplace", write_through=True)

    def text(self) -> str:
        self.flush()
        return self._kept.getvalue().decode()


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    assert threading.current_thread() is threading.main_thread(), "signals reach the main thread alone"
    before = signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_late(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"the command did not end within {PATIENCE_S:.0f} seconds")
