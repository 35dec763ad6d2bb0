"""Reading values out of an event file or an API reply: each getter gives a well-formed value or None, whatever lies there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

NUMBER_LIMIT = 1 << 63
LONGEST = 1000
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}", re.ASCII)


def parse(data: bytes | str) -> Mapping[str, Any] | None:
    """The object that a JSON text holds, as UTF-8 whatever the system's own encoding is; None for anything else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def at(value: object, *path: str) -> object:
    """The value at a path of keys; None where a step is missing or no object."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def mapping(value: object, *path: str) -> Mapping[str, Any] | None:
    found = at(value, *path)
    return found if isinstance(found, Mapping) else None


def text(value: object, *path: str) -> str | None:
    """A text of 1 to 1,000 characters without control characters or lone surrogates."""
    found = at(value, *path)
    if not isinstance(found, str) or not 0 < len(found) <= LONGEST:
        return None
    return None if any(char < " " or char == "\x7f" or "\ud800" <= char <= "\udfff" for char in found) else found


def number(value: object, *path: str) -> int | None:
    """A whole number from 1 up (`issues/0` is nobody's), written as a number or as digits."""
    found = at(value, *path)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 20:
        found = int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < NUMBER_LIMIT else None


def sha(value: object, *path: str) -> str | None:
    """A full object id in lower case; None also for all zeros, which stands for no commit."""
    found = at(value, *path)
    lower = found.lower() if isinstance(found, str) and len(found) <= 64 else ""
    return lower if _SHA.fullmatch(lower) and lower.strip("0") else None


def repository(value: object, *path: str) -> str | None:
    """`owner/name`, as it is written."""
    found = at(value, *path)
    if not isinstance(found, str) or not _REPOSITORY.fullmatch(found):
        return None
    return found if not {".", ".."} & set(found.split("/")) else None


def same_repository(one: str | None, other: str | None) -> bool:
    """GitHub's names do not mind case. Two missing names are not the same repository."""
    return one is not None and other is not None and one.lower() == other.lower()


def branch(ref: str | None) -> str | None:
    """The branch of `refs/heads/…`."""
    return ref.removeprefix("refs/heads/") or None if ref and ref.startswith("refs/heads/") else None
