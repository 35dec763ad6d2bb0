"""The box as the event loop sees it: a zygote is started, processes are asked for, their endings come back."""

from __future__ import annotations

import array
import asyncio
import fcntl
import json
import os
import socket
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any

from evalaction.sandbox import own
from evalaction.sandbox.capture import Capture
from evalaction.sandbox.launch import Launched, launch
from evalaction.sandbox.records import Bind, Ending, LimitName, Rung, SandboxError, Spec, Task
from evalaction.sandbox.runtime.job import CONTROL_INSIDE, DESCRIPTORS, RUNTIME_INSIDE, Job, Load

_REPORT_BYTES = 262_144
_PIPES_S = 2.0
_AGAIN_S = 0.002
"""When a message that the zygote has no room for is sent again."""
_STARTS = 4
"""How often a zygote is started before we believe that it cannot stay."""
_OURS = ("/tmp", "/dev", RUNTIME_INSIDE, CONTROL_INSIDE)  # noqa: S108 - inside the box
_F_ADD_SEALS, _SEAL_ALL = 1033, 0x1 | 0x2 | 0x4 | 0x8


class Process:
    """One started task."""

    def __init__(self, box: Box, number: int, task: Task, capture: Capture) -> None:
        self._box = box
        self._task = task
        self._capture = capture
        self._number = number
        self._killed = False
        self._limit: LimitName | None = None
        self._report: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        capture.on_too_much(self._too_much)

    async def wait(self) -> Ending:
        """How it ended, once it and all it started are gone. SandboxError when the box failed."""
        report = await asyncio.shield(self._report)
        await self._capture.finished(_PIPES_S)
        if (trouble := report.get("trouble")) is not None:
            raise SandboxError(f"The sandbox could not run a process: {trouble}.")
        return self._ending(report)

    def kill(self) -> None:
        """End it and all it started; safe to repeat and after its end."""
        if not self._report.done():
            self._killed = True
            self._box.end(self._number)

    def _too_much(self) -> None:
        """Its output is over the cap."""
        self._limit = "output"
        if not self._report.done():
            self._box.end(self._number)

    def told(self, report: dict[str, Any]) -> None:
        if not self._report.done():
            self._report.set_result(report)

    def failed(self, error: SandboxError) -> None:
        self._capture.close()
        if not self._report.done():
            self._report.set_exception(error)
            self._report.exception()  # whoever waits hears of it; nobody has to

    def _ending(self, report: dict[str, Any]) -> Ending:
        lost = "lost" in report
        # A process that may start none cannot signal its keeper; others may, and fail by it.
        by_others = (lost and report["lost"] != "late") or ("ended" in report and not self._task.limits.processes)
        if by_others and not self._killed and self._limit is None:
            raise SandboxError("The sandbox lost a process: something outside ended the one that watches it.")
        limit = self._limit or report.get("limit") or ("wall" if report.get("lost") == "late" and not self._killed else None)
        return Ending(
            exit=report.get("exit"),
            signal=report.get("signal", 9) if report.get("exit") is None else None,
            limit=None if self._killed and self._limit is None else limit,
            cpu_ms=report.get("cpu_ms", 0),
            wall_ms=report.get("wall_ms", self._task.limits.wall_ms if lost else 0),
            max_rss_kb=report.get("max_rss_kb", 0),
            run_delay_ms=report.get("run_delay_ms"),
            killed=self._killed and bool(lost or report.get("ended")),
            stdout=self._capture.text(1),
            stderr=self._capture.text(2),
        )


