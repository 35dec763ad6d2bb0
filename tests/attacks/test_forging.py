"""Candidates against checks: forged passes, and fails that look like the runner's. Split checking holds on every rung."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import pytest
from attacks import naive
from attacks.catalogue import Attack, attacks
from attacks.rooms import JUDGED, Lost, Rooms

FORGERS = {one.name: one for one in attacks("forge")}
BLAMERS = {one.name: one for one in attacks("blame")}
ALL = FORGERS | BLAMERS
CHECK = """
import _candidate

def expect(got, want):
    assert got == want, f"{got!r} is not {want!r}"

for given, want in [([3, 1, 3], {1: 1, 3: 2}), ([], {})]:
    got = _candidate.tally(given)
    expect(got, want)
try:
    _candidate.tally(None)
except TypeError:
    pass
else:
    raise AssertionError("no TypeError")
expect(_candidate.name, "tally")
"""
MISTAKES = re.compile("SyntaxError|NameError|ImportError|ModuleNotFoundError|AttributeError")
"""An attack that only stumbles over itself shows nothing, unless it says so in its head."""
HONEST = """
name = "tally"
def tally(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts
"""


def check(attack: Attack) -> str:
    return attack.parts.get("check", CHECK)


def beside(attack: Attack) -> Mapping[str, str]:
    return {name: text for name, text in attack.parts.items() if name not in ("main", "check")}


def ask(rooms: Rooms, room: str, attack: Attack, how: str) -> dict[str, Any]:
    request = {
        "do": "judge",
        "how": how,
        "candidate": attack.parts["main"],
        "check": check(attack),
        "beside": beside(attack),
        "limits": attack.limits(),
    }
    try:
        return rooms.ask(room, request)
    except Lost as lost:
        pytest.fail(f"the attack ended its runner: {lost}")


@functools.cache
def undefended() -> Mapping[str, str]:
    """What judges without our defence say of every candidate, all in one outer box."""
    cases = [
        {
            "name": one.name,
            "candidate": one.parts["main"],
            "check": check(one) + ('print("PASSED")\n' if one.head.get("judge") == "printed" else ""),
            "beside": beside(one),
            "judge": one.head.get("judge", "bare"),
            "timeout_s": 20.0 if one.name in FORGERS else 2.0,
        }
        for one in ALL.values()
        if one.head.get("alone") != "yes"
    ]
    _, told = naive.run({"mode": "judge", "cases": cases}, timeout_s=400.0, memory_mb=400)
    assert told is not None
    return told


@functools.cache
def undefended_alone(name: str) -> str:
    """The same for a candidate that kills whatever it may signal."""
    one = ALL[name]
    case = {"name": name, "candidate": one.parts["main"], "check": check(one), "beside": {}, "judge": "bare", "timeout_s": 4.0}
    _, told = naive.run({"mode": "judge", "cases": [case]}, timeout_s=30.0)
    return str(told[name]) if told is not None else "error: it killed the runner"


@pytest.mark.parametrize("name", ALL)
def test_it_works_where_nothing_defends(name: str) -> None:
    if (why := ALL[name].head.get("undefended")) is not None:
        pytest.skip(why)
    said = undefended_alone(name) if ALL[name].head.get("alone") == "yes" else undefended()[name]
    if name in FORGERS:
        assert said == "pass"
    else:
        assert said.startswith("error"), said
        expected = ALL[name].head["split"] + ALL[name].parts["main"]
        assert (found := MISTAKES.search(said)) is None or found[0] in expected, said


@pytest.mark.parametrize("room", JUDGED)
@pytest.mark.parametrize("name", ALL)
def test_it_fails_under_split_checking(rooms: Rooms, name: str, room: str) -> None:
    attack = ALL[name]
    if room not in attack.head.get("rooms", ", ".join(JUDGED)).split(", "):
        pytest.skip("it waits for a clock: tried on fewer rungs")
    told = ask(rooms, room, attack, "split")
    assert "trouble" not in told, told["trouble"]
    assert told["passed"] is False, told
    assert re.match(attack.head["split"], told["reason"]), told
    assert told["healthy"] and told["survivors"] == 0, told


FORGEABLE = {name: one for name, one in FORGERS.items() if "in_process" in one.head}


@pytest.mark.parametrize("name", FORGEABLE)
def test_in_one_process_it_is_as_the_documentation_says(rooms: Rooms, name: str) -> None:
    told = ask(rooms, "root", FORGEABLE[name], "in_process")
    said = "pass" if told["passed"] else told["reason"]
    assert re.match(FORGEABLE[name].head["in_process"], said), told
    assert told["healthy"] and told["survivors"] == 0, told


def test_checking_in_one_process_is_forgeable_and_split_checking_is_not() -> None:
    """What the documentation says: this is why `in_process` is marked."""
    forgeable = [one for one in FORGEABLE.values() if one.head["in_process"] == "pass"]
    assert len(forgeable) >= 20
    assert not [one for one in ALL.values() if "pass" in one.head["split"].split("|")]


@pytest.mark.parametrize("room", JUDGED)
@pytest.mark.parametrize("how", ["split", "in_process"])
def test_an_honest_candidate_passes(rooms: Rooms, room: str, how: str) -> None:
    honest = Attack(name="honest", head={}, parts={"main": HONEST})
    assert ask(rooms, room, honest, how)["passed"] is True
    wrong = Attack(name="wrong", head={}, parts={"main": HONEST.replace("+ 1", "+ 2")})
    told = ask(rooms, room, wrong, how)
    assert (told["passed"], told["reason"]) == (False, "assert: {3: 4, 1: 2} is not {1: 1, 3: 2}")


@pytest.mark.parametrize("room", JUDGED)
@pytest.mark.parametrize(("written", "passed"), [(8_192, True), (8_193, False)])
def test_output_up_to_the_cap_is_allowed_and_a_byte_more_is_not(rooms: Rooms, room: str, written: int, passed: bool) -> None:
    printing = f"import sys\nsys.stdout.write('x' * {written - 100})\nsys.stderr.write('y' * 100)\n{HONEST}"
    one = Attack(name="printing", head={"limits": '{"output_bytes": 8192}'}, parts={"main": printing})
    told = ask(rooms, room, one, "split")
    assert (told["passed"], told["reason"]) == (passed, None if passed else "candidate:output: over 8,192 bytes of output")
