"""Where the zygote stands: in namespaces of its own with a root of its own, or as it was started."""

# Paths of other roots and of /proc, handed to system calls as they are.
# ruff: noqa: PTH100, PTH112, PTH116, PTH120, PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
from dataclasses import dataclass

from evalaction.sandbox.runtime import access, kernel, landlock, numbers, root
from evalaction.sandbox.runtime.job import RUNTIME_INSIDE, Config
from evalaction.sandbox.runtime.landlock import Grant
from evalaction.sandbox.runtime.numbers import Architecture

NOBODY = 65534
FIRST_UID = 0x70000000
"""Far from every user that a machine has; slot n runs as this plus n."""
SLOTS = 1024
_FILES = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """What every process of this zygote needs to know."""

    config: Config
    architecture: Architecture | None
    landlock_abi: int
    grants: tuple[Grant, ...]
    """For Landlock; what all processes share."""
    first_uid: int | None
    """None: all run as the user of the zygote."""
    process_base: int
    """What RLIMIT_NPROC already counts before a process of ours has started anything."""
    zygote: int
    """Our process id, as our children see it where there are no namespaces."""
    proc: int
    """The machine's /proc, for files about our own processes; -1 where it cannot be seen."""
    pid_namespace: int
    """Our own, to come back to; -1 without namespaces."""

    @property
    def nested(self) -> bool:
        """Whether each process is put into a user namespace: limits are counted for each apart."""
        return self.config.user_namespace

    @property
    def own_uid(self) -> bool:
        return self.first_uid is not None


def prepare(config: Config) -> Ground:
    """Enter the namespaces that `config` asks for. Returns in the process that becomes the zygote; OSError when refused."""
    os.umask(0o022)  # other users walk through what we make
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, _FILES), hard))
    first_uid = _first_uid() if _wants_own_uid(config) else None
    base = 0 if first_uid is not None or (config.user_namespace and _counts_by_namespace()) else _processes_of(os.getuid()) + 256
    proc = pid_namespace = -1
    with contextlib.suppress(OSError):
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    if config.namespaces:
        _enter_namespaces(user=config.user_namespace, network=config.network)
        own = os.readlink("self", dir_fd=proc)
        pid_namespace = os.open(f"{own}/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        root.build(config.views, config.hidden)
    elif os.uname().sysname == "Linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    if config.landlock or config.seccomp:
        kernel.new_session_keyring()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    version = landlock.abi() if config.landlock else 0
    return Ground(
        config=config,
        architecture=numbers.here(),
        landlock_abi=version,
        grants=access.grants(config, version) if version else (),
        first_uid=first_uid,
        process_base=base,
        zygote=os.getpid(),
        proc=proc,
        pid_namespace=pid_namespace,
    )


def runtime_folder(config: Config) -> str:
    """Where our modules lie, as seen after `prepare`."""
    if config.namespaces:
        return RUNTIME_INSIDE
    return os.path.dirname(os.path.abspath(__file__))


def _enter_namespaces(*, user: bool, network: bool) -> None:
    uid, gid = os.getuid(), os.getgid()
    if user:
        kernel.unshare(kernel.CLONE_NEWUSER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {uid} 1"), ("gid_map", f"{NOBODY} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    others = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP | kernel.CLONE_NEWPID
    kernel.unshare(others | (0 if network else kernel.CLONE_NEWNET))
    child = os.fork()
    if child:  # only waits; as the parent of a namespace's first process its death ends them all
        os.closerange(3, _FILES)
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    kernel.die_with_parent(signal.SIGKILL)
    kernel.set_hostname(b"box")


def _wants_own_uid(config: Config) -> bool:
    """With namespaces the way to the interpreter is ours; without, others must be able to walk it."""
    if os.getuid() != 0 or config.user_namespace:
        return False
    return config.namespaces or (config.landlock and all(_open_to_all(view.source) for view in config.views if view.needed))


def _open_to_all(path: str) -> bool:
    """Whether every user may read this and walk to it."""
    if not os.stat(path).st_mode & 0o004:
        return False
    while (path := os.path.dirname(path)) != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
    return True


def _first_uid() -> int | None:
    """The first of SLOTS user ids that this user namespace maps; None where we may not become another user."""
    with open("/proc/self/uid_map") as file:
        ranges = [(int(first), int(count)) for first, _, count in (line.split() for line in file)]
    if any(first <= FIRST_UID and first + count >= FIRST_UID + SLOTS for first, count in ranges):
        found = FIRST_UID
    else:
        first, count = max(ranges, key=lambda one: one[1])
        if count <= 2 * SLOTS:
            return None
        found = first + count - SLOTS
    return found if _may_change_user() else None


def _may_change_user() -> bool:
    """CAP_KILL, CAP_SETGID, CAP_SETUID: to become another user and still be able to end it."""
    with open("/proc/self/status") as file:
        effective = next(int(line.split()[1], 16) for line in file if line.startswith("CapEff"))
    return effective & 0b1110_0000 == 0b1110_0000


def _counts_by_namespace() -> bool:
    """Since Linux 5.14 RLIMIT_NPROC counts in each user namespace apart."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return found is not None and (int(found[1]), int(found[2])) >= (5, 14)


def _processes_of(uid: int) -> int:
    """Processes and threads of a user that can be seen."""
    count = 0
    for entry in os.scandir("/proc") if os.path.isdir("/proc") else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == uid:
                    count += len(os.listdir(f"{entry.path}/task"))
    return count