class Box:
    """`async with Box(spec, rung) as box: process = await box.start(task); ending = await process.wait()`.

    A zygote that dies takes its processes along, each with a SandboxError; the next `start` gets a fresh one.
    """

    def __init__(self, spec: Spec, rung: Rung) -> None:
        for bind in spec.readable:
            _check(bind, mounts=rung.number in {1, 3})
        self._spec = spec
        self._rung = rung
        self._launched: Launched | None = None
        self._processes: dict[int, Process] = {}
        self._numbers = 0
        self._starts = 0
        self._starting = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def rung(self) -> Rung:
        return self._rung

    @property
    def ready(self) -> Mapping[str, Any]:
        """What the zygote said of itself when it started."""
        if self._launched is None:
            raise SandboxError("The sandbox is not running.")
        return self._launched.ready

    async def __aenter__(self) -> Box:
        await self._ready()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closed = True
        await self._lose(SandboxError("The sandbox was closed."))

    async def start(self, task: Task) -> Process:
        """Start a process; its descriptors are handed over when this returns. SandboxError when there is no zygote to be had."""
        launched = await self._ready()
        self._numbers += 1
        number = self._numbers
        capture = Capture(task.limits.output_bytes)
        process = Process(self, number, task, capture)
        limits = task.limits
        job = Job(
            number=number,
            wall_ms=limits.wall_ms,
            cpu_ms=limits.cpu_ms,
            memory_mb=limits.memory_mb,
            processes=limits.processes,
            open_files=limits.open_files,
            disk_mb=limits.disk_mb,
        )
        ours: list[int] = []
        self._processes[number] = process
        try:
            await _send(launched.control, job.pack(), self._descriptors(task, capture, ours))
        except OSError as error:
            del self._processes[number]
            capture.close()
            raise SandboxError(f"The sandbox took no process: {error.strerror or error}.") from error
        except BaseException:
            self._processes.pop(number, None)
            capture.close()
            raise
        finally:
            for descriptor in ours:
                os.close(descriptor)
        return process

    def end(self, number: int) -> None:
        """Ask for the end of a process; its report follows."""
        if self._launched is None or number not in self._processes:
            return
        try:
            self._launched.control.send(json.dumps({"end": number}).encode())
        except BlockingIOError:
            asyncio.get_running_loop().call_later(_AGAIN_S, self.end, number)
        except OSError:  # it has ended with its zygote
            pass

    def _descriptors(self, task: Task, capture: Capture, ours: list[int]) -> list[int]:
        """What travels with a job: its load, then descriptors 0, 1, 2, …; those made here are added to `ours`."""

        def mine(descriptor: int) -> int:
            ours.append(descriptor)
            return descriptor

        load = Load(entry=task.entry, argument=task.argument, argv=task.argv, env=task.env, files=task.files)
        sent = [mine(_sealed(load.pack()))]
        given = task.descriptors
        sent.append(given[0] if 0 in given else mine(_sealed(task.stdin)))  # also for nothing: times of /dev/null are seen by all
        sent += [given[number] if number in given else mine(capture.pipe(number)) for number in (1, 2)]
        sent += [given[number] for number in sorted(given) if number > 2]
        if len(sent) > DESCRIPTORS:
            raise ValueError(f"a task takes {DESCRIPTORS - 1} descriptors at most")
        return sent

    async def _ready(self) -> Launched:
        async with self._starting:
            if self._closed:
                raise SandboxError("The sandbox was closed.")
            if self._launched is None:
                if self._starts == _STARTS:
                    raise SandboxError("The sandbox ended again and again. Look at the memory of this machine.")
                self._starts += 1
                if self._rung.number in {2, 4}:
                    own.close()
                self._launched = await launch(self._spec, self._rung)
                asyncio.get_running_loop().add_reader(self._launched.control, self._read, self._launched)
            return self._launched

    def _read(self, launched: Launched) -> None:
        """Reports of processes; the end of the zygote."""
        while True:
            try:
                data = launched.control.recv(_REPORT_BYTES)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                closing = asyncio.ensure_future(self._lose(SandboxError("The sandbox ended while it was at work.")))
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)
                return
            message = json.loads(data)
            process = self._processes.pop(message["number"], None)
            if process is not None:
                process.told(message["report"])

    async def _lose(self, error: SandboxError) -> None:
        """Part from the zygote; every process under way ends with `error`."""
        launched, self._launched = self._launched, None
        processes, self._processes = list(self._processes.values()), {}
        if launched is not None:
            asyncio.get_running_loop().remove_reader(launched.control)
            await launched.close()
        for process in processes:
            process.failed(error)
        if self._closed:
            await asyncio.gather(*(task for task in self._closing if task is not asyncio.current_task()), return_exceptions=True)


def _check(bind: Bind, *, mounts: bool) -> None:
    inside = PurePosixPath(bind.inside)
    if not inside.is_absolute() or (mounts and any(inside.is_relative_to(place) for place in _OURS)):
        raise ValueError(f"nothing can be shown at {bind.inside}")
    if not mounts and bind.inside != str(bind.source) and not bind.inside.startswith("/box/"):
        raise ValueError("without mounts a path is seen where it lies")


def _sealed(content: bytes) -> int:
    """A descriptor that holds `content` in memory and that nobody can write to."""
    descriptor = os.memfd_create("load", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, _F_ADD_SEALS, _SEAL_ALL)
    return descriptor


async def _send(control: socket.socket, data: bytes, descriptors: list[int]) -> None:
    """One message with descriptors; waits while the zygote is behind. OSError when it is gone."""
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    while True:
        try:
            control.sendmsg([data], ancillary)
        except BlockingIOError:
            await asyncio.sleep(_AGAIN_S)
        else:
            return
