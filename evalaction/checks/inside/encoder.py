"""From objects to the wire: a flat table of nodes, read with the methods of the built-in types and of nothing else."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from evalaction.checks.inside.atoms import (
    MAX_BYTES,
    MAX_NODES,
    NotPlain,
    Oversize,
    Wire,
    write_atom,
    write_bytes,
    writes_itself,
)

MUTABLE = frozenset({list, dict, set, bytearray})
NOWHERE = -1
"""Origin of a node that the other side does not have yet."""
_mro = type.__dict__["__mro__"].__get__
_name = type.__dict__["__name__"].__get__


class Encoder:
    """Writes several values into one table, so that what they share stays shared.

    `origins` holds the numbers, by id, of objects that the other side has: it updates its own in place. `handle` may write what
    is not plain data, or returns None. Under `exact` a subclass is not plain data; otherwise it is written as its built-in base.
    """

    def __init__(
        self,
        *,
        origins: Mapping[int, int] | None = None,
        handle: Callable[[object], Wire] | None = None,
        exact: bool = False,
    ) -> None:
        self.nodes: list[Wire] = []
        self.mutables: list[Any] = []
        """What can change on the other side, in the order of the table."""
        self._origins = origins or {}
        self._handle = handle
        self._exact = exact
        self._known: dict[int, int] = {}
        self._alive: list[object] = []  # ids are only good while their objects live
        self._weight = 0

    def add(self, value: object) -> Wire:
        """What stands for the value in the message. Raises NotPlain, Oversize."""
        root: list[Wire] = [None]
        open_places: list[tuple[object, list[Wire], int]] = [(value, root, 0)]
        while open_places:
            value, body, place = open_places.pop()
            body[place] = self._write(value, open_places)
        return root[0]

    def _write(self, value: object, open_places: list[tuple[object, list[Wire], int]]) -> Wire:
        known = self._known.get(id(value))
        if known is not None:
            return ["@", known]
        base = _base(type(value), self._exact)
        if base is None:
            handled = self._handle(value) if self._handle else None
            if handled is None:
                raise NotPlain(_name(type(value)))
            return handled
        if base in _EXACTLY:
            atom = _EXACTLY[base](value)
            if type(atom) in (str, bytes):
                self._spend(len(atom))
            return write_atom(atom)
        return self._node(value, base, open_places)

    def _node(self, value: Any, base: type, open_places: list[tuple[object, list[Wire], int]]) -> Wire:
        number = len(self.nodes)
        if number >= MAX_NODES:
            raise Oversize(f"more than {MAX_NODES:,} containers")
        self._known[id(value)] = number
        self._alive.append(value)
        if base in MUTABLE:
            self.mutables.append(value)
        origin = self._origins.get(id(value), NOWHERE)
        if base is bytearray:
            content = bytearray.__getitem__(value, slice(None))
            self._spend(len(content))
            self.nodes.append(["a", origin, write_bytes(content)])
            return ["@", number]
        tag, parts_of = _PARTS[base]
        items: list[Any] = parts_of(value)
        self._spend(len(items))
        if writes_itself(items):
            self.nodes.append([tag, origin, items])
            return ["@", number]
        self._alive.append(items)
        body: list[Wire] = [None] * len(items)
        self.nodes.append([tag, origin, body])
        for place in range(len(items) - 1, -1, -1):
            item = items[place]
            if type(item) in _BRIEF:
                body[place] = write_atom(item)
            else:
                open_places.append((item, body, place))
        return ["@", number]

    def _spend(self, weight: int) -> None:
        """Refuses before it is built what could not be sent anyway: each part takes two bytes or more."""
        self._weight += weight + 1
        if self._weight > MAX_BYTES // 2:
            raise Oversize("a value of too many parts")


def _base(kind: type, exact: bool) -> type | None:
    if exact:
        return kind if kind in _PLAIN else None
    return next((base for base in _mro(kind) if base in _READ_AS), None)


def _pairs(items: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    return lambda value: [part for pair in items(value) for part in pair]


def _each(base: Any) -> Callable[[Any], list[Any]]:
    return lambda value: [*base.__iter__(value)]


_BRIEF = frozenset({type(None), bool, int, float})
_EXACTLY: dict[type, Callable[[Any], Any]] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    range: lambda value: value,
}
_PARTS: dict[type, tuple[str, Callable[[Any], list[Any]]]] = {
    list: ("l", lambda value: list.__getitem__(value, slice(None))),
    tuple: ("t", lambda value: [*tuple.__getitem__(value, slice(None))]),
    set: ("s", _each(set)),
    frozenset: ("z", _each(frozenset)),
    dict: ("d", _pairs(dict.items)),
    type({}.keys()): ("K", _each(type({}.keys()))),
    type({}.values()): ("V", _each(type({}.values()))),
    type({}.items()): ("I", _pairs(type({}.items()).__iter__)),
}
_PLAIN = frozenset({*_EXACTLY, *_PARTS, bytearray})
_PARTS[OrderedDict] = ("d", _pairs(OrderedDict.items))  # it keeps an order of its own
_READ_AS = frozenset({*_PLAIN, OrderedDict})
