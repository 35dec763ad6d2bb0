"""What a process in the box sees, reaches and may change."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from support.boxes import ALL, NAMESPACES, SAFE, TRY, run, rung, seen

import evalaction
from evalaction.sandbox.records import Bind, How


@pytest.mark.parametrize("how", NAMESPACES)
def test_only_what_is_listed_exists(how: How) -> None:
    found = seen(how, "found = [os.listdir('/'), os.listdir('/tmp'), os.listdir('/dev'), os.getcwd()]")
    libraries = {Path(sys.base_prefix).parts[1], "usr", "lib", "lib32", "lib64", "libx32"}
    assert set(found[0]) <= {"box", "dev", "tmp"} | libraries
    assert found[1] == []
    assert sorted(found[2]) == ["null", "urandom", "zero"]
    assert found[3] == "/tmp"


@pytest.mark.parametrize("how", SAFE)
def test_files_of_the_machine_do_not_open(how: How, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    places = [str(secret), "/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/1/environ", "/sys/kernel/notes"]
    ours = [str(Path(evalaction.__file__)), str(Path(evalaction.__file__).parent / "errors.py")]
    installed = [str(path) for path in Path(sys.base_prefix).glob("lib/python3*/site-packages/*/__init__.py")][:1]
    found = seen(how, f"{TRY}\nfound = [attempt(lambda: open(place).read()) for place in {places + ours + installed!r}]")
    assert set(found) <= {"FileNotFoundError", "PermissionError", "IsADirectoryError"}


@pytest.mark.parametrize("how", SAFE)
def test_nothing_outside_its_folder_can_be_written(how: How) -> None:
    places = ["/x", "/usr/x", "/dev/x", "/box/x", f"{sys.base_prefix}/x", "/etc/x", "/var/tmp/x", "/dev/shm/x", "/root/x"]
    source = f"{TRY}\nfound = [attempt(lambda: open(place, 'w')) for place in {places!r}] + [attempt(lambda: os.mkdir('/made'))]"
    assert "done" not in seen(how, source)


@pytest.mark.parametrize("how", NAMESPACES)
def test_its_own_folder_is_fresh_and_holds_no_programs(how: How) -> None:
    source = f"""{TRY}
open('/tmp/a', 'w').write('#!/bin/true')
os.chmod('/tmp/a', 0o755)
found = [os.listdir('/tmp'), attempt(lambda: os.execv('/tmp/a', ['a']))]
"""
    for _ in range(2):
        assert seen(how, source) == [["a"], "PermissionError"]


def test_without_namespaces_nothing_can_be_written_at_all() -> None:
    places = ["/tmp/evalaction-never", "evalaction-never", os.environ["HOME"] + "/x"]
    found = seen("landlock", f"{TRY}\nfound = [attempt(lambda: open(place, 'w')) for place in {places!r}]")
    assert found == ["PermissionError"] * 3


@pytest.mark.parametrize("how", SAFE)
def test_no_network_of_any_family(how: How) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = f"""{TRY}
import socket
found = [attempt(lambda: socket.socket(family)) for family in (1, 2, 10, 16, 17, 40)]
found.append(attempt(lambda: socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))))
a, b = socket.socketpair()
a.send(b'x')
found.append(b.recv(1).decode())
"""
        found = seen(how, source)
    assert "done" not in found
    assert found[-1] == "x"


@pytest.mark.parametrize("how", SAFE)
def test_it_is_nobody_and_can_become_nobody_else(how: How) -> None:
    source = f"""{TRY}
import ctypes
libc = ctypes.CDLL(None)
found = {{'uid': os.getuid(), 'new': libc.prctl(39, 0, 0, 0, 0), 'dumpable': libc.prctl(3, 0, 0, 0, 0), 'groups': os.getgroups()}}
header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
libc.capget(header, data)
found['capabilities'] = list(data)
found['setuid'] = attempt(lambda: os.setuid(12345 if os.getuid() != 12345 else 0))
found['chroot'] = attempt(lambda: os.chroot('/tmp'))
"""
    found = seen(how, source)
    assert found["new"] == 1
    assert found["dumpable"] == 0
    assert found["capabilities"] == [0] * 6
    assert found["setuid"] in {"PermissionError", "OSError"}
    assert found["chroot"] == "PermissionError"
    if rung(how).own_uid:
        assert found["uid"] >= 2**30
        assert found["groups"] == []


@pytest.mark.parametrize("how", SAFE)
def test_forbidden_calls_are_refused(how: How) -> None:
    source = """
import ctypes
from evalaction.sandbox.runtime import kernel, numbers, seccomp
here = numbers.here().numbers
found = {}
for name in ('ptrace', 'mount', 'unshare', 'setns', 'keyctl', 'add_key', 'bpf', 'perf_event_open', 'userfaultfd',
             'io_uring_setup', 'memfd_create', 'process_vm_readv', 'shmget', 'msgget', 'semget', 'mq_open', 'pidfd_getfd',
             'open_tree', 'fsopen'):
    try:
        kernel.syscall(name, 0, 0, 0, 0)
        found[name] = 0
    except OSError as error:
        found[name] = error.errno
