"""The command line: arguments in, one outermost handler, the only place that prints, exits and builds real collaborators."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code of its outcome."""
    _reopen_closed()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):  # answered before anything is imported
        from evalaction import __version__

        sys.stdout.write(f"evalaction {__version__}\n")
        return 0
    gc.set_threshold(10_000, 20, 20)  # a tenth of the time went into looking for cycles, and a run makes few
    from evalaction.cli.handler import run_command

    return run_command(arguments)


def _reopen_closed() -> None:
    """Standard streams that we were started without (`>&-`) lead nowhere: a file of ours must never be opened by their number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
