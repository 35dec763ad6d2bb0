"""A root of its own: an empty file system with read-only views of what is listed, and nothing else."""

# Paths of other roots and of /proc, handed to system calls as they are.
# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH114, PTH115, PTH120, PTH121, PTH123, PTH211

from __future__ import annotations

import os
from collections.abc import Iterable

from evalaction.sandbox.runtime import kernel
from evalaction.sandbox.runtime.job import View

DEVICES = ("null", "zero", "urandom")
_SCRATCH = "/tmp"  # noqa: S108 - any folder that exists everywhere; covered in our own mount namespace only
_FEW = "size=1m,nr_inodes=4096,mode=0755"


def build(views: Iterable[View], hidden: Iterable[str]) -> None:
    """Replace `/` in this mount namespace. `hidden` folders, named as seen inside, are covered by an empty one.

    The old root is parked while it is still needed and then detached: a source may lie below the folder that we start in.
    """
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("box", _SCRATCH, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _FEW)
    for name in ("old", "new"):
        os.mkdir(f"{_SCRATCH}/{name}")
    kernel.pivot_root(_SCRATCH, f"{_SCRATCH}/old")
    os.chdir("/")
    kernel.mount("box", "/new", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _FEW)
    for view in sorted(views, key=lambda one: one.inside):
        _show(view)
    for name in DEVICES:
        _show(View(source=f"/dev/{name}", inside=f"/dev/{name}", device=True))
    for folder in hidden:
        if os.path.isdir(f"/new{folder}"):
            kernel.mount(
                "none", f"/new{folder}", "tmpfs", kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV, "size=4k,mode=0755"
            )
    os.makedirs("/new/tmp", exist_ok=True)
    os.chdir("/new")
    kernel.pivot_root(".", ".")
    kernel.detach(".")
    os.chdir("/")
    flags = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("none", "/", None, kernel.MS_REMOUNT | kernel.MS_BIND | flags)


def _show(view: View) -> None:
    source, target = f"/old{view.source}", f"/new{view.inside}"
    if not os.path.lexists(source) or os.path.islink(target):
        return
    if os.path.islink(source) and not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(source), target)
        return
    if os.path.exists(target):
        if os.path.samefile(source, target) and not view.writable:
            return
    elif os.path.isdir(source):
        os.makedirs(target)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "x"):
            pass
    if view.device:  # still written to, but its times stay as they are
        kernel.mount(source, target, None, kernel.MS_BIND)
        kernel.mount("none", target, None, kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID)
    else:
        kernel.bind(source, target, writable=view.writable)
