"""`api: scripted`: replies from a committed JSONL file, for demos and tests. Opens no socket.

One line for each item: `{"id": "t1", "replies": ["yes", {"text": "no", "ms": 40}, {"reason": "status:503", "error": "busy"}]}`;
the id `*` answers every item without a line of its own. Draw k gets reply k, counted around. A reply that is an object may hold
`text`, `finish_reason`, `served_model`, `fingerprint`, `response_id`, `usage: {input, output}`, `cache_hit`; to fail, `reason`
with `error` and `retry_after`; `ms` is the time it claims to have taken, `delay_ms` a time that is really waited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evalaction.endpoints import reading
from evalaction.endpoints.reading import Reading
from evalaction.endpoints.sending import as_json
from evalaction.endpoints.unconnected import key_headers, own_headers, path
from evalaction.errors import SourceError
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.reading import strict_json
from evalaction.method.records import Message, Output, Usage

__all__ = ["ANY", "body", "key_headers", "own_headers", "parse_replies", "path", "read"]

ANY = "*"
_TEXTS = {"text", "finish_reason", "served_model", "fingerprint", "response_id", "cache_hit", "reason", "error", "retry_after"}
_TIMES = {"ms", "delay_ms"}
_REASON = re.compile(
    r"dns|connect|tls|timeout|reset|cut|status:[1-5][0-9]{2}|malformed|oversize|empty(?::(?:length|refusal|filter|tool_calls))?"
)


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    return {"model": endpoint.model, "messages": as_json(messages), "params": endpoint.params}


def read(reply: Json, _endpoint: Endpoint, _output: Output) -> Reading:
    reply = reading.mapping(reply, "the reply")
    usage = reply.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    finish_reason = reading.name(reply.get("finish_reason"))
    return Reading(
        output=reading.text(reply.get("text"), "text"),
        empty=reading.empty_reason(finish_reason),
        finish_reason=finish_reason,
        usage=Usage(input=reading.count(counted.get("input")), output=reading.count(counted.get("output"))),
        served_model=reading.name(reply.get("served_model")),
        fingerprint=reading.name(reply.get("fingerprint")),
        response_id=reading.name(reply.get("response_id")),
    )


def parse_replies(data: bytes, *, file: str) -> Mapping[str, tuple[Mapping[str, Json], ...]]:
    """Item id to its replies, each as an object. Raises SourceError with the line."""
    replies: dict[str, tuple[Mapping[str, Json], ...]] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = strict_json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise SourceError(f"This line is not JSON: {error}.", file=file, line=number) from None
        if not isinstance(value, Mapping) or set(value) != {"id", "replies"} or not isinstance(value["id"], str):
            raise SourceError('Each line must be {"id": "…", "replies": […]}.', file=file, line=number)
        if value["id"] in replies:
            raise SourceError(f"The id {value['id']!r} has two lines; remove one.", file=file, line=number)
        listed = value["replies"]
        if not isinstance(listed, list) or not listed:
            raise SourceError("replies must be a list with at least one reply.", file=file, line=number)
        replies[value["id"]] = tuple(_reply(one, file=file, line=number) for one in listed)
    if not replies:
        raise SourceError("There is no reply in this file.", file=file)
    return replies


def _reply(value: Json, *, file: str, line: int) -> Mapping[str, Json]:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, Mapping):
        raise SourceError("A reply is a text or an object.", file=file, line=line)
    for name, one in value.items():
        right = one is None
        if name in _TEXTS:
            right = right or isinstance(one, str)
        elif name in _TIMES:
            right = reading.count(one) is not None
        elif name == "usage":
            right = isinstance(one, Mapping)
        else:
            raise SourceError(f"A reply has no field {name!r}.", file=file, line=line)
        if not right:
            raise SourceError(f"The field {name} of a reply has a value of the wrong kind.", file=file, line=line)
    reason = value.get("reason")
    if reason is not None and (not _REASON.fullmatch(str(reason)) or reason == "status:200" or value.get("text")):
        raise SourceError(
            "reason must be a reach reason such as timeout or status:503, and stand without text.", file=file, line=line
        )
    return value
