"""Split checking, both sides: what a check sees of its candidate, and what ends it at once."""

from __future__ import annotations

import collections
import itertools
import math
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.two_sides import Ended, candidate, hostile

from evalaction.checks.inside.atoms import MAX_BYTES
from evalaction.checks.inside.channel import pack
from evalaction.checks.inside.remote import CandidateExit
from evalaction.checks.inside.standin import fill


@pytest.fixture(autouse=True)
def _undisturbed() -> Iterator[None]:
    depth = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(depth)
    sys.modules.pop("_candidate", None)


def test_calls_constants_and_documentation() -> None:
    source = '''
LIMIT = [1, 2]
_private = 3
import math

def clamp(x, lo=0, *, hi=9):
    """Within bounds."""
    return max(lo, min(x, hi))

def grow():
    LIMIT.append(3)
'''
    with candidate(source) as module:
        assert module.clamp(12) == 9
        assert module.clamp(12, hi=20) == 12
        assert module.clamp(-1, 0) == 0
        assert (module.clamp.__name__, module.clamp.__doc__, module.clamp.__module__) == ("clamp", "Within bounds.", "_candidate")
        assert module.LIMIT == [1, 2]
        module.grow()
        assert module.LIMIT == [1, 2, 3]
        assert module._private == 3
        assert module.__source__ == source
        assert module.__all__ == ["LIMIT", "clamp", "grow"]
        assert {"LIMIT", "clamp"} <= set(dir(module)) and not hasattr(module, "math")


@pytest.mark.parametrize(
    ("source", "expression", "expected"),
    [
        ("def f(a): a.sort()", lambda m, a: (m.f(a), a), (None, [1, 2, 3])),
        ("def f(a): return a", lambda m, a: m.f(a) is a, True),
        ("def f(a): a[:] = [a]", lambda m, a: (m.f(a), a[0] is a), (None, True)),
        (
            "def f(a):\n    a.append(9)\n    raise ValueError(3)",
            lambda m, a: (_error(m.f, a), a),
            (("ValueError", (3,)), [3, 1, 2, 9]),
        ),
        ("def f(a): return [10**400, float('inf'), -0.0, '\\ud800']", lambda m, a: m.f(a), [10**400, math.inf, -0.0, "\ud800"]),
        ("def f(a): return dict(zip(a, a)).keys()", lambda m, a: sorted(m.f(a)), [1, 2, 3]),
        ("def f(a):\n    for x in a: yield x", lambda m, a: list(m.f(a)), [3, 1, 2]),
        ("def f(a): return map(str, a)", lambda m, a: list(m.f(a)), ["3", "1", "2"]),
        ("import itertools\ndef f(a): return itertools.count()", lambda m, a: list(itertools.islice(m.f(a), 2)), [0, 1]),
        ("def f(a): return lambda b: [a, b]", lambda m, a: m.f(a)(4), [[3, 1, 2], 4]),
        ("def f(g): return g(2)\ndef h(x): return x + 1", lambda m, a: m.f(m.h), 3),
        ("class C:\n    def __call__(self, a): return sum(a)\nf = C()", lambda m, a: m.f(a), 6),
        ("import collections\ndef f(a): return collections.namedtuple('P', 'x')(1)", lambda m, a: m.f(a), (1,)),
        ("from functools import partial\nf = partial(sorted, reverse=True)", lambda m, a: m.f(a), [3, 2, 1]),
    ],
)
def test_what_a_call_brings_back(source: str, expression: Any, expected: Any) -> None:
    with candidate(source) as module:
        found = expression(module, [3, 1, 2])
        assert found == expected and type(found) is type(expected)


def _error(call: Any, *arguments: Any) -> tuple[str, tuple[Any, ...]]:
    with pytest.raises(BaseException) as caught:
        call(*arguments)
    return type(caught.value).__name__, caught.value.args


def test_exceptions_keep_their_names_and_families() -> None:
    source = """
class Odd(ValueError): pass
class Odder(Odd): pass
class _Deep(Odder): pass
def f(kind):
    if kind == 'odder': raise Odder(kind, 1)
    if kind == 'deep': raise _Deep()
    if kind == 'key': raise KeyError('k')
    if kind == 'decode': b'\\xff'.decode()
    if kind == 'assert': raise AssertionError('mine')
    if kind == 'lookup': {}[()]
    if kind == 'object': raise ValueError(object())
    if kind == 'stop': raise StopIteration
    raise SystemExit(0)
"""
    with candidate(source) as module:
        with pytest.raises(module.Odd) as caught:
            module.f("odder")
        assert type(caught.value) is module.Odder and caught.value.args == ("odder", 1)
        assert issubclass(module.Odder, ValueError) and isinstance(module.Odd("x"), ValueError)
        with pytest.raises(module.Odder):
            module.f("deep")
        assert _error(module.f, "key") == ("KeyError", ("k",))
        assert _error(module.f, "decode")[0] == "UnicodeDecodeError"
        assert _error(module.f, "lookup") == ("KeyError", ((),))
        assert _error(module.f, "object")[1][0].startswith("<object object")
        with pytest.raises(AssertionError, match="mine"):
            module.f("assert")
        with pytest.raises(RuntimeError, match="the candidate raised StopIteration"):
            module.f("stop")  # as it was raised it would end a loop of the check, and end it well
        with pytest.raises(CandidateExit):
            module.f("exit")


