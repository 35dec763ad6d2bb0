"""JSON Pointers (RFC 6901) into a reply."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalaction.errors import UsageError
from evalaction.method.canonical import Json

_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class Missing(Exception):
    """There is nothing at the pointer."""


def refuse_bad(pointer: str, *, what: str) -> None:
    """Raises UsageError, naming `what`, unless the text is a JSON Pointer."""
    if not _POINTER.fullmatch(pointer):
        raise UsageError(f"{what} is not a JSON Pointer; write it like /choices/0/text.")


def resolve(value: Json, pointer: str) -> Json:
    """The part of `value` that a valid pointer names. Raises Missing."""
    for step in pointer.split("/")[1:]:
        token = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and token in value:
            value = value[token]
        elif isinstance(value, list) and _INDEX.fullmatch(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            raise Missing
    return value
