"""The trusted parent of one process in the box: prepares its place, starts it, watches its limits, ends all it left behind."""

# Paths of other roots and of /proc, handed to system calls as they are.
# ruff: noqa: PTH102, PTH103, PTH118, PTH120, PTH123

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from dataclasses import dataclass, field
from typing import Any, NoReturn

from evalaction.sandbox.runtime import candidate, kernel, reasons, removal
from evalaction.sandbox.runtime.candidate import Run
from evalaction.sandbox.runtime.ground import NOBODY, Ground
from evalaction.sandbox.runtime.job import Job, Load

TMP = "/tmp"  # noqa: S108 - inside the box, an empty file system of its own
_INODES = 4096
_NEARLY = 0.8
_SCHEDSTAT_BYTES = 100


class Ended(BaseException):
    """Somebody asked for the end of this process."""


@dataclass(slots=True)
class Usage:
    """What the process and its descendants used."""

    cpu_s: float = 0.0
    max_rss_kb: int = 0

    def add(self, usage: Any) -> None:
        self.cpu_s += usage.ru_utime + usage.ru_stime
        self.max_rss_kb = max(self.max_rss_kb, usage.ru_maxrss)


@dataclass(slots=True)
class Watch:
    """One running process: where its clocks and its end can be seen."""

    pid: int
    job: Job
    began: float
    limit: str | None = None
    schedstat: int = -1
    usage: Usage = field(default_factory=Usage)

    def until_the_end(self) -> None:
        """Return when it has ended by itself or was ended at a limit; its status is not collected yet."""
        with contextlib.ExitStack() as stack:
            descriptor = os.pidfd_open(self.pid)
            stack.callback(os.close, descriptor)
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            while True:
                wall_left = self.job.wall_ms / 1000 - (time.monotonic() - self.began)
                cpu_left = self.job.cpu_ms / 1000 - self._cpu()
                if (wall_left <= 0 or cpu_left <= 0) and not poll.poll(0):
                    self.limit = "cpu" if cpu_left <= 0 else "wall"
                    self.kill()
                    return
                if poll.poll(max(1.0, min(wall_left, cpu_left) * 1000)):
                    return

    def _cpu(self) -> float:
        try:
            return time.clock_gettime(kernel.cpu_clock(self.pid))
        except OSError:  # it has ended: the poll that follows says so
            return 0.0

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def run_delay_ms(self) -> int | None:
        """From /proc/<pid>/schedstat: CPU time, time waited on a run queue (ns), time slices. Before the status is collected."""
        if self.schedstat < 0:
            return None
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int(os.pread(self.schedstat, _SCHEDSTAT_BYTES, 0).split()[1]) // 1_000_000
        return None


def keep(ground: Ground, job: Job, slot: int, descriptors: list[int], report_to: int) -> NoReturn:
    """The whole life of a keeper: never returns, writes one JSON report to `report_to`."""
    report: dict[str, Any] = {"ended": True}
    try:
        with contextlib.suppress(Ended):  # also where it comes when all is over: the report that there is stands
            report = _reported(ground, job, slot, descriptors)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.write(report_to, json.dumps(report).encode())
    finally:
        os._exit(0)


def _reported(ground: Ground, job: Job, slot: int, descriptors: list[int]) -> dict[str, Any]:
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what it keeps may be of the same user and have signals
        signal.signal(signal.SIGTERM, _ended)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return _keep(ground, job, slot, descriptors)
    except Ended:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it was, the parent hears of it
        return {"trouble": f"{type(error).__name__}: {error}"}


def _ended(*_: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended


def _keep(ground: Ground, job: Job, slot: int, descriptors: list[int]) -> dict[str, Any]:
    os.setsid()
    namespaces = ground.config.namespaces
    if namespaces:
        kernel.die_with_parent(signal.SIGKILL)
        _own_namespaces(ground, job)
    else:
        kernel.die_with_parent(signal.SIGTERM, ground.zygote)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    load = Load.read(descriptors[0])
    folder = make_folder(ground, job.number, slot)
    try:
        for name, content in load.files.items():
            _write(folder, name, content, ground, slot)
        run = Run(ground=ground, job=job, slot=slot, load=load, descriptors=descriptors[1:], folder=folder, keeper=os.getpid())
        return _watch(run, descriptors)
    finally:
        if folder and not namespaces:
            removal.remove(folder)


def _own_namespaces(ground: Ground, job: Job) -> None:
    if ground.nested:  # RLIMIT_NPROC counts in each user namespace: with one for all, processes would starve each other
        kernel.unshare(kernel.CLONE_NEWUSER)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # its own uid_map is closed to a process that is not dumpable
        for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {NOBODY} 1"), ("gid_map", f"{NOBODY} {NOBODY} 1")):
            file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=ground.proc)
            os.write(file, text.encode())
            os.close(file)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | (0 if ground.config.programs else kernel.MS_NOEXEC)
    kernel.mount("box", TMP, "tmpfs", flags, f"size={job.disk_mb}m,nr_inodes={_INODES},mode=1777")


