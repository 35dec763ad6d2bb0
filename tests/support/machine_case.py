"""Becomes another kind of user on another kind of machine, then runs a program: started as `python machine_case.py JSON`."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys

_NUMBERS = {
    "x86_64": {"unshare": 272, "setns": 308, "mount": 165, "pivot_root": 155, "landlock_create_ruleset": 444},
    "aarch64": {"unshare": 97, "setns": 268, "mount": 40, "pivot_root": 41, "landlock_create_ruleset": 444},
}
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_CAPBSET_DROP, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 24, 22, 2


def main() -> None:
    case = json.loads(sys.argv[1])
    if case["refuse"]:
        _refuse(case["refuse"])
    if case["capabilities"] is not None:
        _keep_capabilities(set(case["capabilities"]))
    if case["uid"] is not None:
        os.setgroups([])
        os.setresgid(case["uid"], case["uid"], case["uid"])
        os.setresuid(case["uid"], case["uid"], case["uid"])
    os.chdir("/")
    os.execve(case["argv"][0], case["argv"], case["env"])


def _refuse(names: list[str]) -> None:
    """These system calls give EPERM from here on, as a container's filter does."""
    code = [(0x20, 0, 0, 0)]
    for name in names:
        code += [(0x15, 0, 1, _NUMBERS[os.uname().machine][name]), (0x06, 0, 0, 0x00050001)]
    code.append((0x06, 0, 0, 0x7FFF0000))
    raw = b"".join(struct.pack("=HBBI", *one) for one in code)
    buffer = ctypes.create_string_buffer(raw, len(raw))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    program = Program(len(code), ctypes.addressof(buffer))
    if _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the filter was refused")


def _keep_capabilities(kept: set[int]) -> None:
    """Of root's capabilities only these, in this process and all that it starts."""
    for number in range(64):
        if number not in kept and _LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            break
    low = sum(1 << number for number in kept if number < 32)
    high = sum(1 << (number - 32) for number in kept if number >= 32)
    header, data = struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", low, low, low, high, high, high)
    if _LIBC.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capset was refused")


if __name__ == "__main__":
    main()
