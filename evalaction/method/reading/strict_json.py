"""JSON as RFC 8259 means it: no NaN, no duplicate keys, bounded depth and numbers; decimals keep their text."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from decimal import Decimal
from typing import NoReturn, cast

from evalaction.method.canonical import Json

MAX_DEPTH = 200
MAX_DIGITS = 1_000
MAX_EXPONENT = 400

# A string, closed or not, or one bracket: linear on any input, since an open string swallows the rest.
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)$")


class NotJson(ValueError):
    """The text is not strict JSON; `detail` says why in a few words, `position` is a character offset where one is known."""

    def __init__(self, detail: str, position: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.position = position


class DuplicateKey(NotJson):
    """One object has `key` twice; `detail` quotes it cut short."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {json.dumps(key[:80])} appears twice in one object")
        self.key = key


def loads(text: str) -> Json:
    """The value of a strict JSON text: ints stay ints, every other number is a Decimal. Raises NotJson.

    Refused besides broken syntax: duplicate keys, NaN and Infinity, depth over 200, numbers of over 1,000 digits or beyond the
    range of a double. Lone surrogates written as escapes stay as they are.
    """
    _refuse_depth(text)
    try:
        return cast(Json, _DECODER.decode(text))
    except json.JSONDecodeError as error:
        raise NotJson(error.msg[:1].lower() + error.msg[1:], error.pos) from None


def integer(digits: str) -> int:
    """The int that JSON digits stand for. Raises NotJson over 1,000 digits."""
    _refuse_length(digits)
    return int(digits)


def decimal(number: str) -> Decimal:
    """The Decimal of a JSON number with a point or an exponent. Raises NotJson where a double would overflow."""
    _refuse_length(number)
    exponent = _EXPONENT.search(number)
    if (exponent and abs(int(exponent[1])) > MAX_EXPONENT) or math.isinf(float(number)):
        raise NotJson("a number beyond the range of a double")
    return Decimal(number)


def _refuse_length(number: str) -> None:
    if len(number) > MAX_DIGITS:
        raise NotJson(f"a number of over {MAX_DIGITS:,} digits")


def _refuse_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _TOKENS.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise NotJson(f"nested over {MAX_DEPTH} levels deep", token.start())
        elif token[0] in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise DuplicateKey(next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1))
    return value


def _constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=integer, parse_float=decimal, parse_constant=_constant)
