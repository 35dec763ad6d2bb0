"""What a reply says, whichever API sent it, and the strict way from bytes to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.counting.reasons import CUT_BY_FILTER, CUT_BY_LENGTH
from evalaction.method.reading import strict_json
from evalaction.method.records import Usage

_SURROGATE = re.compile("[\ud800-\udfff]")
_EMPTY_WORDS = {
    **dict.fromkeys(CUT_BY_LENGTH, "empty:length"),
    **dict.fromkeys(CUT_BY_FILTER, "empty:filter"),
    "refusal": "empty:refusal",
    "tool_calls": "empty:tool_calls",
    "tool_use": "empty:tool_calls",
    "function_call": "empty:tool_calls",
}


class Malformed(Exception):
    """A 200 that does not have the shape of its API; the text says where."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """`output` is blank when the reply carries nothing to grade; then `empty` is the reach reason."""

    output: str
    empty: str
    shown: str | None = None
    """Words that came in place of the output: a refusal, or prose where tool calls were declared."""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    served_model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    trace: Json = None
    counters: Mapping[str, int] = field(default_factory=dict)


def parse(body: bytes) -> Json:
    """The JSON value of a body. Raises Malformed: not UTF-8, not strict JSON, too deep, a lone surrogate anywhere."""
    try:
        text = body.decode("utf-8")
        value = strict_json.loads(text)
    except UnicodeDecodeError:
        raise Malformed("the reply is not UTF-8") from None
    except strict_json.DuplicateKey as error:  # quoted whole: a secret that was cut would no longer be found
        raise Malformed(f"the reply is not JSON: the key {json.dumps(error.key)} appears twice in one object") from None
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the reply is not JSON: {error}") from None
    if ("\\ud" in text or "\\uD" in text) and _SURROGATE.search(canonical.dumps(value)):
        raise Malformed("the reply has half a character in it (a lone surrogate)")
    return value


def empty_reason(finish_reason: str | None, *, refusal: bool = False, calls: bool = False) -> str:
    """The API's own word for why there is no output."""
    if refusal:
        return "empty:refusal"
    return _EMPTY_WORDS.get((finish_reason or "").lower(), "empty:tool_calls" if calls else "empty")


def mapping(value: Json, what: str) -> Mapping[str, Json]:
    """Raises Malformed unless `value` is an object."""
    if not isinstance(value, dict):  # what strict_json returns; far cheaper than asking for a Mapping
        raise Malformed(f"{what} is not an object")
    return value


def array(value: Json, what: str) -> Sequence[Json]:
    """Raises Malformed unless `value` is an array."""
    if not isinstance(value, list):
        raise Malformed(f"{what} is not an array")
    return value


def text(value: Json, what: str) -> str:
    """A text, empty where it is null. Raises Malformed for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{what} is not text")
    return value


def name(value: Json) -> str | None:
    """An id, model or reason, uncut as a secret may stand in it; None for anything but text, since these only describe."""
    return value if isinstance(value, str) and value else None


def count(value: Json) -> int | None:
    """A number of tokens; None for anything else."""
    if isinstance(value, Decimal) and value == value.to_integral_value() and value < 10**15:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def refuse_error(reply: Mapping[str, Json]) -> None:
    """Raises Malformed for a 200 that reports an error."""
    if reply.get("error") is not None or reply.get("type") == "error":
        raise Malformed("the reply reports an error with status 200")