def test_what_is_raised_at_import_is_raised_where_the_check_imports() -> None:
    with pytest.raises(ZeroDivisionError), candidate("1 / 0"):
        pass
    with pytest.raises(CandidateExit), candidate("raise SystemExit(0)"):
        pass


def test_a_second_import_asks_nothing_again() -> None:
    with candidate("x = 1\ndef f(): return x") as module:
        fill(module)
        assert module.f() == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("class A: pass\ndef f(*a): return A()", "candidate:not_plain: A"),
        ("def f(*a): return [object()]", "candidate:not_plain: object"),
        ("async def f(*a): pass", "candidate:not_plain: coroutine"),
        ("from decimal import Decimal\ndef f(*a): return Decimal(1)", "candidate:not_plain: Decimal"),
        ("def f(a): a.append(print.__self__)", "candidate:not_plain: module"),
        ("def f(*a): return 1 << 2**21", "candidate:oversize: an integer of 2,097,153 bits"),
        ("def f(*a): return 'x' * 2**24", "candidate:oversize: a value of too many parts"),
        (
            "def f(*a): return ['\\x7f\\0' * 10**6] * 3 + ['\\0' * 10**6 + str(i) for i in range(3)]",
            "candidate:oversize: a message",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_reply_that_cannot_travel_ends_the_check(source: str, reason: str) -> None:
    with candidate(source) as module, pytest.raises(Ended) as caught:
        try:
            module.f([])
        except Exception:  # noqa: BLE001 - a check may catch everything
            pytest.fail("the check could go on")
    assert caught.value.word == "fail" and caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda m: m.f(lambda: 0), "passes an argument of type function"),
        (lambda m: m.f(collections.Counter()), "passes an argument of type Counter"),
        (lambda m: m.f(key=[{1: iter(())}]), "passes an argument of type tuple_iterator"),
        (lambda m: setattr(m, "f", 1), "sets _candidate.f"),
        (lambda m: delattr(m, "f"), "deletes _candidate.f"),
    ],
)
def test_what_a_check_cannot_ask_is_an_error_of_the_check(ask: Any, reason: str) -> None:
    with candidate("def f(*a, **k): return 1") as module, pytest.raises(Ended) as caught:
        ask(module)
    assert caught.value.word == "error"
    assert caught.value.reason == f"checker:protocol: the check {reason}, which split checking does not carry"


def test_an_argument_too_large_is_an_error_of_the_check() -> None:
    with candidate("def f(a): return 1") as module, pytest.raises(Ended, match="checker:protocol: an argument is too large"):
        module.f("x" * MAX_BYTES)


def test_a_name_that_is_not_there_is_remembered_as_the_candidates() -> None:
    with candidate("x = 1") as module, pytest.raises(AttributeError, match="the candidate has no clamp") as caught:
        _ = module.clamp
    assert module.__remote__.raised == [caught.value]


