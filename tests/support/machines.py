"""Kinds of users and machines, made for a test: an ordinary user, one with sudo, a job container, a machine with nothing."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import evalaction

UID = 54_321
_ROOM = Path(evalaction.__file__).parent
_NAMESPACES = ("unshare", "setns", "mount", "pivot_root")
_LANDLOCK = ("landlock_create_ruleset",)
_OF_A_CONTAINER = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""What docker leaves to root: chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, …; no sys_admin."""
# Stands in for sudo where that is not installed or asks for a password: as sudo does, it cleans the environment and descriptors.
_SUDO = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    int first = 1;
    while (first < count && words[first][0] == '-')
        if (strcmp(words[first++], "--") == 0) break;
    if (first >= count || setgid(0) != 0 || setuid(0) != 0) return 1;
    clearenv();
    setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    for (int descriptor = 3; descriptor < 1024; descriptor++) close(descriptor);
    execvp(words[first], words + first);
    return 1;
}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """`run(source)` runs Python that imports `evalaction.sandbox` and prints JSON."""

    package: Path
    uid: int | None = None
    capabilities: tuple[int, ...] | None = None
    refuse: tuple[str, ...] = ()
    path: str = "/usr/bin:/bin"
    env: dict[str, str] = field(default_factory=dict)

    def command(self, source: str) -> list[str]:
        case = {
            "argv": [_python(), "-c", source],
            "env": {"PATH": self.path, "PYTHONPATH": str(self.package), "PYTHONDONTWRITEBYTECODE": "1", **self.env},
            "uid": self.uid,
            "capabilities": self.capabilities,
            "refuse": self.refuse,
        }
        return [sys.executable, str(Path(__file__).with_name("machine_case.py")), json.dumps(case)]

    def run(self, source: str) -> Any:
        done = subprocess.run(self.command(source), capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@functools.cache
def _python() -> str:
    """An interpreter that every user of this machine can start."""
    for candidate in (os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable), "/usr/bin/python3"):
        path = Path(candidate)
        if path.exists() and all(place.stat().st_mode & 0o001 for place in (path, *path.resolve().parents)):
            version = subprocess.run(
                [candidate, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True, check=False
            )
            if version.stdout.strip() == b"True":
                return candidate
    pytest.skip("there is no Python 3.11 that another user could start")


@contextlib.contextmanager
def _package() -> Iterator[Path]:
    """The rooms that a box and the checks in it need, where every user can read them."""
    folder = Path(tempfile.mkdtemp(prefix="evalaction-package-", dir="/tmp"))
    try:
        target = folder / "evalaction"
        for room in ("sandbox", "checks", "method"):
            shutil.copytree(_ROOM / room, target / room, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("__init__.py", "errors.py"):
            shutil.copy(_ROOM / name, target / name)
        for place in (folder, *folder.rglob("*")):
            place.chmod(0o755 if place.is_dir() else 0o644)
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def machine(kind: str) -> Iterator[Machine]:
    """A machine of this kind; skips the test, with a sentence, where it cannot be made."""
    if os.geteuid() != 0 and kind not in ("ordinary user", "ordinary user without Landlock"):
        pytest.skip("only root can make users and take capabilities away")
    uid = UID if os.geteuid() == 0 else None
    with _package() as package, contextlib.ExitStack() as stack:
        if kind == "root":
            yield Machine(package=package)
        elif kind == "root without Landlock":
            yield Machine(package=package, refuse=_LANDLOCK)
        elif kind == "ordinary user":
            yield Machine(package=package, uid=uid)
        elif kind == "ordinary user without Landlock":
            yield Machine(package=package, uid=uid, refuse=_LANDLOCK)
        elif kind == "ordinary user without namespaces":
            yield Machine(package=package, uid=uid, refuse=_NAMESPACES)
        elif kind == "user with sudo":
            yield Machine(package=package, uid=uid, path=f"{stack.enter_context(_sudo(package))}:/usr/bin:/bin")
        elif kind == "job container":
            yield Machine(package=package, capabilities=_OF_A_CONTAINER, refuse=_NAMESPACES)
        elif kind == "job container without capabilities":
            yield Machine(package=package, capabilities=(), refuse=_NAMESPACES)
        else:
            assert kind == "nothing"
            yield Machine(package=package, uid=uid, refuse=(*_NAMESPACES, *_LANDLOCK))


@contextlib.contextmanager
def _sudo(package: Path) -> Iterator[Path]:
    """A folder with a `sudo` that only the user of the test can reach; gone when the test ends."""
    if (compiler := shutil.which("gcc") or shutil.which("cc")) is None:
        pytest.skip("there is no C compiler to make a sudo with")
    folder = Path(tempfile.mkdtemp(prefix="evalaction-sudo-", dir="/tmp"))
    try:
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("programs of another user's rights do not work in the temporary folder")
        os.chown(folder, 0, UID)
        folder.chmod(0o710)
        program = folder / "sudo"
        subprocess.run([compiler, "-O1", "-x", "c", "-", "-o", str(program)], input=_SUDO.encode(), check=True, timeout=120)
        os.chown(program, 0, UID)
        program.chmod(0o4750)
        yield folder
    finally:
        shutil.rmtree(folder)
