"""Programs against the box: each attack works where nothing defends, and fails on every rung that this machine has."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
from attacks import naive
from attacks.catalogue import Attack, attacks
from attacks.rooms import NAMES, Lost, Rooms
from support.outer_box import Ran

ATTACKS = attacks("box")
BY_NAME = {one.name: one for one in ATTACKS}
ROWS = {
    "read a secret",
    "read check.py, fixtures, another task or another draw",
    "reach any network",
    "write outside the draw's folder",
    "leave anything for a later draw",
    "become root",
    "see or signal another process",
    "outlive its draw",
    "slow down or starve another draw",
    "use unbounded CPU, memory, processes, files, disk or output",
    "turn its own fail into a runner error",
}
CONCERN_OTHERS = {
    "read check.py, fixtures, another task or another draw",
    "see or signal another process",
    "slow down or starve another draw",
    "use unbounded CPU, memory, processes, files, disk or output",
}
"""An honest draw runs beside these."""
FLOOD = 1_000_000


def request(attack: Attack) -> dict[str, Any]:
    parts = {name: text for name, text in attack.parts.items() if name in ("main", "then")}
    return {"do": "box", "limits": attack.limits(), "beside": attack.row in CONCERN_OTHERS, **parts}


def worked(attack: Attack, told: dict[str, Any]) -> bool:
    proof = attack.head.get("proves", "printed")
    if proof == "survivors":
        return bool(told["survivors"])
    if proof == "harm":
        return "HONEST" not in told["beside"]["stdout"]
    if proof == "heard":
        return bool(told["heard"])
    return "WORKED" in told["then" if proof == "then" else "main"]["stdout"]


def reasons(told: dict[str, Any]) -> str:
    """How the attack fared, in words: what it was refused, the limit or the signal that ended it."""
    main = told["main"]
    found = dict.fromkeys(re.findall(r"^refused (\S+)", main["stdout"], re.MULTILINE))
    if main["limit"]:
        found[f"limit {main['limit']}"] = None
    elif main["signal"]:
        found[f"signal {main['signal']}"] = None
    return ", ".join(found)


def test_each_row_of_what_must_be_impossible_is_attacked() -> None:
    assert {attack.row for attack in ATTACKS} == ROWS


def undefended(attacks: list[Attack], timeout_s: float) -> tuple[Ran, dict[str, Any] | None]:
    """How the outer box ended, and what became of each attack if its runner lived to tell."""
    alone = len(attacks) == 1
    jobs = [
        {"name": one.name, "alone": alone, "timeout_s": float(one.head.get("seconds", "20")), **request(one)} for one in attacks
    ]
    return naive.run({"mode": "boxes", "attacks": jobs}, timeout_s=timeout_s, memory_mb=3_000)


@functools.cache
def together() -> dict[str, Any]:
    """The attacks that leave their runner in peace, one after another in one outer box."""
    peaceful = [one for one in ATTACKS if one.head.get("proves") not in ("harm", "survivors") and "undefended" not in one.head]
    ran, told = undefended(peaceful, 400.0)
    assert told is not None, ran
    return told


@pytest.mark.parametrize("name", BY_NAME)
def test_it_works_where_nothing_defends(name: str) -> None:
    attack = BY_NAME[name]
    proof = attack.head.get("proves")
    if (why := attack.head.get("undefended")) is not None:
        pytest.skip(why)
    if proof in ("harm", "survivors"):
        ran, alone = undefended([attack], 15.0)
        assert alone is not None or proof == "harm", ran
        if alone is None:  # the runner did not live to tell: a signal or the clock ended it, not a mistake of its own
            assert ran.timed_out or ran.code > 128, ran
            return
        told = alone[name]
    else:
        told = together()[name]
    if (unable := re.search(r"^UNABLE (.*)", told["main"]["stdout"], re.MULTILINE)) is not None:
        pytest.skip(unable[1])
    assert worked(attack, told), told


@pytest.mark.parametrize("room", NAMES)
@pytest.mark.parametrize("name", BY_NAME)
def test_it_fails_in_the_box(rooms: Rooms, name: str, room: str) -> None:
    attack = BY_NAME[name]
    try:
        told = rooms.ask(room, request(attack))
    except Lost as lost:
        pytest.fail(f"the attack ended its runner: {lost}")
    assert told["healthy"], told
    assert told["survivors"] == 0
    assert "trouble" not in told, told["trouble"]
    possible, _, _ = attack.head.get("possible", "").partition(": ")
    assert worked(attack, told) == (room in possible.split(", ")), told
    assert "beside" not in told or "HONEST" in told["beside"]["stdout"], told["beside"]
    if not possible and "reason" in attack.head:
        assert re.search(attack.head["reason"], reasons(told)), told
    assert len(told["main"]["stdout"]) < FLOOD
