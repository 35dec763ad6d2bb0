"""Plain YAML scalars by the core schema of YAML 1.2 (section 10.3), so that `yes`, `1_000`, `12:30:45` and dates stay text."""

from __future__ import annotations

import re
from decimal import Decimal

MAX_LENGTH = 1_000
MAX_EXPONENT = 400

_CONSTANTS = {"null": None, "Null": None, "NULL": None, "~": None, "": None} | {
    word: value for value, words in ((True, "true True TRUE"), (False, "false False FALSE")) for word in words.split()
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE]([-+]?[0-9]+))?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def resolve(text: str) -> str | int | Decimal | bool | None:
    """What a plain scalar means. Raises ValueError with a sentence for `.nan`, `.inf` and numbers out of bounds."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"`{text}` is not a number that can be compared; write a finite one")
    if not (text[0].isascii() and (text[0].isdigit() or text[0] in "+-.")):
        return text
    if _PREFIXED.fullmatch(text):
        _refuse_length(text)
        return int(text, 0)
    number = _DECIMAL.fullmatch(text)
    if not number:
        return text
    _refuse_length(text)
    if _INTEGER.fullmatch(text):
        return int(text)
    if number[1] and abs(int(number[1])) > MAX_EXPONENT:
        raise ValueError(f"a number with an exponent beyond ±{MAX_EXPONENT} is out of range")
    return Decimal(text)


def _refuse_length(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a number of more than {MAX_LENGTH:,} characters is out of range")
