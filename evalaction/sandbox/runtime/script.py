"""A Python program given as text, run as an interpreter runs a file."""

from __future__ import annotations

import linecache
import sys
import types

NAME = "main.py"


def run(argument: bytes) -> None:
    """Run UTF-8 source as `__main__`; exceptions and SystemExit leave as they are."""
    source = argument.decode("utf-8")
    linecache.cache[NAME] = (len(source), None, source.splitlines(keepends=True), NAME)
    module = types.ModuleType("__main__")
    module.__dict__["__file__"] = NAME
    sys.modules["__main__"] = module
    sys.argv = [NAME]
    exec(compile(source, NAME, "exec"), module.__dict__)  # noqa: S102 - what the box is for
