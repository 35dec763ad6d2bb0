"""What a few bytes unfold to, and the names that a star import takes."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.two_sides import candidate

from evalaction.checks.boxed import blame
from evalaction.checks.boxed.blame import Checked, Said
from evalaction.checks.inside.board import ALL_HEAVY, HEAVY, Note
from evalaction.checks.inside.decoder import Decoder
from evalaction.checks.inside.encoder import Encoder
from evalaction.checks.inside.star import imports, own_names
from evalaction.method.card import CheckLimits
from evalaction.sandbox.records import Ending


def table(value: object) -> list[Any]:
    encoder = Encoder()
    encoder.add(value)
    return encoder.nodes


def folded(times: int) -> list[Any]:
    value: list[Any] = [0]
    for _ in range(times):
        value = [value, value]
    return value


def circle() -> list[Any]:
    lists: list[list[Any]] = [[], [], []]
    for one in lists:
        one.extend(lists)
    return lists


def test_small_values_that_are_endless_to_print() -> None:
    assert not Decoder(table(folded(3))).unfolds(HEAVY)
    assert Decoder(table(folded(30))).unfolds(HEAVY)
    assert Decoder(table(circle())).unfolds(HEAVY)
    assert Decoder(table([["x" * 9_000]] * 1)).unfolds(1) is False
    row = ["x" * 9_000]
    assert Decoder(table([row, row])).unfolds(HEAVY)
    assert not Decoder(table([[1, 2, 3]] * 100)).unfolds(HEAVY)


def test_whoever_walks_down_a_circle_never_arrives() -> None:
    alone: list[Any] = []
    alone.append(alone)
    returned = Decoder(table(alone))
    assert returned.value(["@", 0]) is not None and returned.unfolds(HEAVY)
    mine: list[Any] = [1]
    assert Decoder([["l", 0, [["@", 0]]]], known=[mine]).unfolds(HEAVY) and mine[0] is mine
    assert not Decoder([["l", 0, [1, 2]]], known=[mine]).unfolds(HEAVY) and mine == [1, 2]


@settings(max_examples=100)
@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.tuples(inner, inner), max_leaves=30))
def test_what_occurs_once_does_not_unfold(value: object) -> None:
    seen = repr(value)
    assert Decoder(table(value)).unfolds(len(seen) + 1) is False


def test_a_star_import_takes_neither_builtins_nor_what_the_check_names_itself() -> None:
    check = "import json as j\nfrom re import match\ndef expect():\n global g\n g = inner = 1\nclass A: pass\nx, y = 1, 2\n"
    assert own_names(check) == {"j", "match", "expect", "g", "A", "x", "y"}
    assert own_names("from _candidate import *\n(") == frozenset()
    source = "def all(x): return True\ndef expect(): pass\ndef f(): return 1\nlen = 3\nvalue = 2\ndef load_tests(): pass\n"
    with candidate(source, check + "all, f, len, value") as module:
        assert star(module) == ["f", "value"]
        assert star(module, f=abs) == ["value"]
        assert module.__star__.withheld == {"all", "expect", "len", "f"}
        assert module.all([False]) is True  # asked for by name it is there


def star(module: Any, **before: Any) -> list[str]:
    """The names that a star import brings to code that has some already."""
    space: dict[str, Any] = {"module": module, **before}
    exec("names = module.__all__", space)
    return list(space["names"])


@pytest.mark.parametrize(
    ("check", "takes"),
    [
        ("from _candidate import *", True),
        ("if True:\n    from  _candidate  import*", True),
        ("import os; from _candidate import *", True),
        ("from _candidate \\\n import *", True),
        ("from _candidate import f", False),
        ("from _candidates import *", False),
    ],
)
def test_where_a_star_stands(check: str, takes: bool) -> None:
    assert imports(check) is takes


@pytest.mark.parametrize("kind", ["AssertionError", "Exception", "BaseException", "SystemExit"])
def test_no_name_of_the_candidate_catches_what_the_check_asserts(kind: str) -> None:
    with candidate(f"Refused = {kind}\nclass Own({kind}): pass\ndef f(): raise Refused('no')\ndef g(): raise Own") as module:
        for fails in (AssertionError, SystemExit):
            assert not issubclass(fails, module.Refused) and not issubclass(fails, module.Own)
        assert issubclass(module.Refused, getattr(builtins, kind))
        for ask in (module.f, module.g):  # what it raises itself is caught
            with pytest.raises(module.Refused):
                ask()


def test_an_iterator_of_the_candidate_can_be_handed_on() -> None:
    with candidate("def make(n): return iter(range(n))\ndef total(given): return sum(given)") as module:
        stream = module.make(4)
        assert next(stream) == 0
        assert module.total(stream) == 6
        assert list(stream) == []


LIMITS = CheckLimits(timeout_ms=3_000, cpu_ms=1_000, memory_mb=256, output_bytes=1_000)


def ended(**fields: Any) -> Ending:
    return Ending(
        **{"exit": 0, "signal": None, "limit": None, "cpu_ms": 1, "wall_ms": 1, "max_rss_kb": 1, "run_delay_ms": 0, **fields}
    )


def test_a_fail_that_was_said_stays_a_fail_whatever_it_took() -> None:
    for limit in ("memory", "cpu"):
        said = blame.split(ended(), ended(exit=1, limit=limit), Said("fail", "assert: 1"), Note("own", 1, 10), LIMITS)
        assert said == Checked(False, "assert: 1")
        passed = blame.split(ended(), ended(limit=limit), Said("pass", ""), Note("own", 1, 10), LIMITS)
        assert passed.passed is None


@pytest.mark.parametrize(("total", "blamed"), [(10, None), (251, False)])
def test_a_check_that_prints_its_replies_floods_for_the_candidate(total: int, blamed: bool | None) -> None:
    checker = ended(exit=None, signal=9, limit="output")
    assert blame.split(ended(), checker, None, Note("own", 1, 10, False, total), LIMITS).passed is blamed


def test_many_replies_together_weigh_as_one() -> None:
    assert Note("own", 1, 10, False, ALL_HEAVY + 1).candidate_holds
    assert not Note("own", 1, 10, False, ALL_HEAVY).candidate_holds


def test_a_checker_alone_is_not_blamed_for_what_a_large_output_uses_up() -> None:
    for limit, word in (("cpu", "cpu"), ("wall", "timeout"), ("memory", "memory")):
        hit = ended(exit=None, signal=9, limit=limit)
        assert str(blame.alone(hit, None, LIMITS, HEAVY + 1).reason).startswith(f"candidate:{word}: ")
        assert blame.alone(hit, None, LIMITS, HEAVY).passed is None
    spent = Said("error", "checker:crash: MemoryError: ")
    assert blame.alone(ended(exit=2), spent, LIMITS, HEAVY + 1) == Checked(
        False, "candidate:memory: over 256 MB of memory with its output"
    )
    assert blame.alone(ended(exit=2), spent, LIMITS, 5).passed is None
    starving = ended(exit=None, signal=9, limit="wall", run_delay_ms=2_900)
    assert blame.alone(starving, None, LIMITS, HEAVY + 1).passed is None
    printed = ended(exit=None, signal=9, limit="output")
    assert blame.alone(printed, None, LIMITS, HEAVY + 1).passed is None
