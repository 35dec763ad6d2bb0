"""Landlock: a process gives up all files, TCP ports and foreign signals but the ones named here."""

# Paths of other roots and of /proc, handed to system calls as they are.
# ruff: noqa: PTH112

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from typing import NamedTuple

from evalaction.sandbox.runtime import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK, _TRUNCATE, _IOCTL_DEV = 1 << 6, 1 << 9, 1 << 11, 1 << 14, 1 << 15
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_NETWORK_ABI, _SCOPE_ABI = 4, 6
_BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
READ = _EXECUTE | _READ_FILE | _READ_DIR
LIST = _READ_DIR
_VERSION_QUERY, _PATH_BENEATH = 1, 1


class Grant(NamedTuple):
    """A path, all below it included, and what may be done there."""

    path: str
    access: int


def abi() -> int:
    """The version of the kernel's interface; 0 where there is none."""
    try:
        return kernel.syscall("landlock_create_ruleset", None, 0, _VERSION_QUERY)
    except (OSError, KeyError):
        return 0


def handled(version: int) -> int:
    """All rights over files that this version knows."""
    return _FILES[max(known for known in _FILES if known <= version)]


def write_access(version: int) -> int:
    """Everything but making devices and sockets."""
    return handled(version) & ~(_MAKE_CHAR | _MAKE_BLOCK | _MAKE_SOCK | _IOCTL_DEV)


def ruleset(grants: Iterable[Grant], version: int, *, network: bool) -> int:
    """A descriptor for `restrict`. Paths that do not exist are left out; OSError when the kernel refuses."""
    files = handled(version)
    ports = _BIND_AND_CONNECT if version >= _NETWORK_ABI and not network else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= _SCOPE_ABI else 0
    attributes = struct.pack("=QQQ", files, ports, scopes)[: 8 if version < _NETWORK_ABI else 16 if version < _SCOPE_ABI else 24]
    rules = kernel.syscall("landlock_create_ruleset", attributes, len(attributes), 0)
    for grant in grants:
        try:
            place = os.open(grant.path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            access = grant.access & files & (-1 if os.path.isdir(grant.path) else _OF_A_FILE)
            kernel.syscall("landlock_add_rule", rules, _PATH_BENEATH, struct.pack("=Qi", access, place), 0)
        finally:
            os.close(place)
    return rules


def restrict(rules: int) -> None:
    """For this process and all it starts, for ever. Needs no_new_privs or CAP_SYS_ADMIN."""
    kernel.syscall("landlock_restrict_self", rules, 0)
