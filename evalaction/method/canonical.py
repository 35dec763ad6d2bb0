"""One JSON text for one value: sorted keys, no spaces, decimals as they were written. Digests and request bodies use it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

# Decimal stands for every number with a point or an exponent, so that its text survives.
Json: TypeAlias = "bool | int | float | Decimal | str | Sequence[Json] | Mapping[str, Json] | None"


_scalar = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode  # made once: json.dumps makes an encoder each time


def dumps(value: Json, *, sort_keys: bool = True) -> str:
    """The canonical text of a JSON value. Raises ValueError on NaN and infinities, TypeError on anything else.

    Without `sort_keys` the keys stay in their own order: models write the fields of a JSON Schema in the order they read them.
    """
    if value is None or isinstance(value, (bool, str)):
        return _scalar(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError("NaN and infinities are not JSON")
        return str(value)
    if isinstance(value, float):
        return _scalar(value)
    if isinstance(value, Mapping):
        keys = sorted(value) if sort_keys else value
        pairs = (f"{_scalar(key)}:{dumps(value[key], sort_keys=sort_keys)}" for key in keys)
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return "[" + ",".join(dumps(one, sort_keys=sort_keys) for one in value) + "]"
    raise TypeError(f"not JSON: {type(value).__name__}")


def encode(value: Json, *, sort_keys: bool = True) -> bytes:
    """UTF-8 bytes of the canonical text; a lone surrogate, which no request holds, gets three bytes of its own."""
    return dumps(value, sort_keys=sort_keys).encode("utf-8", "surrogatepass")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest(value: Json) -> str:
    """64 lower-case hex digits over the canonical bytes of a value."""
    return sha256(encode(value))