"""
    assert set(seen(how, source).values()) == {1}


@pytest.mark.parametrize("how", SAFE)
def test_it_sees_and_signals_no_other_process(how: How) -> None:
    source = f"""{TRY}
import signal
found = [attempt(lambda: os.kill(pid, 0)) for pid in (1, {os.getpid()}, os.getppid() or 1)]
"""
    assert seen(how, source) == ["PermissionError"] * 3


@pytest.mark.parametrize("how", ALL)
def test_the_environment_is_a_short_list(how: How, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALACTION_SECRET", "s3cret")
    allowed = {"PATH", "LANG", "LC_ALL", "TZ", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "MINE"}
    found = seen(how, "found = dict(os.environ)", env={"MINE": "1"})
    assert set(found) <= allowed | {"PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE"}
    assert (found["MINE"], found["TZ"], found["PYTHONHASHSEED"]) == ("1", "UTC", "0")


@pytest.mark.parametrize("how", ALL)
def test_text_and_hashes_are_the_same_every_time(how: How) -> None:
    source = "found = [hash('a'), sys.getfilesystemencoding(), sys.stdout.encoding, sys.dont_write_bytecode, '' in sys.path]"
    first, second = seen(how, source), seen(how, source)
    assert first == second
    assert first[1:] == ["utf-8", "utf-8", True, False]


@pytest.mark.parametrize("how", SAFE)
def test_a_folder_can_be_shown(how: How, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.txt").write_text("hello")
    for folder in (tree, *tree.parents):
        if folder.stat().st_uid == os.getuid() and str(folder).startswith(str(tmp_path.parent.parent)):
            folder.chmod(0o755)
    inside = str(tree) if how == "landlock" else "/work/tree"
    source = f"{TRY}\nfound = [open('{inside}/a.txt').read(), attempt(lambda: open('{inside}/a.txt', 'a'))]"
    found = seen(how, source, spec={"readable": (Bind(source=tree, inside=inside),)})
    assert found[0] == "hello"
    assert found[1] in {"OSError", "PermissionError"}


def test_a_writable_folder_can_be_shown(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    tree.chmod(0o777)
    spec = {"readable": (Bind(source=tree, inside="/work", writable=True),)}
    ending = run("root", "open('/work/made', 'w').write('x')", spec=spec)
    assert ending.exit == 0, ending.stderr
    assert (tree / "made").read_text() == "x"


def test_without_namespaces_no_metadata_changes_and_no_signals_leave() -> None:
    source = f"""{TRY}
import fcntl
reader, writer = os.pipe()
found = [attempt(action) for action in (
    lambda: os.chmod('a', 0o777), lambda: os.utime('a'), lambda: os.setxattr('a', 'user.x', b'1'), lambda: os.nice(-1),
    lambda: os.sched_setaffinity(0, {{0}}), lambda: fcntl.fcntl(reader, fcntl.F_SETOWN, {os.getpid()}),
    lambda: fcntl.fcntl(reader, fcntl.F_SETSIG, 9), lambda: os.pidfd_open({os.getpid()}))]
"""
    assert seen("landlock", source, files={"a": b""}) == ["PermissionError"] * 8


@pytest.mark.parametrize("how", SAFE)
def test_the_network_alone_can_be_opened(how: How, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(path))
        local.listen(1)
        source = f"""{TRY}
import socket
found = [attempt(lambda: socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))),
         attempt(lambda: socket.socket(socket.AF_UNIX).connect({str(path)!r})), attempt(lambda: socket.socket(40)),
         attempt(lambda: socket.socket(17, socket.SOCK_RAW)), attempt(lambda: socket.socket(2, socket.SOCK_RAW, 1)),
         attempt(lambda: open('/etc/passwd')), attempt(lambda: os.listdir('/proc/1'))]
"""
        found = seen(how, source, spec={"network": True, "programs": True})
        assert found[0] == "done"
        assert "done" not in found[1:]
        server.accept()[0].close()
    closed = seen(how, f"{TRY}\nimport socket\nfound = attempt(lambda: socket.create_connection(('127.0.0.1', 1)))")
    assert closed == "OSError"


@pytest.mark.parametrize("how", SAFE)
def test_programs_find_the_systems_libraries_and_certificates(how: How) -> None:
    places = [place for place in ("/usr/bin/env", "/etc/ssl", "/etc/hosts", "/bin/sh") if Path(place).exists()]
    found = seen(how, f"found = [os.path.exists(place) for place in {places!r}]", spec={"programs": True})
    assert found == [True] * len(places)
