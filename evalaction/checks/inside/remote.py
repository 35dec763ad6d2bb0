"""The candidate as another process: each call blocks until it has answered. What comes back is plain data."""

from __future__ import annotations

import builtins
import itertools
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from evalaction.checks.inside.atoms import Malformed, NotPlain, Oversize, Wire
from evalaction.checks.inside.board import HEAVY, MANY, Board
from evalaction.checks.inside.candidate import CHAIN, NAME
from evalaction.checks.inside.channel import Channel, Gone, unpack
from evalaction.checks.inside.decoder import Decoder
from evalaction.checks.inside.encoder import Encoder
from evalaction.checks.inside.verdict import Verdict

_CARRIES = "which split checking does not carry"


class CandidateExit(SystemExit):
    """The candidate called exit; never taken for the end of the check."""


_CATCH_ALL: dict[str, type[BaseException]] = {
    "AssertionError": AssertionError,
    "Exception": Exception,
    "BaseException": BaseException,
    "SystemExit": CandidateExit,
}
"""What catches the ways in which a check fails, and what the candidate's name for it is derived from instead."""


class Remote:
    """The other process: every call blocks until it has answered. What only it can have caused ends the check at once."""

    def __init__(self, channel: Channel, board: Board, verdict: Verdict) -> None:
        self._channel = channel
        self._board = board
        self._verdict = verdict
        self._turn = threading.Lock()
        self._classes: dict[str, type[BaseException]] = {}
        self._stand_ins: dict[Any, str | int] = {}
        self._greeting: list[Wire] | None = None
        self.raised: list[BaseException] = []
        """What the check has seen of the candidate's exceptions."""

    def hello(self) -> list[Wire]:
        """Names and public names, once the candidate has been imported. Raises what it raised there."""
        with self._turn:
            if self._greeting is None:  # a check may import it again
                self._greeting = self._receive(greeting=True)
        return self._read(self._greeting, "names", 3, [])

    def get(self, name: str) -> Any:
        """A value of the candidate's module."""
        return self._ask(["get", name], [])

    def function(self, key: str | int, name: str, words: str | None = None) -> Callable[..., Any]:
        def stand_in(*arguments: Any, **keywords: Any) -> Any:
            return self._call(key, arguments, keywords)

        stand_in.__name__ = stand_in.__qualname__ = name
        stand_in.__doc__, stand_in.__module__ = words, NAME
        self._stand_ins[stand_in] = key
        return stand_in

    def exception(self, chain: Wire) -> type[BaseException]:
        """The class that stands for one of the candidate's, below the same classes."""
        found: type[BaseException] = Exception
        for name in reversed(_names(chain)):
            known = self._classes.get(name) or _builtin(name)
            if known is None:
                known = self._classes[name] = type(name, (found,), {"__module__": NAME})
            found = known
        return found

    def exported(self, name: str, chain: Wire) -> type[BaseException]:
        """The class of a name of its module. None of them is one that catches what the check itself raises when it fails: a name
        for `Exception` or `AssertionError` is a class below it, which then stands for what the candidate raises."""
        first = _names(chain)[:1]
        if first and first[0] in _CATCH_ALL and first[0] not in self._classes:
            self._classes[first[0]] = type(first[0], (_CATCH_ALL[first[0]],), {"__module__": NAME})
        found = self.exception(chain)
        self._stand_ins.setdefault(found, name)
        return found

    def source(self, text: str) -> str:
        """The candidate's text, on its way to the check."""
        self._board.read_source()
        return text

    @property
    def greeted(self) -> bool:
        """Whether the candidate has said what it has."""
        return self._greeting is not None

    def gave(self, value: object) -> bool:
        """Whether a function, an iterator or a class is one of the candidate's."""
        return type(value) in (types.FunctionType, types.GeneratorType, type) and value in self._stand_ins

    def missing(self, name: str) -> AttributeError:
        error = AttributeError(f"the candidate has no {name}", name=name)
        self.raised.append(error)
        return error

    def refuse(self, what: str) -> None:
        """The check asks for what split checking does not carry."""
        self._verdict.end("error", f"checker:protocol: the check {what}, {_CARRIES}")

    def garbled(self, what: str) -> None:
        """The candidate's side has sent what nothing of ours writes."""
        self._verdict.end("fail", f"candidate:protocol: {what}")

    def taken(self) -> None:
        """What was received has been read: the check goes on with work of its own."""
        self._board.enter("own")

    def _call(self, key: str | int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        encoder = Encoder(exact=True, handle=self._key)
        try:
            request = ["call", key, encoder.nodes, encoder.add(arguments), encoder.add(keywords)]
        except NotPlain as error:
            self.refuse(f"passes an argument of type {error}")
        except Oversize as error:
            self._too_large(error)
        return self._ask(request, encoder.mutables)

    def _key(self, value: object) -> Wire:
        return ["h", self._stand_ins[value]] if self.gave(value) else None

    def _ask(self, request: list[Wire], mutables: list[Any]) -> Any:
        with self._turn:
            self._board.enter("waiting")
            try:
                self._channel.send(request)
            except Oversize as error:
                self._too_large(error)
            except Gone:
                self._verdict.end("fail", "candidate:gone")
            reply = self._receive()
            nodes, root = self._read(reply, "returned", 3, mutables, ending=request[0] == "next")
            try:
                return self._decoded(nodes, root, mutables)
            finally:
                self.taken()

    def _receive(self, *, greeting: bool = False) -> list[Wire]:
        self._board.enter("waiting")
        with self._blamed():
            data = self._channel.receive_bytes()
            if greeting:  # names alone: the check has not asked for anything yet
                self._board.enter("reading")
            else:
                self._board.received(data)
            return unpack(data)

    def _read(self, reply: list[Wire], word: str, length: int, mutables: list[Any], *, ending: bool = False) -> list[Wire]:
        """The rest of a reply that begins with the word. Raises what the candidate raised; ends for everything else."""
        with self._blamed():
            if reply[0] == word and len(reply) == length:
                return reply[1:]
            if reply[0] == "raised" and len(reply) == 4:
                error = self._exception(reply[1], reply[2], reply[3], mutables)
            elif reply[0] in ("not_plain", "oversize") and len(reply) == 2 and type(reply[1]) is str:
                self._verdict.end("fail", f"candidate:{reply[0]}: {reply[1]}")
            else:
                raise Malformed("a reply that is none")
        self.taken()
        if isinstance(error, StopAsyncIteration if ending else (StopIteration, StopAsyncIteration)):  # any loop would end well
            error = RuntimeError(f"the candidate raised {type(error).__name__}")
        raise self._noted(error)

    def _noted(self, error: BaseException) -> BaseException:
        self.raised.append(error)
        return error

    def _too_large(self, error: Oversize) -> None:
        """An argument cannot be sent: the check's doing, unless it may be a reply that is sent back."""
        if self._board.note.heavy:
            self._verdict.end("fail", f"candidate:oversize: its reply cannot be sent back: {error}")
        self._verdict.end("error", f"checker:protocol: an argument is too large: {error}")

    def _decoded(self, nodes: Wire, root: Wire, mutables: list[Any]) -> Any:
        with self._blamed():
            return self._weighed(Decoder(nodes, known=mutables, handle=self._handled), root)

    def _weighed(self, decoder: Decoder, root: Wire) -> Any:
        """The value. What a few bytes unfold to may be endless to whoever prints, compares or walks it."""
        value = decoder.value(root)
        if decoder.unfolds(HEAVY):
            self._board.goes_on()
        return value

    def _exception(self, chain: Wire, nodes: Wire, root: Wire, mutables: list[Any]) -> BaseException:
        kind = self.exception(chain)
        arguments = self._weighed(Decoder(nodes, known=mutables), root)
        if type(arguments) is not tuple:
            raise Malformed("an exception without arguments")
        if issubclass(kind, SystemExit):
            return (kind if issubclass(kind, CandidateExit) else CandidateExit)(*arguments)
        try:
            return kind(*arguments)
        except Exception:  # noqa: BLE001 - some demand arguments of their own
            return Exception(*arguments)

    def _handled(self, wire: list[Wire]) -> object:
        if len(wire) != 3 or type(wire[1]) is not int or wire[2] not in ("f", "i"):
            raise Malformed("an unknown handle")
        if wire[2] == "f":
            return self.function(wire[1], "returned")
        stream = self._stream(wire[1])
        self._stand_ins[stream] = wire[1]  # a check may hand it on to another function
        return stream

    def _stream(self, handle: int) -> Iterator[Any]:
        for given in itertools.count():
            if given == MANY:
                self._board.goes_on()
            try:
                value = self._ask(["next", handle], [])
            except StopIteration:
                return
            yield value

    def _blamed(self) -> _Blame:
        return _Blame(self._verdict)


class _Blame:
    """Whatever goes wrong while a reply is waited for or read is the candidate's, and ends the check."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        if not isinstance(error, Exception):
            return
        if isinstance(error, Gone):
            self._verdict.end("fail", "candidate:gone")
        if isinstance(error, MemoryError):
            self._verdict.end("fail", "candidate:memory: its reply does not fit into the memory of the check")
        word = "oversize" if isinstance(error, Oversize) else "protocol"
        self._verdict.end("fail", f"candidate:{word}: {error}")


def _names(chain: Wire) -> list[str]:
    if type(chain) is not list or not 0 < len(chain) <= CHAIN or any(type(name) is not str for name in chain):
        raise Malformed("an exception without a class")
    return [name for name in chain if name.isidentifier()]


def _builtin(name: str) -> type[BaseException] | None:
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
