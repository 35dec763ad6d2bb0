"""The codec of split checking: what goes in comes out, shared and circular parts included; hostile bytes give a clean error."""

from __future__ import annotations

import collections
import contextlib
import json
import math
import os
import struct
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.checks.inside import atoms
from evalaction.checks.inside.atoms import Malformed, NotPlain, Oversize
from evalaction.checks.inside.channel import Channel, Gone, pack, unpack
from evalaction.checks.inside.decoder import Decoder
from evalaction.checks.inside.encoder import Encoder

_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
_BITS = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack(">d", struct.pack(">Q", bits))[0])
_HASHABLE_ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(2**200), 2**200), _BITS, _TEXT, st.binary(max_size=8),
    st.complex_numbers(allow_nan=True), st.builds(range, st.integers(), st.integers(), st.integers(1)),
)  # fmt: skip
_HASHABLE: st.SearchStrategy[Any] = st.recursive(
    _HASHABLE_ATOMS,
    lambda parts: st.lists(parts, max_size=4).map(tuple) | st.lists(parts, max_size=4).map(frozenset),
    max_leaves=8,
)
_PLAIN: st.SearchStrategy[Any] = st.recursive(
    _HASHABLE | st.binary(max_size=8).map(bytearray),
    lambda parts: st.one_of(
        st.lists(parts, max_size=5),
        st.lists(parts, max_size=5).map(tuple),
        st.dictionaries(_HASHABLE, parts, max_size=4),
        st.lists(_HASHABLE, max_size=4).map(set),
    ),
    max_leaves=20,
)


def travelled(value: Any) -> Any:
    encoder = Encoder()
    root = encoder.add(value)
    nodes, root = unpack(pack([encoder.nodes, root])[4:])
    return Decoder(nodes).value(root)


