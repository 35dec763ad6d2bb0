"""The process that forks all others: it imports once, stands in its namespaces, and takes jobs from one socket."""

# Paths of other roots and of /proc, handed to system calls as they are.
# ruff: noqa: PTH116, PTH120

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import itertools
import json
import os
import select
import signal
import site
import socket
import struct
import sys
import time
from dataclasses import dataclass, field
from typing import Any, NoReturn

from evalaction.sandbox.runtime import ground as grounds
from evalaction.sandbox.runtime import keeper, kernel, removal
from evalaction.sandbox.runtime.ground import Ground
from evalaction.sandbox.runtime.job import DESCRIPTORS, MESSAGE_BYTES, Config, Job

_GRACE_S = 5.0
"""How long a keeper may be late before it is killed."""
_REPORT_BYTES = 65_536


@dataclass(slots=True)
class _Keeper:
    """A keeper at work, as the zygote knows it."""

    number: int
    slot: int
    pid: int
    pidfd: int
    report: int
    deadline: float
    late: bool = False


def main() -> NoReturn:
    """Connect to the socket that argv[1] names, say "ready" or what is missing, then serve until the other end closes."""
    control = _connect(sys.argv[1])
    config = Config.unpack(control.recv(MESSAGE_BYTES * 16))
    os.environ.clear()
    os.environ.update(config.environment)
    try:
        ground = grounds.prepare(config)
        _look_inside(config)
        for name in config.modules:
            importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - the parent hears of it and takes another rung
        control.send(json.dumps({"trouble": f"{type(error).__name__}: {error}"[:2000]}).encode())
        os._exit(1)
    ready = {"landlock_abi": ground.landlock_abi, "own_uid": ground.own_uid, "pid": os.getpid()}
    control.send(json.dumps({"ready": ready}).encode())
    gc.collect()
    gc.freeze()
    try:
        Zygote(control, ground).serve()
    finally:
        os._exit(0)