def make_folder(ground: Ground, number: int, slot: int) -> str | None:
    """The folder of one process; None where nothing may be written."""
    folder = folder_of(ground, number)
    if folder is not None and not ground.config.namespaces:
        os.mkdir(folder, 0o700)
        if ground.first_uid is not None:
            os.chown(folder, ground.first_uid + slot, ground.first_uid + slot)
    return folder


def folder_of(ground: Ground, number: int) -> str | None:
    if ground.config.namespaces:
        return TMP
    return f"{ground.config.folder}/{number}" if ground.config.folder else None


def _write(folder: str | None, name: str, content: bytes, ground: Ground, slot: int) -> None:
    if folder is None:
        raise OSError("there is no folder for files on this rung")
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    if ground.first_uid is not None:
        os.chown(path, ground.first_uid + slot, ground.first_uid + slot)


def _watch(run: Run, descriptors: list[int]) -> dict[str, Any]:
    trouble, tell = os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        try:
            candidate.become(run, tell)
        finally:
            os._exit(1)
    os.close(tell)
    for descriptor in descriptors:
        os.close(descriptor)
    watch = Watch(pid=pid, job=run.job, began=began)
    ended = False
    try:
        _sealed(run.ground, watch, trouble)
        watch.until_the_end()
    except Ended:
        ended = True
        watch.kill()
    finally:
        watch.kill()
    run_delay_ms = _after_its_end(run.ground, watch)
    _, status, usage = os.wait4(pid, 0)
    watch.usage.add(usage)
    _end_descendants(run.ground, watch.usage)
    return _report(watch, status, run_delay_ms, entry=run.load.entry is not None) | ({"ended": True} if ended else {})


def _sealed(ground: Ground, watch: Watch, trouble: int) -> None:
    """Wait until the process is sealed: it says its number in the machine's /proc, then closes the pipe. Raises OSError."""
    said = b""
    while part := os.read(trouble, 4096):
        said += part
    os.close(trouble)
    number, _, text = said.partition(b"\n")
    if text or not number:
        raise OSError(text.decode("utf-8", "replace") or "it ended before it was sealed")
    with contextlib.suppress(OSError):
        watch.schedstat = os.open(f"{int(number)}/schedstat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=ground.proc)


def _after_its_end(ground: Ground, watch: Watch) -> int | None:
    os.waitid(os.P_PID, watch.pid, os.WEXITED | os.WNOWAIT)
    if not ground.config.namespaces:  # all at one moment: who starts the next one and ends is never where he was
        with contextlib.suppress(ProcessLookupError):
            os.killpg(watch.pid, signal.SIGKILL)
    return watch.run_delay_ms()


def _end_descendants(ground: Ground, usage: Usage) -> None:
    while True:
        if ground.config.namespaces and os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # everybody in this namespace, of which we are the first process
        else:
            for child in children(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return
        usage.add(used)


def children(pid: int) -> list[int]:
    """Child processes, orphans that came to a subreaper included; needs the machine's /proc."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def _report(watch: Watch, status: int, run_delay_ms: int | None, *, entry: bool) -> dict[str, Any]:
    code = os.waitstatus_to_exitcode(status)
    limit = watch.limit or _limit_of(watch, code, entry=entry)
    return {
        "exit": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "limit": limit,
        "cpu_ms": round(watch.usage.cpu_s * 1000),
        "wall_ms": round((time.monotonic() - watch.began) * 1000),
        "max_rss_kb": watch.usage.max_rss_kb,
        "run_delay_ms": run_delay_ms,
    }


def _limit_of(watch: Watch, code: int, *, entry: bool) -> str | None:
    """CPU by the time used and not by the signal, which a program can ignore or imitate."""
    if watch.usage.cpu_s * 1000 >= watch.job.cpu_ms:
        return "cpu"
    if code == -signal.SIGXFSZ:
        return "disk"
    if entry and (reason := reasons.reason_of(code)):
        return reason
    if code != 0 and watch.usage.max_rss_kb >= _NEARLY * watch.job.memory_mb * 1024:
        return "memory"
    return None
