"""The rungs of this machine as rooms that stay open for a whole test run, each a process in a process namespace of its own."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.machines import Machine, machine

PATIENCE_S = 150.0
IMAGE = "EVALACTION_TEST_IMAGE"
"""Names a Python image by digest that docker has here already."""
_HERE = Path(__file__).parent


class Kind(NamedTuple):
    machine: str
    how: str


KINDS: Mapping[str, Kind] = {
    "root": Kind("root", "root"),
    "root-bare": Kind("root without Landlock", "root"),
    "sudo": Kind("user with sudo", "sudo"),
    "user": Kind("ordinary user", "user_namespaces"),
    "user-bare": Kind("ordinary user without Landlock", "user_namespaces"),
    "landlock-uid": Kind("job container", "landlock"),
    "landlock": Kind("ordinary user without namespaces", "landlock"),
    "docker": Kind("root" if os.geteuid() == 0 else "ordinary user", "docker"),
}
"""`-bare`: a kernel without Landlock, so that what it would have held back shows; `-uid`: a user id for each draw."""
NAMES = tuple(KINDS)
JUDGED = ("root", "user", "landlock", "docker")
"""Checks are tried on one room of each rung, and once as an ordinary user: what they rest on is tried everywhere."""


class Lost(Exception):
    """The room has died or does not answer."""


class Room:
    def __init__(self, on: Machine, how: str) -> None:
        # Numbers of processes from 5000 on, which no process in a box has by chance.
        far = 'echo 5000 > /proc/sys/kernel/ns_last_pid; "$@"; exit $?'
        shield = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "sh", "-c", far, "sh"]
        shielded = os.geteuid() == 0 and shutil.which("unshare") is not None
        arguments = [how, "shielded" if shielded else "open", os.environ.get(IMAGE, "")]
        source = f"import sys\nsys.argv[1:] = {arguments!r}\n"
        command = on.command(source + "from attacks.defended import main\nmain()")
        self._process = subprocess.Popen(
            [*shield, *command] if shielded else command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._held = b""
        try:
            self.rung = self._receive()
        except BaseException:
            self.close()
            raise

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Raises Lost."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise Lost("the room has died") from error
        return self._receive()

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        ends = time.monotonic() + PATIENCE_S
        while b"\n" not in self._held:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, ends - time.monotonic()))
            data = os.read(self._process.stdout.fileno(), 2**16) if ready else b""
            if not data:
                raise Lost("the room does not answer" if not ready else "the room has died")
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Rooms:
    """Opened when first asked for; a room that was lost is opened anew."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._machines: dict[str, Machine] = {}
        self._rooms: dict[str, Room] = {}
        self._missing: dict[str, str] = {}

    def ask(self, name: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """The room's answer; skips the test where this machine cannot give the room. Raises Lost."""
        room = self._room(name)
        try:
            return room.ask(request)
        except Lost:
            self._rooms.pop(name).close()
            raise

    def rung(self, name: str) -> dict[str, Any]:
        return self._room(name).rung

    def close(self) -> None:
        for room in self._rooms.values():
            room.close()
        self._stack.close()

    def _room(self, name: str) -> Room:
        if name in self._missing:
            pytest.skip(self._missing[name])
        if name not in self._rooms:
            kind = KINDS[name]
            if kind.how == "docker" and (why := _no_docker()) is not None:
                self._missing[name] = why
                pytest.skip(why)
            room = Room(self._machine(name, kind), kind.how)
            if "missing" in room.rung:
                room.close()
                self._missing[name] = f"this machine does not give {name}: {room.rung['missing']}"
                pytest.skip(self._missing[name])
            self._rooms[name] = room
        return self._rooms[name]

    def _machine(self, name: str, kind: Kind) -> Machine:
        if name not in self._machines:
            try:
                on = self._stack.enter_context(machine(kind.machine))
            except pytest.skip.Exception as why:
                self._missing[name] = str(why)
                raise
            target = on.package / "attacks"
            target.mkdir()
            for file in ("scene.py", "defended.py"):
                shutil.copy(_HERE / file, target / file)
            for place in (target, *target.iterdir()):
                place.chmod(0o755 if place.is_dir() else 0o644)
            if kind.how == "docker":
                on.env["PATH"] = os.environ["PATH"]
            on.env["EVAL_KEY"] = f"key-{secrets.token_hex(16)}"
            self._machines[name] = on
        return self._machines[name]


def _no_docker() -> str | None:
    """Why there is no room in a container here."""
    try:
        answered = subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        answered = False
    if not answered:
        return "no docker daemon answers on this machine"
    return None if os.environ.get(IMAGE) else f"{IMAGE} names no image by digest"


@contextlib.contextmanager
def opened() -> Iterator[Rooms]:
    rooms = Rooms()
    try:
        yield rooms
    finally:
        rooms.close()