HELLO = pack(["names", [["f", "function", None], ["E", "exception", ["E", "ValueError"]]], ["f", "E"]])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (b"", "candidate:gone"),
        (b"\0\0\0\5[1", "candidate:gone"),
        (b"\xff\xff\xff\xff", "candidate:oversize: a message of 4,294,967,295 bytes"),
        (b"\0\0\0\1x", "candidate:protocol: no message"),
        (b"\0\0\0\2{}", "candidate:protocol: "),
        (pack([]), "candidate:protocol: "),
        (pack(["returned", []]), "candidate:protocol: a reply that is none"),
        (pack(["pass", "ok"]), "candidate:protocol: a reply that is none"),
        (pack(["names", [], []]), "candidate:protocol: a reply that is none"),
        (pack(["returned", [["t", -1, [["@", 0]]]], ["@", 0]]), "candidate:protocol: a circle"),
        (pack(["returned", [], ["h", 0, "x"]]), "candidate:protocol: an unknown handle"),
        (pack(["returned", [["l", 3, []]], ["@", 0]]), "candidate:protocol: an unknown origin"),
        (pack(["raised", [], [], None]), "candidate:protocol: an exception without a class"),
        (pack(["raised", ["E"] * 99, [], None]), "candidate:protocol: an exception without a class"),
        (pack(["raised", ["ValueError"], [], None]), "candidate:protocol: an exception without arguments"),
        (pack(["raised", [["x"]], [], None]), "candidate:protocol: an exception without a class"),
    ],
)
def test_forged_replies_end_the_check(reply: bytes, reason: str) -> None:
    with hostile(HELLO, reply) as sides:
        module = sides.stand_in("")
        with pytest.raises(Ended) as caught:
            module.f([1])
    assert caught.value.word == "fail" and caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    "hello",
    [
        pack(["names", [["__class__", "value", None]], []]),
        pack(["names", [["a b", "function", None]], []]),
        pack(["names", [["E", "exception", []]], []]),
        pack(["names", [[1]], []]),
        pack(["names", 5, []]),
        pack(["names", [], 5]),
        pack(["names", [], [[]]]),
        pack(["pass"]),
    ],
)
def test_forged_names_end_the_check(hello: bytes) -> None:
    with hostile(hello) as sides, pytest.raises(Ended) as caught:
        sides.stand_in("")
    assert caught.value.word == "fail" and caught.value.reason.startswith("candidate:protocol: ")


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=4)
    | st.sampled_from(["returned", "raised", "not_plain", "oversize", "names", "@", "h", "f", "i", "l", "E", "SystemExit"]),
    lambda parts: st.lists(parts, max_size=4),
    max_leaves=20,
)  # fmt: skip
_REPLY = st.one_of(
    st.lists(_ANY, max_size=5),
    st.tuples(st.just("returned"), st.lists(st.tuples(st.sampled_from("ldstz"), st.integers(-1, 1), st.lists(_ANY))), _ANY).map(
        list
    ),
    st.tuples(
        st.just("raised"), st.lists(st.sampled_from(["E", "ValueError", "SystemExit", "print", ""])), st.just([]), _ANY
    ).map(list),
)


@settings(max_examples=100)
@given(_REPLY)
def test_whatever_is_forged_is_a_plain_value_an_exception_or_a_failure(reply: list[Any]) -> None:
    ours = [[1], {2: 3}]
    with hostile(HELLO, pack(reply)) as sides:
        module = sides.stand_in("")
        try:
            value = module.f(*ours)
        except Ended as ended:
            assert ended.word == "fail" and ended.reason.startswith("candidate:")
        except BaseException as error:  # noqa: BLE001 - whatever was forged
            assert sides.remote.raised == [error]
        else:
            assert type(value).__module__ == "builtins"
    assert [type(one) for one in ours] == [list, dict]


def test_a_forged_exit_is_never_the_end_of_the_check() -> None:
    forged = pack(["raised", ["SystemExit"], [["t", -1, [0]]], ["@", 0]])
    with hostile(HELLO, forged) as sides:
        module = sides.stand_in("")
        with pytest.raises(CandidateExit) as caught:
            module.f()
    assert sides.remote.raised == [caught.value]


def test_the_board_tells_who_held_the_check_up() -> None:
    big = pack(["returned", [], "x" * 20_000])
    with hostile(HELLO, pack(["returned", [], 1]), big) as sides:
        module = sides.stand_in("")
        module.f()
        light = sides.board.note
        module.f()
        heavy = sides.board.note
        with pytest.raises(Ended):
            module.f()
        waiting = sides.board.note
    assert (light.phase, light.candidate_holds, light.replies) == ("own", False, 1)
    assert (heavy.phase, heavy.candidate_holds, heavy.replies) == ("own", True, 2)
    assert waiting.phase == "waiting"


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        (99_999, False), (10**9, True), (10**40, True), (-(10**8), True), (0.123456789012, False), (1e22, True), (1e-22, False),
        (range(10), True), ([range(10**12)], True), ("a text", False), ([1] * 100, False), (None, False),
    ],
)  # fmt: skip
def test_a_reply_may_be_larger_than_its_bytes(value: Any, holds: bool) -> None:
    with candidate(f"def f(): return {value!r}") as module:
        module.f()
        assert module.__remote__._board.note.candidate_holds is holds


def test_an_iterator_that_goes_on_is_the_candidates() -> None:
    with candidate("import itertools\ndef f(): return itertools.repeat(1)") as module:
        stream = module.f()
        early = [next(stream) for _ in range(900)] and module.__remote__._board.note.candidate_holds
        late = [next(stream) for _ in range(200)] and module.__remote__._board.note.candidate_holds
    assert (early, late) == (False, True)


def test_what_the_check_has_heard_of_the_candidate() -> None:
    with candidate("def f(): 'Twelve: 123456789012'") as module:
        board = module.__remote__._board
        assert (board.note.replies, board.note.heavy) == (0, False)
        assert module.__source__.startswith("def")
        assert board.note.replies == 1


def test_the_time_that_a_reply_takes_is_noted() -> None:
    with candidate("import time\ndef f(): time.sleep(0.05)\ndef g(): pass") as module:
        board = module.__remote__._board
        module.g()
        before = board.note.waited_ms
        time.sleep(0.1)  # the check's own time is not
        board.enter("own")
        assert board.note.waited_ms == before
        module.f()
        assert board.note.waited_ms >= before + 50
