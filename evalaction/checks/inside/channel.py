"""Messages over a pair of pipes: JSON lists behind their length in four bytes."""

from __future__ import annotations

import json
import os
from typing import Any

from evalaction.checks.inside.atoms import MAX_BYTES, Malformed, Oversize, Wire

_PREFIX = 4
_READ_SIZE = 2**20


class Gone(Exception):
    """The other side has closed its pipe."""


def pack(message: list[Wire]) -> bytes:
    """The bytes of one message. Raises Oversize."""
    body = json.dumps(message, check_circular=False, separators=(",", ":"), allow_nan=False).encode("ascii")
    if len(body) > MAX_BYTES:
        raise Oversize(f"a message of {len(body):,} bytes")
    return len(body).to_bytes(_PREFIX, "big") + body


def unpack(body: bytes) -> list[Wire]:
    """The message in the bytes behind its length. Raises Malformed."""
    try:
        message = _DECODER.decode(body.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise Malformed("no message") from error
    if type(message) is not list:
        raise Malformed("no message")
    return message


class Channel:
    """Two ends of pipes; each call blocks. Raises Gone where the other side has gone."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, message: list[Wire]) -> None:
        """Raises Oversize, Gone."""
        data = memoryview(pack(message))
        try:
            while data:
                data = data[os.write(self._writer, data) :]
        except OSError as error:
            raise Gone from error

    def receive_bytes(self) -> bytes:
        """The bytes of the next message. Raises Oversize, Gone."""
        length = int.from_bytes(self._exactly(_PREFIX), "big")
        if length > MAX_BYTES:
            raise Oversize(f"a message of {length:,} bytes")
        return self._exactly(length)

    def receive(self) -> list[Wire]:
        """The next message. Raises Malformed, Oversize, Gone."""
        return unpack(self.receive_bytes())

    def _exactly(self, count: int) -> bytes:
        held = bytearray()
        while len(held) < count:
            try:
                data = os.read(self._reader, min(count - len(held), _READ_SIZE))
            except OSError as error:
                raise Gone from error
            if not data:
                raise Gone
            held += data
        return bytes(held)


def _refused(_: Any) -> Any:
    raise Malformed("an object, or a number that is none")


_DECODER = json.JSONDecoder(object_hook=_refused, parse_constant=_refused)
