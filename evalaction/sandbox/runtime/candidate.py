"""One process in the box: from the fork to the moment when it runs what is not trusted, everything given up on the way."""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import math
import os
import resource
import signal
import sys
import traceback
from dataclasses import dataclass
from typing import NoReturn

from evalaction.sandbox.runtime import kernel, landlock, reasons, seccomp
from evalaction.sandbox.runtime.ground import Ground
from evalaction.sandbox.runtime.job import Job, Load
from evalaction.sandbox.runtime.landlock import Grant

THREADS = 64
"""Threads a process may have beside its main one."""
_PENDING = 128
"""Signals and timers that wait; the kernel counts them for each user."""
_HIGH = 512
_ALL = 4096
_SCOPED_SIGNALS_ABI = 6
_NOT_FOUND, _NOT_RUNNABLE = 127, 126


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """All that a process needs to be started."""

    ground: Ground
    job: Job
    slot: int
    load: Load
    descriptors: list[int]
    """0, 1, 2, … inside."""
    folder: str | None
    """Its own; None where it has none."""
    keeper: int


def become(run: Run, tell: int) -> NoReturn:
    """Seal this process and run what it was given. `tell` hears our number in /proc and what went wrong; closed, all is well."""
    ground, load, where = run.ground, run.load, run.folder or "/"
    try:
        number = os.readlink("self", dir_fd=ground.proc) if ground.proc >= 0 else "0"
        os.write(tell, f"{number}\n".encode())
        _first_to_go(ground)
        tell = _take_descriptors(run.descriptors, tell)
        os.chdir(where)
        environment = {**ground.config.environment, "HOME": where, "TMPDIR": where, **load.env}
        _seal(run)
    except BaseException as error:  # noqa: BLE001 - nothing may run unsealed
        os.write(tell, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    os.close(tell)
    if load.entry is None:
        _execute(load.argv, environment)
    _call(load.entry, load.argument, environment)


def _first_to_go(ground: Ground) -> None:
    """When the machine's memory runs out, the guest goes and not the ones who watch it."""
    with contextlib.suppress(OSError):
        file = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=ground.proc)
        os.write(file, b"1000")
        os.close(file)


def _take_descriptors(given: list[int], tell: int) -> int:
    """The given ones become 0, 1, 2, …; every other is closed but `tell`, whose new number is returned."""
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH) for descriptor in (*given, tell)]
    for number, descriptor in enumerate(high):
        os.dup2(descriptor, number)
    os.closerange(len(high), _ALL)
    return len(given)


def _seal(run: Run) -> None:
    ground, config = run.ground, run.ground.config
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    _limit(ground, run.job)
    if ground.first_uid is not None:
        uid = ground.first_uid + run.slot
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        kernel.drop_bounding_set()
        os.setresuid(uid, uid, uid)
    if config.namespaces or config.landlock or config.seccomp:
        kernel.drop_bounding_set()
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.die_with_parent(signal.SIGKILL, run.keeper)
    if ground.landlock_abi:
        files = landlock.ruleset((*ground.grants, *_own(run)), ground.landlock_abi, network=config.network)
        landlock.restrict(files)
        os.close(files)
    if config.seccomp and ground.architecture is not None:
        fork = run.job.processes > 0
        rules = seccomp.Rules(
            fork=fork,
            network=config.network,
            bare=not config.namespaces,
            signals=fork and (config.namespaces or ground.landlock_abi >= _SCOPED_SIGNALS_ABI),
            others=fork and config.namespaces and not config.user_namespace,  # there our keeper is of the same user
        )
        seccomp.install(seccomp.program(ground.architecture, rules, os.getpid()))


def _own(run: Run) -> tuple[Grant, ...]:
    """Its folder. Without namespaces only programs may write there: nothing bounds it as a file system of its own does."""
    if run.folder is None:
        return ()
    writable = run.ground.config.namespaces or run.ground.config.programs
    return (Grant(run.folder, landlock.READ | (landlock.write_access(run.ground.landlock_abi) if writable else 0)),)


def _limit(ground: Ground, job: Job) -> None:
    megabyte = 2**20
    cpu_s = math.ceil(job.cpu_ms / 1000) + 1  # the keeper is earlier; this holds should it be starved
    limits = {
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_DATA: job.memory_mb * megabyte,
        resource.RLIMIT_FSIZE: job.disk_mb * megabyte,
        resource.RLIMIT_NOFILE: job.open_files,
        resource.RLIMIT_NPROC: ground.process_base + 1 + job.processes + THREADS,
        resource.RLIMIT_CORE: 1,  # 0 would still start a handler in core_pattern
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_SIGPENDING: _PENDING,
    }
    if not ground.config.programs:  # runtimes such as V8 reserve far more addresses than they use
        limits[resource.RLIMIT_AS] = job.memory_mb * megabyte
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        kept = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (kept, kept))


def _execute(argv: tuple[str, ...], environment: dict[str, str]) -> NoReturn:
    for kind in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(kind, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - what the box is for
    except OSError as error:
        os.write(2, f"cannot run {argv[0]!r}: {error.strerror}\n".encode("utf-8", "backslashreplace"))
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUNNABLE)


def _call(entry: str, argument: bytes, environment: dict[str, str]) -> NoReturn:
    code: object = 1
    try:
        os.environ.clear()
        os.environ.update(environment)
        module, _, name = entry.partition(":")
        code = getattr(importlib.import_module(module), name)(argument)
    except SystemExit as error:
        code = error.code
        if code is not None and not isinstance(code, int):
            sys.stderr.write(f"{code}\n")
            code = 1
    except BaseException as error:  # noqa: BLE001 - as an interpreter ends
        traceback.print_exc()
        reason = reasons.limit_of(error)
        code = reasons.exit_code(reason) if reason else 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:  # noqa: BLE001 - a full or closed pipe must not keep it alive
        code = code or (120 if isinstance(error, OSError) else 1)
    os._exit(code & 255 if isinstance(code, int) else 0)
