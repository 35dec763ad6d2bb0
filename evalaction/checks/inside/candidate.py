"""The candidate's side: runs the model's text as the module `_candidate` and answers calls. Believed by nobody."""

from __future__ import annotations

import contextlib
import linecache
import sys
import types
from typing import Any

from evalaction.checks.inside.atoms import NotPlain, Oversize, Wire
from evalaction.checks.inside.channel import Channel, Gone
from evalaction.checks.inside.decoder import Decoder
from evalaction.checks.inside.depth import start_at_the_top
from evalaction.checks.inside.encoder import Encoder
from evalaction.checks.inside.job import read_texts

NAME, FILE = "_candidate", "_candidate.py"
JOB, REQUESTS, REPLIES = 3, 4, 5
CHAIN = 12
"""Classes that are told of an exception, its own first."""
_name = type.__dict__["__name__"].__get__
_mro = type.__dict__["__mro__"].__get__


def main(_argument: bytes) -> int:
    """Descriptors: 3 the job (the source), 4 requests to read, 5 replies to write."""
    (source,) = read_texts(JOB)
    channel = Channel(REQUESTS, REPLIES)
    with contextlib.suppress(Gone):
        Candidate(channel).serve(source)
    return 0


class Candidate:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._module = new_module()
        self._handles: list[Any] = []

    def serve(self, source: str) -> None:
        """Import, tell the names, answer until the check is done. Raises Gone then."""
        start_at_the_top()
        try:
            execute(source, self._module)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the check sees it where it imports
            self._channel.send(self._raised(error, []))
            return
        self._channel.send(["names", self._names(), self._public()])
        while True:
            self._answer(self._channel.receive())

    def _answer(self, request: list[Wire]) -> None:
        mutables: list[Any] = []
        try:
            result = self._done(request, mutables)
        except BaseException as error:  # noqa: BLE001 - see above
            reply = self._raised(error, mutables)
        else:
            reply = self._returned(result, mutables)
        try:
            self._channel.send(reply)
        except Oversize as error:
            self._channel.send(["oversize", str(error)])

    def _done(self, request: list[Wire], mutables: list[Any]) -> Any:
        verb, target = request[:2]
        if verb == "get":
            return self._module.__dict__[target]
        if verb == "next":
            return next(self._handles[target])
        decoder = Decoder(request[2], handle=lambda wire: self._target(wire[1]))
        mutables += decoder.mutables
        return self._target(target)(*decoder.value(request[3]), **decoder.value(request[4]))

    def _target(self, key: str | int) -> Any:
        return self._handles[key] if isinstance(key, int) else self._module.__dict__[key]

    def _returned(self, result: Any, mutables: list[Any]) -> list[Wire]:
        try:
            encoder = Encoder(origins=_origins(mutables), handle=self._hold)
            root = encoder.add(result)
            for thing in mutables:
                encoder.add(thing)
        except NotPlain as error:
            return ["not_plain", str(error)]
        except Oversize as error:
            return ["oversize", str(error)]
        return ["returned", encoder.nodes, root]

    def _raised(self, error: BaseException, mutables: list[Any]) -> list[Wire]:
        chain = [_name(kind) for kind in _mro(type(error)) if kind is not object][:CHAIN]
        for arguments in (tuple(error.args), (_said(error),)):
            try:
                encoder = Encoder(origins=_origins(mutables))
                root = encoder.add(arguments)
                for thing in mutables:
                    encoder.add(thing)
            except (NotPlain, Oversize):
                continue
            return ["raised", chain, encoder.nodes, root]
        return ["not_plain", "what an argument became before the exception"]

    def _hold(self, value: object) -> Wire:
        """A handle for what gives values or answers calls, whatever it is."""
        kind = "i" if hasattr(type(value), "__next__") else "f" if callable(value) else None
        if kind is None:
            return None
        self._handles.append(value)
        return ["h", len(self._handles) - 1, kind]

    def _names(self) -> list[Wire]:
        found: list[Wire] = []
        for name, value in list(self._module.__dict__.items()):
            if type(name) is not str or name.startswith("__") or isinstance(value, types.ModuleType):
                continue
            if isinstance(value, type) and issubclass(value, BaseException):
                found.append([name, "exception", [_name(kind) for kind in _mro(value) if kind is not object][:CHAIN]])
            elif callable(value):
                words = getattr(value, "__doc__", None)
                found.append([name, "function", words if type(words) is str else None])
            else:
                found.append([name, "value", None])
        return found

    def _public(self) -> list[str]:
        """What a star import takes."""
        declared = self._module.__dict__.get("__all__")
        names = declared if isinstance(declared, (list, tuple)) else [n for n in self._module.__dict__ if n[:1] != "_"]
        return [name for name in names if type(name) is str]


def new_module() -> types.ModuleType:
    module = types.ModuleType(NAME)
    module.__file__ = FILE
    sys.modules[NAME] = module
    return module


def execute(source: str, module: types.ModuleType) -> None:
    """Run the text as the body of the module; tracebacks show its lines. Raises whatever it raises."""
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    exec(compile(source, FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - in the box, this is what it is for


def _origins(mutables: list[Any]) -> dict[int, int]:
    return {id(thing): number for number, thing in enumerate(mutables)}


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - its own text fails too
        return ""
