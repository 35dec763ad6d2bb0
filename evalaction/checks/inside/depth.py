"""The recursion limit of a program that starts at the top."""

from __future__ import annotations

import sys

_LIMIT = 1_000


def start_at_the_top() -> None:
    """Give what runs next the depth that it would have in an interpreter of its own, our frames not counted."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(_LIMIT + depth)
