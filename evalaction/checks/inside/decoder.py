"""From the wire to objects of exact built-in types: no recursion, nothing of the sender is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evalaction.checks.inside.atoms import MAX_NODES, Malformed, Oversize, Wire, read_atom, read_bytes, reads_itself
from evalaction.checks.inside.encoder import NOWHERE

_MUTABLE: dict[str, type] = {"l": list, "d": dict, "s": set, "a": bytearray}
_BUILT: dict[str, Callable[[list[Any]], object]] = {
    "t": tuple,
    "z": frozenset,
    "K": lambda parts: dict.fromkeys(parts).keys(),
    "V": lambda parts: dict(enumerate(parts)).values(),
    "I": lambda parts: dict(_paired(parts)).items(),
}
_UNBUILT = object()


class Decoder:
    """Rebuilds a table. `known` are our own objects by origin number, updated in place; `handle` reads what one has written.

    Raises Malformed for whatever `Encoder` does not write, Oversize beyond its bounds.
    """

    def __init__(self, nodes: Wire, *, known: Sequence[Any] = (), handle: Callable[[list[Wire]], object] | None = None) -> None:
        self._handle = handle
        self._nodes = _checked(nodes)
        self._objects: list[Any] = [_UNBUILT] * len(self._nodes)
        self._referred = {number for number, (_, origin, _) in enumerate(self._nodes) if origin != NOWHERE}
        self._shared = False
        self._place_mutables(known)
        try:
            for number, thing in enumerate(self._objects):
                if thing is _UNBUILT:
                    self._build(number)
            self._fill()
        except (Malformed, Oversize):
            raise
        except (TypeError, ValueError) as error:  # unhashable keys, odd dicts, bad base64
            raise Malformed(f"impossible data: {error}") from error

    @property
    def mutables(self) -> list[Any]:
        """What can change, in the order of the table."""
        return [thing for (tag, _, _), thing in zip(self._nodes, self._objects, strict=True) if tag in _MUTABLE]

    def unfolds(self, beyond: int) -> bool:
        """Whether it has more than so many parts when what occurs twice is counted twice, as text and comparison do.

        Asked after `value`: until then nobody knows whether a circle leads through the root.
        """
        if not self._shared:
            return False
        sizes: dict[int, int] = {}
        for start in range(len(self._nodes)):
            path, entered = [start], set[int]()
            while path:
                number = path.pop()
                if number in sizes:
                    continue
                body = self._nodes[number][2]
                parts = [part[1] for part in body if type(part) is list and part and part[0] == "@"]
                missing = [part for part in parts if part not in sizes]
                if missing and number in entered:
                    return True  # a circle: nobody can say how many ways lead through it
                if missing:
                    entered.add(number)
                    path += [number, *missing]
                    continue
                sizes[number] = (
                    len(body) + sum(len(part) for part in body if type(part) is str) + sum(sizes[part] for part in parts)
                )
                if sizes[number] > beyond:
                    return True
        return False

    def value(self, wire: Wire) -> Any:
        """The object that stands behind a part of the message."""
        if type(wire) is list and wire:
            if wire[0] == "@":
                number = self._number(wire)
                self._shared = self._shared or number in self._referred
                self._referred.add(number)
                return self._objects[number]
            if wire[0] == "h" and self._handle is not None:
                return self._handle(wire)
        return read_atom(wire)

    def _place_mutables(self, known: Sequence[Any]) -> None:
        """Before anything is filled, so that cycles close."""
        used: set[int] = set()
        for number, (tag, origin, _) in enumerate(self._nodes):
            if tag not in _MUTABLE:
                if origin != NOWHERE:
                    raise Malformed("an origin of something that cannot change")
            elif origin == NOWHERE:
                self._objects[number] = _MUTABLE[tag]()
            else:
                if not 0 <= origin < len(known) or origin in used or type(known[origin]) is not _MUTABLE[tag]:
                    raise Malformed("an unknown origin")
                used.add(origin)
                self._objects[number] = known[origin]

    def _build(self, start: int) -> None:
        """What cannot change is built from its parts, so the parts come first."""
        path, entered = [start], set[int]()
        while path:
            number = path[-1]
            if self._objects[number] is not _UNBUILT:
                path.pop()
                continue
            tag, _, body = self._nodes[number]
            if number not in entered:
                entered.add(number)
                parts = [self._number(part) for part in body if type(part) is list and part and part[0] == "@"]
                missing = [part for part in parts if self._objects[part] is _UNBUILT]
                if entered.intersection(missing):
                    raise Malformed("a circle of things that cannot change")
                path += missing
            else:
                self._objects[number] = _BUILT[tag](self._parts(body))
                path.pop()

    def _fill(self) -> None:
        for thing, (tag, _, body) in zip(self._objects, self._nodes, strict=True):
            if tag == "a":
                thing[:] = read_bytes(body)
            elif tag == "l":
                thing[:] = self._parts(body)
            elif tag in ("s", "d"):
                parts = self._parts(body)
                thing.clear()
                thing.update(parts if tag == "s" else _paired(parts))

    def _parts(self, body: list[Wire]) -> list[Any]:
        return body if reads_itself(body) else [self.value(part) for part in body]

    def _number(self, wire: list[Wire]) -> int:
        number = wire[1] if len(wire) == 2 else None
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise Malformed("a reference to nothing")
        return number


def _paired(parts: list[Any]) -> list[tuple[Any, Any]]:
    return list(zip(parts[::2], parts[1::2], strict=True))


def _checked(nodes: Wire) -> list[tuple[str, int, Any]]:
    if type(nodes) is not list:
        raise Malformed("no table")
    if len(nodes) > MAX_NODES:
        raise Oversize(f"more than {MAX_NODES:,} containers")
    for node in nodes:
        if type(node) is not list or len(node) != 3:
            raise Malformed("a node is a tag, an origin and a body")
        tag, origin, body = node
        known = type(tag) is str and (tag in _MUTABLE or tag in _BUILT)
        if not known or type(origin) is not int or type(body) is not (str if tag == "a" else list):
            raise Malformed("an unknown node")
    return nodes
