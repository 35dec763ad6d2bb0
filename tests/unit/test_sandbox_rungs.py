"""The order in which rungs are tried, and what is said when none is left."""

from __future__ import annotations

import pytest

from evalaction.errors import UsageError
from evalaction.sandbox import rungs
from evalaction.sandbox.records import How, Rung, SandboxError
from evalaction.sandbox.runtime import numbers

IMAGE = "python@sha256:" + "0" * 64


class Machine:
    """Answers probes: what it gives, and what was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, gives: set[How], *, uid: int = 1000, sudo: bool = True) -> None:
        self.asked: list[How] = []
        self._gives = gives
        monkeypatch.setattr(rungs, "probe", self._probe)
        monkeypatch.setattr(rungs, "runs_here", lambda: True)
        monkeypatch.setattr("evalaction.sandbox.rungs.os.geteuid", lambda: uid)
        monkeypatch.setattr("evalaction.sandbox.rungs.shutil.which", lambda name: f"/usr/bin/{name}" if sudo else None)

    def _probe(self, how: How, image: str | None) -> Rung:
        self.asked.append(how)
        if how not in self._gives and how != "none":
            raise SandboxError(f"The sandbox did not start: {how} is missing.")
        return Rung(number=rungs.NUMBERS[how], how=how, image=image)


@pytest.mark.parametrize(
    ("uid", "sudo", "image", "order"),
    [
        (0, True, None, ["root", "landlock"]),
        (1000, True, None, ["sudo", "user_namespaces", "landlock"]),
        (1000, False, IMAGE, ["user_namespaces", "landlock", "docker"]),
    ],
)
def test_the_order(monkeypatch: pytest.MonkeyPatch, uid: int, sudo: bool, image: str | None, order: list[How]) -> None:
    machine = Machine(monkeypatch, set(), uid=uid, sudo=sudo)
    with pytest.raises(UsageError) as caught:
        rungs.find_rung(allow_unsafe=False, image=image)
    assert machine.asked == order
    assert caught.value.code == "no_isolation"
    assert caught.value.outcome.exit_code == 2
    for how in order:
        assert f"{rungs.WORDS[how]}: {how} is missing" in caught.value.sentence


@pytest.mark.parametrize("how", ["sudo", "user_namespaces", "landlock", "docker"])
def test_the_first_that_works_is_taken(monkeypatch: pytest.MonkeyPatch, how: How) -> None:
    machine = Machine(monkeypatch, {how, "docker"})
    assert rungs.find_rung(allow_unsafe=True, image=IMAGE).how == how
    assert machine.asked[-1] == how


def test_unsafe_only_when_allowed_and_nothing_else_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Machine(monkeypatch, {"landlock"}) is not None
    assert rungs.find_rung(allow_unsafe=True, image=None).number == 2
    machine = Machine(monkeypatch, set())
    assert rungs.find_rung(allow_unsafe=True, image=None).number == 4
    assert machine.asked[-1] == "none"


def test_other_systems_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalaction.sandbox.launch.sys.platform", "darwin")
    with pytest.raises(UsageError, match="only on Linux") as caught:
        rungs.find_rung(allow_unsafe=True, image=None)
    assert caught.value.code == "no_isolation"


def test_an_unknown_architecture_has_no_safe_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "here", lambda: None)
    unsure: tuple[How, ...] = ("root", "landlock")
    for how in unsure:
        with pytest.raises(SandboxError, match="no table of system calls"):
            rungs.probe(how, None)


def test_an_old_landlock_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalaction.sandbox.rungs.landlock.abi", lambda: 2)
    with pytest.raises(SandboxError, match="version 2 of Landlock, 3 is needed"):
        rungs.probe("landlock", None)


def test_docker_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalaction.sandbox.rungs.docker.available", lambda: False)
    with pytest.raises(SandboxError, match="no docker command"):
        rungs.probe("docker", IMAGE)
