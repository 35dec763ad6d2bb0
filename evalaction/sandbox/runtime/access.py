"""What Landlock lets a process reach: the views, and its own folder."""

# Paths of other roots and of /proc, handed to system calls as they are.
# ruff: noqa: PTH114, PTH208

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from evalaction.sandbox.runtime import landlock
from evalaction.sandbox.runtime.job import Config
from evalaction.sandbox.runtime.landlock import Grant
from evalaction.sandbox.runtime.root import DEVICES

_READ_AND_WRITE = 2 | 4


def grants(config: Config, version: int) -> tuple[Grant, ...]:
    """All that processes of this zygote have in common. With namespaces the root is already a list of what is allowed."""
    writable = landlock.write_access(version)
    found = [Grant("/", landlock.READ)] if config.namespaces else []
    found += [Grant(f"/dev/{name}", _READ_AND_WRITE) for name in DEVICES]
    for view in config.views:
        if view.writable:
            found.append(Grant(view.inside, landlock.READ | writable))
        elif not config.namespaces:
            found += _without(view.source, config.hidden)
    return tuple(found)


def _without(path: str, hidden: tuple[str, ...]) -> Iterator[Grant]:
    """A rule holds for all below it, so around what is hidden each neighbour gets a rule of its own."""
    if path in hidden:
        return
    above = path.rstrip("/")
    if not any(folder.startswith(f"{above}/") for folder in hidden):
        yield Grant(path, landlock.READ)
        return
    if path in sys.path:  # imports list it; what is hidden below can be listed too, not read
        yield Grant(path, landlock.LIST)
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(path)):
            if not os.path.islink(f"{above}/{name}"):  # a rule would hold for what the link leads to
                yield from _without(f"{above}/{name}", hidden)
