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


def run_here(arguments: Sequence[str], *, cwd: Path, environ: Mapping[str, str]) -> tuple[int, str]:
    """Exit code, and both streams as one, in the order in which they were written. Raises TimeoutError after a minute.

    The command sees `environ` and nothing else of ours. What a process of its own would have, its memory and its environment,
    it does not guard against programs of others here: those tests start one.
    """
    with io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True) as said:
        world = World(environ=dict(environ), out=said, err=said, cwd=cwd)
        with (
            mock.patch.dict(os.environ, environ, clear=True),
            contextlib.chdir(cwd),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            _in_time(),
        ):
            try:
                code = run_command(arguments, world)
            except SystemExit as end:  # argparse ends so
                assert isinstance(end.code, int)
                code = end.code
        assert isinstance(said.buffer, io.BytesIO)
        return code, said.buffer.getvalue().decode()


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
