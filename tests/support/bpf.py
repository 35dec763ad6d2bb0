"""A small interpreter of the BPF programs that seccomp runs: what does a filter answer to one system call?"""

from __future__ import annotations

import struct
from collections.abc import Sequence

KILL, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000


def answer(program: bytes, *, audit: int, number: int, arguments: Sequence[int] = ()) -> int:
    """The filter's return value. AssertionError when the program is not one that the kernel accepts."""
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, audit, 0, *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    code = list(struct.iter_unpack("=HBBI", program))
    assert 0 < len(code) <= 4096
    place, accumulator = 0, 0
    while True:
        assert place < len(code), "it runs off its end"
        kind, when_true, when_false, value = code[place]
        place += 1
        if kind == 0x20:
            assert value % 4 == 0 and value < len(data)
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif kind == 0x54:
            accumulator &= value
        elif kind == 0x15:
            place += when_true if accumulator == value else when_false
        elif kind == 0x35:
            place += when_true if accumulator >= value else when_false
        else:
            assert kind == 0x06, f"an instruction that no filter of ours has: {kind:#x}"
            return int(value)
