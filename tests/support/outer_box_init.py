"""The first process of an outer box: makes its view of the machine, runs one program as another user, ends with it."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)
_MS_BIND, _MS_REC = 4096, 16384
_RDONLY_NOSUID_NODEV = 1 | 2 | 4
_NODEV = 4
_TIMED_OUT = 124
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_LINK_LOCAL = "169.254.169.254"
_COVERED = ("/root", "/home", "/run", "/var/run", "/mnt", "/media", "/srv", "/tmp", "/var/tmp", "/dev/shm")


def main() -> None:
    settings: dict[str, Any] = json.loads(sys.stdin.read())
    if os.getpid() != 1:
        sys.exit("this is not the first process of a namespace of its own")
    _view(settings["show"])
    if settings["loopback"]:
        _loopback_up()
    child = os.fork()
    if child == 0:
        _become(settings)
    ends = time.monotonic() + settings["timeout_s"]
    while time.monotonic() < ends:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
        if pid == 0:
            time.sleep(0.01)
    os._exit(_TIMED_OUT)


def _view(show: dict[str, str]) -> None:
    """Everything read-only, homes and run-time folders covered, an empty writable /tmp, `show` bound back, three devices open."""
    kept = {inside: os.open(source, os.O_PATH) for inside, source in show.items()}
    _mount("proc", "/proc", "proc", 0)
    attributes = struct.pack("=QQQQ", _RDONLY_NOSUID_NODEV, 0, 0, 0)
    _checked(_LIBC.syscall(442, -100, b"/", 0x8000, attributes, len(attributes)), "mount_setattr /")
    for folder in _COVERED:
        if Path(folder).is_dir() and not Path(folder).is_symlink():
            _mount("none", folder, "tmpfs", 2 | 4, "size=64m,mode=1777")
    for inside, descriptor in kept.items():
        Path(inside).mkdir(parents=True, exist_ok=True)
        _mount(f"/proc/self/fd/{descriptor}", inside, None, _MS_BIND | _MS_REC)
        _checked(_LIBC.syscall(442, -100, os.fsencode(inside), 0x8000, attributes, len(attributes)), f"mount_setattr {inside}")
        os.close(descriptor)
    for device in _DEVICES:
        _mount(device, device, None, _MS_BIND)
        again = struct.pack("=QQQQ", 0, _NODEV, 0, 0)
        _checked(_LIBC.syscall(442, -100, os.fsencode(device), 0, again, len(again)), f"mount_setattr {device}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    names = [os.fsencode(source), os.fsencode(target), kind.encode() if kind else None]
    _checked(_LIBC.mount(*names, ctypes.c_ulong(flags), data.encode() or None), f"mount {target}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14s", b"lo", 0x1, b""))  # SIOCSIFFLAGS, IFF_UP
        address = struct.pack("HH4s8s", socket.AF_INET, 0, socket.inet_aton(_LINK_LOCAL), b"")
        fcntl.ioctl(control, 0x8916, struct.pack("16s16s", b"lo:1", address))  # SIOCSIFADDR


def _become(settings: dict[str, Any]) -> NoReturn:
    os.umask(0o022)
    work, uid = Path("/tmp/work"), settings["uid"]
    work.mkdir()
    for name, content in settings["files"].items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(content, encoding="utf-8", errors="surrogatepass")
    if uid is not None:
        for place in (work, *work.rglob("*")):
            os.chown(place, uid, uid)
    os.chdir("/tmp/work")
    os.setsid()
    limits = settings["limits"]
    for kind, value in (
        (resource.RLIMIT_CPU, limits["cpu_s"]),
        (resource.RLIMIT_AS, limits["memory_mb"] << 20),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, 64 << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    _LIBC.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvpe(settings["argv"][0], settings["argv"], settings["env"])


if __name__ == "__main__":
    main()
