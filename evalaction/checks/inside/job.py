"""What a process in the box is to do: one message in a file of its own, read to its end before anything else runs."""

from __future__ import annotations

import os

from evalaction.checks.inside.atoms import Wire, read_atom, write_atom
from evalaction.checks.inside.channel import unpack

_READ_SIZE = 2**20


def texts(*parts: str) -> bytes:
    """The bytes of a job made of texts, lone surrogates included."""
    import json

    return json.dumps([write_atom(part) for part in parts]).encode("ascii")


def read_texts(descriptor: int) -> list[str]:
    """The texts of a job; the descriptor is closed."""
    held = bytearray()
    while data := os.read(descriptor, _READ_SIZE):
        held += data
    os.close(descriptor)
    parts: list[Wire] = unpack(bytes(held))
    return [str(read_atom(part)) for part in parts]
