"""The filter of system calls: a list of what is forbidden, as a BPF program that the kernel runs before each call."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import starmap
from typing import NamedTuple

from evalaction.sandbox.runtime import kernel
from evalaction.sandbox.runtime.numbers import Architecture

ALLOW, KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, EAGAIN, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = 1, 11, 38, 95, 97
_X32_BIT = 0x40000000
_CLONE_THREAD = 0x10000
_NAMESPACES = (
    kernel.CLONE_NEWNS | kernel.CLONE_NEWCGROUP | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET
)  # fmt: skip
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902
_OF_INODES = (0x40086602, 0x401C5820, 0x40087602, 0x40086604, 0x40806685, 0x800C6613)
"""FS_IOC_SETFLAGS, FSSETXATTR, SETVERSION (and ext4's), ENABLE_VERITY, SET_ENCRYPTION_POLICY: a descriptor to read is enough."""
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE = 1, 5, 0xF
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETPIPE_SZ = 8, 10, 15, 1031
_F_SETLEASE, _F_NOTIFY, _F_SET_RW_HINT, _F_SET_FILE_RW_HINT = 1024, 1026, 1036, 1038
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SCHED_CORE = 1, 4, 22, 36, 62
_SECCOMP_SET_MODE_FILTER = 1

# Nobody in the box needs these, whatever the rung.
FORBIDDEN = (
    "_sysctl", "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "create_module",
    "delete_module", "fanotify_init", "fanotify_mark", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick",
    "get_kernel_syms", "init_module", "io_setup", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl",
    "kcmp", "kexec_file_load", "kexec_load", "keyctl", "listmount", "lookup_dcookie", "lsm_set_self_attr", "mbind",
    "memfd_create", "memfd_secret", "migrate_pages", "mknod", "mknodat", "modify_ldt", "mount", "mount_setattr",
    "move_mount", "move_pages", "mq_open", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "name_to_handle_at",
    "nfsservctl", "open_by_handle_at", "open_tree", "open_tree_attr", "perf_event_open", "personality", "pidfd_getfd",
    "pivot_root", "process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev", "ptrace", "query_module",
    "quotactl", "quotactl_fd", "reboot", "request_key",
    # Who gives its turn away looks starved by the machine, and a starved process is not to blame.
    "sched_setattr", "sched_setparam", "sched_setscheduler", "semctl", "semget", "semop", "semtimedop", "set_mempolicy",
    "set_mempolicy_home_node", "setdomainname", "sethostname", "setns", "setpriority", "settimeofday", "shmat", "shmctl",
    "shmdt", "shmget", "statmount", "swapoff", "swapon", "sysfs", "syslog", "umount2", "unshare", "uselib", "userfaultfd",
    "ustat", "vhangup", "vmsplice",
)  # fmt: skip
# About other processes: who starts none needs none of these, and who shares his user with others may not have them.
OTHERS = (
    "ioprio_set", "pidfd_open", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "sched_setaffinity", "tkill",
)  # fmt: skip
# What a program that starts no other has no use for: memory of the kernel that no limit counts or that all users share, the
# cache of files among it, by which one draw could tell another what it has read.
ALONE = (
    "cachestat", "fadvise64", "inotify_init", "inotify_init1", "landlock_add_rule", "landlock_create_ruleset",
    "landlock_restrict_self", "mincore", "preadv2", "seccomp", "sendmmsg", "sendmsg", "sync", "syncfs",
)  # fmt: skip
# Without a network there are only pairs, which have met already; a name that one takes is seen by all draws.
ADDRESSES = ("accept", "accept4", "bind", "connect", "listen")
_OF_RESOLVERS = ("sendmmsg", "sendmsg")
# Without namespaces: metadata that Landlock does not guard; and whoever leaves his group of processes cannot be ended with it.
FORBIDDEN_BARE = (
    "chmod", "chown", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "file_setattr", "fremovexattr", "fsetxattr",
    "futimesat", "lchown", "lremovexattr", "lsetxattr", "removexattr", "removexattrat", "setpgid", "setsid", "setxattr",
    "setxattrat", "utime", "utimensat", "utimes",
)  # fmt: skip
# The same, for reading: whoever copies a file goes on where a file system has no attributes.
ATTRIBUTES_BARE = (
    "fgetxattr", "flistxattr", "getxattr", "getxattrat", "lgetxattr", "listxattr", "listxattrat", "llistxattr",
)  # fmt: skip

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24
_Instruction = tuple[int, int, int, int]
_INSTRUCTION = struct.Struct("=HBBI")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What one process may do beyond computing."""

    fork: bool = False
    network: bool = False
    bare: bool = False
    """Without namespaces: what they would have hidden is forbidden."""
    signals: bool = True
    """Whether it may signal others; if not, only itself, see `program`."""
    others: bool = False
    """Whether all processes of its user are its own."""


def program(architecture: Architecture, rules: Rules, pid: int) -> bytes:
    """The filter for one process; `pid` is the only one it may signal where `rules.signals` is off."""
    known = architecture.numbers
    code: list[_Instruction] = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, architecture.audit), (_RETURN, 0, 0, KILL_PROCESS)]
    code.append((_LOAD, 0, 0, _NUMBER))
    if architecture.name == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, KILL_PROCESS)]
    refused = dict.fromkeys(_refused(rules), EPERM)
    refused |= {} if rules.fork else {"fork": EAGAIN, "vfork": EAGAIN}
    refused |= dict.fromkeys(ATTRIBUTES_BARE, EOPNOTSUPP) if rules.bare else {}
    refused |= {"preadv2": ENOSYS} if "preadv2" in refused else {}  # libraries fall back to preadv
    refused["clone3"] = ENOSYS  # its flags are out of sight; libraries fall back to clone
    for name, error in refused.items():
        if name in known:
            code += [(_EQUAL, 0, 1, known[name]), (_RETURN, 0, 0, _ERRNO | error)]
    for decision in _decisions(rules, pid):
        code += _decide(known[decision.call], decision)
    code.append((_RETURN, 0, 0, ALLOW))
    return b"".join(starmap(_INSTRUCTION.pack, code))


def _refused(rules: Rules) -> Iterable[str]:
    yield from FORBIDDEN
    if rules.bare:
        yield from FORBIDDEN_BARE
    if not rules.others:
        yield from OTHERS
    if not rules.network:
        yield from ADDRESSES
    if not rules.fork:
        yield from (name for name in ALONE if not (rules.network and name in _OF_RESOLVERS))


class _Decision(NamedTuple):
    """A call whose answer depends on the low half of one argument."""

    call: str
    offset: int
    mask: int
    values: tuple[int, ...]
    hit: int | None
    """The answer when the masked argument is one of the values; None: another decision on the same call follows."""
    otherwise: int


def _decisions(rules: Rules, pid: int) -> Iterable[_Decision]:
    every, refused = 0xFFFFFFFF, _ERRNO | EPERM
    if rules.fork:
        yield _Decision("clone", _FIRST, _NAMESPACES, (0,), ALLOW, refused)
    else:
        yield _Decision("clone", _FIRST, _NAMESPACES | _CLONE_THREAD, (_CLONE_THREAD,), ALLOW, _ERRNO | EAGAIN)
    families = (_AF_INET, _AF_INET6, _AF_NETLINK) if rules.network else ()
    yield _Decision("socket", _FIRST, every, families, ALLOW, _ERRNO | EAFNOSUPPORT)
    # Half of a datagram pair can send to every datagram socket that has a path or a name.
    yield _Decision("socketpair", _SECOND, _SOCK_TYPE, (_SOCK_STREAM, _SOCK_SEQPACKET), None, _ERRNO | EAFNOSUPPORT)
    yield _Decision("socketpair", _FIRST, every, (_AF_UNIX,), ALLOW, _ERRNO | EAFNOSUPPORT)
    yield _Decision("ioctl", _SECOND, every, (_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP, *_OF_INODES), refused, ALLOW)
    yield _Decision("prlimit64", _FIRST, every, (0, pid), ALLOW, refused)
    # Of a file that all can read: who opens it waits for a lease, is told of by notices, and finds the hints.
    shared = (_F_SETLEASE, _F_NOTIFY, _F_SET_RW_HINT, _F_SET_FILE_RW_HINT)
    # Signals sent by way of a descriptor's owner, and pipes whose size is counted for its user.
    owned = () if rules.others else (_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETPIPE_SZ)
    yield _Decision("fcntl", _SECOND, every, (*owned, *shared), refused, ALLOW)
    clearing = (_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER) if rules.bare else ()
    filters = () if rules.fork else (_PR_SET_SECCOMP,)
    yield _Decision("prctl", _FIRST, every, (_PR_SCHED_CORE, *clearing, *filters), refused, ALLOW)
    if not rules.signals:
        yield _Decision("kill", _FIRST, every, (pid,), ALLOW, refused)
        yield _Decision("tgkill", _FIRST, every, (pid,), ALLOW, refused)


def _decide(number: int, decision: _Decision) -> list[_Instruction]:
    count = len(decision.values)
    code = [(_LOAD, 0, 0, decision.offset), (_AND, 0, 0, decision.mask)]
    code += [(_EQUAL, count - place, 0, value) for place, value in enumerate(decision.values)]
    code.append((_RETURN, 0, 0, decision.otherwise))
    code.append((_LOAD, 0, 0, _NUMBER) if decision.hit is None else (_RETURN, 0, 0, decision.hit))
    return [(_EQUAL, 0, len(code), number), *code]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(filter_program: bytes) -> None:
    """For this process and all it starts, for ever. Needs no_new_privs or CAP_SYS_ADMIN; OSError when refused."""
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    header = _Program(len(filter_program) // 8, ctypes.addressof(code))
    kernel.syscall("seccomp", _SECCOMP_SET_MODE_FILTER, 0, ctypes.addressof(header))
