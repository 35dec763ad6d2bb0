"""Values without parts as JSON: what JSON cannot say exactly is a list that begins with a tag."""

from __future__ import annotations

import base64
import struct
from typing import Any, TypeAlias

Wire: TypeAlias = Any
"""JSON of lists, texts, numbers, true, false and null; objects do not occur."""

MAX_BYTES = 16 * 2**20
"""Of one message."""
MAX_NODES = 200_000
"""Lists, tuples, sets, dicts and bytearrays in one message."""
MAX_BITS = 2**20
"""Of one integer."""
_EXACT = 2**53  # every JSON reader keeps smaller integers
_HEX_DIGITS = MAX_BITS // 4 + 1


class NotPlain(TypeError):
    """The value cannot travel; the text names its type."""


class Oversize(ValueError):
    """The value is plain, and larger than a message may be."""


class Malformed(ValueError):
    """What arrived was not written by the other side of this wire."""


def write_atom(value: object) -> Wire:
    """A value of exactly None, bool, int, float, str, bytes, complex or range."""
    return _WRITERS[type(value)](value)


def read_atom(wire: Wire) -> object:
    """The value of what `write_atom` wrote, of an exact built-in type. Raises Malformed, Oversize."""
    if type(wire) in _AS_THEY_ARE:
        return wire
    if type(wire) is not list or not wire or type(wire[0]) is not str:
        raise Malformed("a value without a tag")
    reader = _READERS.get(wire[0])
    if reader is None or len(wire) != reader[0] or any(type(part) is not str for part in wire):
        raise Malformed("an unknown tag")
    try:
        return reader[1](*wire[1:])
    except Oversize:
        raise
    except (ValueError, OverflowError, struct.error) as error:
        raise Malformed(f"a bad value under the tag {wire[0]}") from error


def writes_itself(items: list[Any]) -> bool:
    """Whether a whole list of values may stand in the message as it is; answered without a look at each value in Python."""
    types = set(map(type, items))
    if types == {int}:
        return bool(min(items) > -_EXACT and max(items) < _EXACT)
    if types == {str}:
        return _has_no_surrogate("".join(items))
    return types <= {bool, type(None)}


def reads_itself(items: list[Any]) -> bool:
    """Whether a whole list that arrived holds nothing but values that mean themselves."""
    return _AS_THEY_ARE.issuperset(map(type, items))


def _write_int(value: int) -> Wire:
    return value if -_EXACT < value < _EXACT else ["i", _hex(value)]


def _hex(value: int) -> str:
    if value.bit_length() > MAX_BITS:
        raise Oversize(f"an integer of {value.bit_length():,} bits")
    return format(value, "x")


def _read_int(digits: str) -> int:
    if len(digits) > _HEX_DIGITS:
        raise Oversize("an integer of too many bits")
    return int(digits, 16)


def _write_float(value: float) -> Wire:
    return value if value - value == 0.0 else ["f", _bits(value)]


def _bits(value: float) -> str:
    return struct.pack(">d", value).hex()


def _read_float(bits: str) -> float:
    value: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return value


def _write_str(value: str) -> Wire:
    # JSON would join two lone surrogates that stand side by side.
    return value if _has_no_surrogate(value) else ["u", value.encode("utf-8", "surrogatepass").hex()]


def _has_no_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_str(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-8", "surrogatepass")


def write_bytes(value: bytes | bytearray) -> str:
    return base64.b64encode(value).decode("ascii")


def read_bytes(text: str) -> bytes:
    """Raises ValueError."""
    return base64.b64decode(text.encode("ascii"), validate=True)


def _write_complex(value: complex) -> Wire:
    return ["c", _bits(value.real), _bits(value.imag)]


def _read_complex(real: str, imaginary: str) -> complex:
    return complex(_read_float(real), _read_float(imaginary))


def _write_range(value: range) -> Wire:
    return ["r", _hex(value.start), _hex(value.stop), _hex(value.step)]


def _read_range(*numbers: str) -> range:
    return range(*map(_read_int, numbers))


def _as_it_is(value: object) -> Wire:
    return value


_AS_THEY_ARE = frozenset({type(None), bool, int, float, str})
_WRITERS: dict[type, Any] = {
    type(None): _as_it_is,
    bool: _as_it_is,
    int: _write_int,
    float: _write_float,
    str: _write_str,
    bytes: lambda value: ["b", write_bytes(value)],
    complex: _write_complex,
    range: _write_range,
}
_READERS: dict[str, tuple[int, Any]] = {
    "i": (2, _read_int),
    "f": (2, _read_float),
    "u": (2, _read_str),
    "b": (2, read_bytes),
    "c": (3, _read_complex),
    "r": (4, _read_range),
}
