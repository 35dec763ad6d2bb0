"""Rules of Landlock by the version of the kernel's interface, and which paths get one."""

from __future__ import annotations

import os
import struct
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from evalaction.sandbox.records import Spec
from evalaction.sandbox.runtime import access, ground, kernel, landlock
from evalaction.sandbox.runtime.job import Config, View
from evalaction.sandbox.runtime.landlock import Grant
from evalaction.sandbox.visible import Interpreter, hidden

Uname = namedtuple("Uname", ["release"])


class Kernel:
    """Takes the three calls of Landlock and keeps what they said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.attributes: list[bytes] = []
        self.rules: list[int] = []
        self.descriptor = os.open("/dev/null", os.O_RDONLY)
        monkeypatch.setattr(kernel, "syscall", self._syscall)

    def _syscall(self, name: str, *arguments: Any) -> int:
        if name == "landlock_create_ruleset":
            self.attributes.append(arguments[0])
            assert arguments[1] == len(arguments[0])
            return os.dup(self.descriptor)
        assert name == "landlock_add_rule"
        access_, descriptor = struct.unpack("=Qi", arguments[2])
        os.fstat(descriptor)
        self.rules.append(access_)
        return 0


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(monkeypatch)


@pytest.mark.parametrize(
    ("version", "size", "files", "ports", "scopes"),
    [
        (1, 8, 13, None, None),
        (2, 8, 14, None, None),
        (3, 8, 15, None, None),
        (4, 16, 15, 3, None),
        (5, 16, 16, 3, None),
        (6, 24, 16, 3, 3),
        (9, 24, 16, 3, 3),
    ],
)
def test_all_that_a_version_knows_is_given_up(
    fake: Kernel, version: int, size: int, files: int, ports: int | None, scopes: int | None
) -> None:
    for network in (False, True):
        os.close(landlock.ruleset((), version, network=network))
        attributes = fake.attributes.pop()
        assert len(attributes) == size
        values = struct.unpack(f"={size // 8}Q", attributes)
        assert values[0] == (1 << files) - 1
        assert values[1:] == tuple(value for value in (0 if network and ports else ports, scopes) if value is not None)


def test_rights_of_a_folder_and_of_a_file(fake: Kernel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    grants = [Grant(str(tmp_path), landlock.READ), Grant(str(tmp_path / "file"), landlock.READ), Grant("/no/such", landlock.READ)]
    os.close(landlock.ruleset(grants, 3, network=False))
    execute, read_file, read_folder = 1, 4, 8
    assert fake.rules == [execute | read_file | read_folder, execute | read_file]


@pytest.mark.parametrize("version", [1, 3, 5, 7])
def test_writing_makes_no_devices_and_no_sockets(version: int) -> None:
    rights = landlock.write_access(version)
    for forbidden in (6, 9, 11, 15):
        assert not rights & (1 << forbidden)
    assert rights & ~landlock.handled(version) == 0
    assert rights & 2


def config(*views: View, hidden: tuple[str, ...] = (), namespaces: bool = False) -> Config:
    return Config(
        namespaces=namespaces, user_namespace=False, landlock=True, seccomp=True, views=views, hidden=hidden, modules=(),
        programs=False, network=False, environment={}, folder=None,
    )  # fmt: skip


def test_neighbours_of_what_is_hidden_get_rules_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "lib"
    for name in ("json", "site-packages", "deep/er", "deep/site-packages"):
        (library / name).mkdir(parents=True)
    (library / "os.py").write_text("")
    (library / "link").symlink_to("/etc")
    monkeypatch.setattr(sys, "path", [str(library)])
    closed = (f"{library}/site-packages", f"{library}/deep/site-packages")
    view = View(source=str(library), inside=str(library))
    found = [grant for grant in access.grants(config(view, hidden=closed), 7) if not grant.path.startswith("/dev/")]
    assert found == [
        Grant(str(library), landlock.LIST),
        Grant(f"{library}/deep/er", landlock.READ),
        Grant(f"{library}/json", landlock.READ),
        Grant(f"{library}/os.py", landlock.READ),
    ]


def test_with_namespaces_the_root_is_the_list(tmp_path: Path) -> None:
    views = (View(source="/a", inside="/b"), View(source=str(tmp_path), inside="/made", writable=True))
    found = {grant.path: grant.access for grant in access.grants(config(*views, namespaces=True), 7)}
    assert found["/"] == landlock.READ
    assert found["/made"] == landlock.READ | landlock.write_access(7)
    assert "/b" not in found


def test_installed_packages_are_hidden_except_from_teams_programs() -> None:
    interpreter = Interpreter(executable="/usr/bin/python3.12", library="/usr/lib/python3.12", shared=())
    assert set(hidden(Spec(), interpreter)) == {
        "/usr/lib/python3.12/site-packages", "/usr/lib/python3.12/dist-packages", "/usr/lib/python3/site-packages",
        "/usr/lib/python3/dist-packages",
    }  # fmt: skip
    assert hidden(Spec(programs=True), interpreter) == ()


@pytest.mark.parametrize(
    ("release", "counts"),
    [
        ("5.13.19", False),
        ("5.14.0-427.el9", True),
        ("6.8.0-1021-azure", True),
        ("4.18.0", False),
        ("5.4-rc12", False),
        ("10.1", True),
        ("x", False),
    ],
)
def test_since_when_processes_are_counted_by_namespace(monkeypatch: pytest.MonkeyPatch, release: str, counts: bool) -> None:
    monkeypatch.setattr("evalaction.sandbox.runtime.ground.os.uname", lambda: Uname(release))
    assert ground._counts_by_namespace() is counts