def same(one: Any, other: Any) -> bool:
    """Equal with equal types at every depth, nan and the sign of zero included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return struct.pack(">d", one) == struct.pack(">d", other)
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (set, frozenset)):
        return len(one) == len(other) and all(any(same(a, b) for b in other) for a in one)
    if isinstance(one, dict):
        return same([*one.items()], [*other.items()])
    return bool(one == other)


@settings(max_examples=100)
@given(_PLAIN)
def test_plain_data_arrives_as_it_was(value: Any) -> None:
    assert same(travelled(value), value)


@pytest.mark.parametrize(
    "value",
    [
        2**53, -(2**53), 10**3000, math.inf, -math.inf, -0.0, "\ud800", "\ud83d\ude00", ["\ud800", 1], {"a": 1}.keys(),
        {1: [2], (1,): 3}.items(), bytearray(b"\0\xff"), range(3, -10**20, -7), [True, 1, 1.0], [None, "x", b""], [0.1, math.inf],
    ],
    ids=repr,
)  # fmt: skip
def test_values_that_json_would_bend(value: Any) -> None:
    assert same(travelled(value), value) or travelled(value) == value
    assert type(travelled(value)) is type(value)


def test_the_values_of_a_dict_travel_as_such() -> None:
    assert list(travelled({"a": [1]}.values())) == [[1]]
    assert type(travelled({}.values())) is type({}.values())


def test_what_is_shared_stays_shared_and_circles_close() -> None:
    shared: list[Any] = [0]
    grid = travelled([shared, shared, (shared,)])
    grid[0].append(1)
    assert grid == [[0, 1], [0, 1], ([0, 1],)]
    circle: list[Any] = []
    circle.append({"me": (circle,)})
    arrived = travelled(circle)
    assert arrived[0]["me"][0] is arrived


def test_depth_costs_no_recursion() -> None:
    deep: Any = ()
    for _ in range(50_000):
        deep = [deep] if isinstance(deep, tuple) else (deep,)
    arrived = travelled(deep)
    for _ in range(50_000):
        (arrived,) = arrived
    assert arrived == ()


def _never(*_: Any) -> Any:
    raise AssertionError("a method of the value was called")


class _Liar(list[int]):
    pass


class _Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError("an attribute of the type was read")


class _Hidden(dict[str, int], metaclass=_Meta):
    pass


class _Text(str):
    pass


class _Number(int):
    pass


for _kind in (_Liar, _Text, _Number):
    for _name in (
        "__iter__",
        "__len__",
        "__getitem__",
        "__eq__",
        "__str__",
        "__pos__",
        "__int__",
        "__index__",
        "__add__",
        "encode",
    ):
        setattr(_kind, _name, _never)


def test_subclasses_are_read_with_the_methods_of_their_built_in_base() -> None:
    assert same(travelled(list.__new__(_Liar)), [])
    liar = _Liar()
    list.extend(liar, [1, 2])
    hidden = dict.__new__(_Hidden)
    dict.__setitem__(hidden, "a", 1)
    assert same(travelled([liar, hidden, _Text("x"), _Number(7)]), [[1, 2], {"a": 1}, "x", 7])
    assert same(travelled(collections.Counter("aa")), {"a": 2})
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    assert [*travelled(ordered)] == ["b", "a"]


@pytest.mark.parametrize("value", [object(), len, lambda: 0, type, iter([]), {1: [object()]}, NotImplemented, ...])
def test_what_is_not_plain_is_named_by_its_type(value: Any) -> None:
    with pytest.raises(NotPlain):
        travelled(value)


def test_under_exact_a_subclass_is_not_plain() -> None:
    with pytest.raises(NotPlain, match="Counter"):
        Encoder(exact=True).add([collections.Counter()])
    assert Encoder(exact=True).add([[1], {2: 3}.keys()]) == ["@", 0]


def test_changes_come_home_to_the_same_objects() -> None:
    inner: list[Any] = [1]
    ours = {"k": inner, "b": bytearray(b"x"), "s": {1}}
    there = Encoder(exact=True)
    root = there.add(ours)
    theirs = Decoder(there.nodes)
    value, mutables = theirs.value(root), theirs.mutables
    value["k"].append(2)
    value["b"] += b"y"
    value["s"].clear()
    value["new"] = value["k"]
    back = Encoder(origins={id(thing): number for number, thing in enumerate(mutables)})
    roots = [back.add(thing) for thing in [value["k"], *mutables]]
    home = Decoder(back.nodes, known=there.mutables)
    assert home.value(roots[0]) is inner
    assert ours == {"k": [1, 2], "b": bytearray(b"xy"), "s": set(), "new": [1, 2]}
    assert ours["new"] is inner


@pytest.mark.parametrize(
    "value",
    [1 << (atoms.MAX_BITS + 1), "x" * atoms.MAX_BYTES, [0] * atoms.MAX_BYTES, [[] for _ in range(atoms.MAX_NODES + 1)]],
    ids=["bits", "text", "parts", "containers"],
)
def test_what_is_too_large_is_refused_before_it_is_sent(value: Any) -> None:
    with pytest.raises(Oversize):
        travelled(value)


def test_a_message_too_long_is_refused_by_its_length_alone() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"\xff\xff\xff\xff")
    with pytest.raises(Oversize):
        Channel(reader, writer).receive()
    os.close(writer)
    with pytest.raises(Gone):
        Channel(reader, reader).receive()
    os.close(reader)
    with pytest.raises(Gone):
        Channel(reader, reader).send([])


def test_long_messages_pass_a_pipe_in_pieces() -> None:
    reader, writer = os.pipe()
    message = [["x" * 1000] * 500]
    sending = threading.Thread(target=Channel(reader, writer).send, args=(message,))
    sending.start()
    assert Channel(reader, writer).receive() == message
    sending.join()
    os.close(reader)
    os.close(writer)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
    | st.sampled_from(["@", "i", "f", "u", "b", "c", "r", "h", "l", "d", "s", "a", "t", "z", "K", "V", "I", "-ff", "zz"]),
    lambda parts: st.lists(parts, max_size=5),
    max_leaves=25,
)  # fmt: skip
_NODE = st.tuples(
    st.sampled_from("ldsatzKVI"),
    st.integers(-1, 2),
    st.lists(st.tuples(st.just("@"), st.integers(-1, 6)).map(list) | _JSON, max_size=4),
).map(list)
_EXACT = frozenset({
    type(None), bool, int, float, str, bytes, bytearray, complex, range, list, tuple, set, frozenset, dict,
    type({}.keys()), type({}.values()), type({}.items()),
})  # fmt: skip


@settings(max_examples=100)
@given(st.lists(_NODE, max_size=6) | _JSON, _JSON)
def test_whatever_arrives_is_exact_plain_data_or_a_clean_error(nodes: Any, root: Any) -> None:
    known: list[Any] = [[1], {2: 3}, {4}]
    try:
        value = Decoder(nodes, known=known).value(root)
    except (Malformed, Oversize):
        return
    _expect_exact(value, set())
    for one in known:
        _expect_exact(one, set())


def _expect_exact(value: Any, seen: set[int]) -> None:
    assert type(value) in _EXACT
    if id(value) in seen or type(value) in (str, bytes, bytearray, range):
        return
    seen.add(id(value))
    if isinstance(value, dict):
        value = [*value.items()]
    for part in value if hasattr(value, "__iter__") else ():
        _expect_exact(part, seen)


@settings(max_examples=100)
@given(st.binary(max_size=60) | _JSON.map(lambda value: json.dumps(value).encode()))
def test_bytes_that_are_no_message_are_malformed(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        assert isinstance(unpack(data), list)


@pytest.mark.parametrize("text", ["[" * 100_000, "[NaN]", "[Infinity]", '[{"a": 1}]', "[1" + "0" * 5000 + "]", "{}", "7", ""])
def test_json_that_is_no_message(text: str) -> None:
    with pytest.raises(Malformed):
        unpack(text.encode())


@pytest.mark.parametrize(
    ("nodes", "root"),
    [
        ([["t", -1, [["@", 0]]]], ["@", 0]),
        ([["t", -1, [["@", 1]]], ["z", -1, [["@", 0]]]], ["@", 0]),
        ([["d", -1, [1]]], ["@", 0]),
        ([["s", -1, [["@", 1]]], ["l", -1, []]], ["@", 0]),
        ([["t", 0, []]], ["@", 0]),
        ([["l", 7, []]], ["@", 0]),
        ([["l", True, []]], ["@", 0]),
        ([["a", -1, "===="]], ["@", 0]),
        ([["x", -1, []]], ["@", 0]),
        ([], ["@", 0]),
        ([["l", -1, [["@", 9]]]], ["@", 0]),
        ([], ["h", 0, "f"]),
        ([], ["i", 5]),
        ([], ["r", "1", "2", "0"]),
        ([], ["f", "00"]),
        ([], []),
    ],
)
def test_tables_that_nobody_wrote(nodes: Any, root: Any) -> None:
    with pytest.raises(Malformed):
        Decoder(nodes).value(root)


def test_an_origin_is_used_once_and_by_its_own_kind() -> None:
    with pytest.raises(Malformed):
        Decoder([["l", 0, []], ["l", 0, []]], known=[[]])
    with pytest.raises(Malformed):
        Decoder([["d", 0, []]], known=[[]])
