"""System calls that Python does not offer: namespaces, mounts, capabilities, keyrings. OSError when the kernel refuses."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import struct

from evalaction.sandbox.runtime import numbers

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_REC, MS_PRIVATE = 0x4000, 0x40000
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 4, 24, 36
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_KEYCTL_JOIN_SESSION_KEYRING = 1
_CAPABILITY_VERSION_3 = 0x20080522


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _argument(value: int | bytes | None) -> ctypes.c_long | ctypes.c_char_p:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)


def _checked(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def syscall(name: str, *arguments: int | bytes | None) -> int:
    """The call by its name in the table of this architecture."""
    architecture = numbers.here()
    if architecture is None:
        raise OSError(f"{name}: no table of system calls for this machine")
    number = ctypes.c_long(architecture.numbers[name])
    return _checked(_libc().syscall(number, *map(_argument, arguments)), name)


def prctl(option: int, value: int, third: int = 0) -> int:
    zero = ctypes.c_ulong(0)
    return _checked(_libc().prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), zero, zero), f"prctl {option}")


def unshare(flags: int) -> None:
    syscall("unshare", flags)


def setns(descriptor: int, kind: int) -> None:
    syscall("setns", descriptor, kind)


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    result = _libc().mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    _checked(result, f"mount {target}")


def bind(source: str, target: str, *, writable: bool = False) -> None:
    """Show `source` at `target`, all below it included: no setuid, no devices, read-only unless `writable`."""
    mount(source, target, None, MS_BIND | MS_REC)
    attributes = struct.pack("=QQQQ", _ATTR_NOSUID | _ATTR_NODEV | (0 if writable else _ATTR_RDONLY), 0, 0, 0)
    syscall("mount_setattr", _AT_FDCWD, os.fsencode(target), _AT_RECURSIVE, attributes, len(attributes))


def detach(target: str) -> None:
    syscall("umount2", os.fsencode(target), MNT_DETACH)


def pivot_root(new: str, old: str) -> None:
    syscall("pivot_root", os.fsencode(new), os.fsencode(old))


def set_hostname(name: bytes) -> None:
    syscall("sethostname", name, len(name))


def new_session_keyring() -> None:
    """An anonymous session keyring in place of the inherited one; kernels without keyrings have nothing to hide."""
    with contextlib.suppress(OSError):
        syscall("keyctl", _KEYCTL_JOIN_SESSION_KEYRING, None)


def drop_bounding_set() -> None:
    """No capability can come back by exec; needs CAP_SETPCAP."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return


def drop_capabilities() -> None:
    """None permitted, effective or inheritable any more."""
    with contextlib.suppress(OSError):
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    syscall("capset", struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), bytes(24))


def die_with_parent(signal: int, parent: int | None = None) -> None:
    """`signal` when the parent ends; OSError when `parent` has ended already. A change of user clears this."""
    prctl(PR_SET_PDEATHSIG, signal)
    if parent is not None and os.getppid() != parent:
        raise ProcessLookupError("the parent has ended")


def cpu_clock(pid: int) -> int:
    """The clock id of all CPU time of a process, for `time.clock_gettime`. Source: include/linux/posix-timers_types.h."""
    return (~pid << 3) | 2