def _connect(path: str) -> socket.socket:
    """The socket, after a look at who listens there: only the owner of its folder may give us work."""
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.connect(path)
    _, uid, _ = struct.unpack("3i", control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    if uid != os.stat(os.path.dirname(path)).st_uid:
        os._exit(1)
    return control


def _look_inside(config: Config) -> None:
    """From here on our modules are found where the new root shows them; and the names that `site` gives every program."""
    runtime = grounds.runtime_folder(config)
    # What another room binds at /box/NAME, or keeps beside ours where nothing is moved, is evalaction.NAME inside.
    sys.modules["evalaction"].__path__ = [os.path.dirname(runtime), os.path.dirname(os.path.dirname(runtime))]
    sys.modules["evalaction.sandbox"].__path__ = [os.path.dirname(runtime)]
    sys.modules["evalaction.sandbox.runtime"].__path__ = [runtime]
    site.setquit()
    site.setcopyright()
    site.sethelper()


@dataclass(slots=True)
class Zygote:
    control: socket.socket
    ground: Ground
    keepers: dict[int, _Keeper] = field(default_factory=dict)
    """By descriptor of the keeper's process."""

    def serve(self) -> None:
        """Until the parent closes the socket or goes away."""
        signal.signal(signal.SIGTERM, _leave)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        try:
            while True:
                for descriptor, _ in poll.poll(self._patience_ms()):
                    if descriptor != self.control.fileno():
                        poll.unregister(descriptor)
                        self._buried(self.keepers.pop(descriptor))
                    elif (started := self._take()) is not None:
                        poll.register(started, select.POLLIN)
                self._end_the_late()
        except (EOFError, OSError):
            pass
        finally:
            self._end_all()

    def _patience_ms(self) -> float | None:
        if not self.keepers:
            return None
        return max(0.0, min(one.deadline for one in self.keepers.values()) - time.monotonic()) * 1000 + 1

    def _take(self) -> int | None:
        """One message of the parent; the descriptor of a keeper that it started."""
        data, ancillary, _, _ = self.control.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(DESCRIPTORS * 4))
        if not data:
            raise EOFError
        descriptors = array.array("i")
        for level, kind, content in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(content[: len(content) // 4 * 4])
        message = json.loads(data)
        if "end" in message:
            self._end(message["end"])
            return None
        try:
            return self._start(Job(**message), list(descriptors))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _start(self, job: Job, descriptors: list[int]) -> int | None:
        used = {one.slot for one in self.keepers.values()}
        slot = next(number for number in itertools.count() if number not in used)
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as on_failure:
            try:
                report, tell = os.pipe()
                ours.callback(os.close, tell)
                on_failure.callback(os.close, report)
                pid = self._fork(job, slot, descriptors, tell)
                pidfd = os.pidfd_open(pid)
            except OSError as error:
                self._send(job.number, {"trouble": f"no process could be started: {error.strerror}"})
                return None
            on_failure.pop_all()
        deadline = time.monotonic() + job.wall_ms / 1000 + _GRACE_S
        self.keepers[pidfd] = _Keeper(number=job.number, slot=slot, pid=pid, pidfd=pidfd, report=report, deadline=deadline)
        return pidfd

    def _fork(self, job: Job, slot: int, descriptors: list[int], tell: int) -> int:
        if self.ground.config.namespaces:
            kernel.unshare(kernel.CLONE_NEWPID)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    self.control.close()
                    keeper.keep(self.ground, job, slot, descriptors, tell)
                finally:  # what is ours to do at the end is not a child's
                    os._exit(1)
            return pid
        finally:
            if self.ground.config.namespaces:
                kernel.setns(self.ground.pid_namespace, kernel.CLONE_NEWPID)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def _buried(self, one: _Keeper) -> None:
        os.waitpid(one.pid, 0)
        os.close(one.pidfd)
        said = os.read(one.report, _REPORT_BYTES)
        os.close(one.report)
        self._end_orphans()
        self._tidy(one.number)
        self._send(one.number, json.loads(said) if said else {"lost": "late" if one.late else "killed"})

    def _tidy(self, number: int) -> None:
        """What a keeper that was killed, or ended while it tidied up, left of its process's folder."""
        folder = keeper.folder_of(self.ground, number)
        if folder is not None and not self.ground.config.namespaces:
            removal.remove(folder)

    def _send(self, number: int, report: dict[str, Any]) -> None:
        self.control.send(json.dumps({"number": number, "report": report}).encode())

    def _end(self, number: int) -> None:
        for one in self.keepers.values():
            if one.number == number:
                signal.pidfd_send_signal(one.pidfd, signal.SIGTERM)
                one.deadline = min(one.deadline, time.monotonic() + _GRACE_S)

    def _end_the_late(self) -> None:
        now = time.monotonic()
        for one in self.keepers.values():
            if now >= one.deadline:
                one.late, one.deadline = True, now + _GRACE_S
                signal.pidfd_send_signal(one.pidfd, signal.SIGKILL)

    def _end_all(self) -> None:
        """Nobody outlives us. In namespaces the kernel sees to that; elsewhere keepers clean up and leave no orphans."""
        for one in self.keepers.values():
            signal.pidfd_send_signal(one.pidfd, signal.SIGTERM)
        if self.ground.config.namespaces:
            return
        ends = time.monotonic() + _GRACE_S
        for one in self.keepers.values():
            if not select.select([one.pidfd], [], [], max(0.0, ends - time.monotonic()))[0]:
                signal.pidfd_send_signal(one.pidfd, signal.SIGKILL)
            os.waitpid(one.pid, 0)
        self.keepers.clear()
        self._end_orphans()
        folder = os.path.dirname(self.ground.config.folder or "")
        if folder and sys.argv[1].startswith(f"{folder}/"):  # our parent may have been killed: it would have done it
            removal.remove(folder)

    def _end_orphans(self) -> None:
        """Descendants of a keeper that was killed come to us where there is no namespace to end with it."""
        if self.ground.config.namespaces:
            return
        known = {one.pid for one in self.keepers.values()}
        while orphans := [pid for pid in keeper.children(os.getpid()) if pid not in known]:
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError):
                    if (group := os.getpgid(pid)) != os.getpgrp():
                        os.killpg(group, signal.SIGKILL)
                    os.kill(pid, signal.SIGKILL)
            for pid in orphans:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)


def _leave(*_: object) -> NoReturn:
    raise EOFError
