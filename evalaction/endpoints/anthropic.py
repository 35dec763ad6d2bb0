"""`api: anthropic`: the Messages API.

The shape relied on (Anthropic's OpenAPI document for its clients, read 2026-05-31): `content[]` of blocks with `type` (`text`
with `text`, `tool_use` with `name` and `input`, others passed over); `stop_reason`, with `stop_details.explanation` of a
refusal; `usage.{input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens}`; `id`, `model`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalaction.endpoints import calls, reading
from evalaction.endpoints.reading import Malformed, Reading
from evalaction.endpoints.sending import as_json, refuse_params
from evalaction.errors import UsageError
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message, Output, Usage

_PATH = "/v1/messages"
_OURS = {"model", "messages", "stream", "n", "system"}
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def path(base: str, _endpoint: Endpoint) -> str:
    """`/v1/messages`, or what of it `base` does not end with."""
    if base.endswith("/messages"):
        return base
    return base.removesuffix("/v1") + _PATH


def key_headers(key: str) -> tuple[tuple[str, str], ...]:
    return (("x-api-key", key),)


def own_headers() -> tuple[tuple[str, str], ...]:
    return (("anthropic-version", "2023-06-01"),)


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    refuse_params(endpoint, _OURS)
    if endpoint.model is None or "max_tokens" not in endpoint.params:
        raise UsageError(f"Endpoint {endpoint.name}: api anthropic needs a model and max_tokens in params.")
    turns = [message for message in messages if message.role != "system"]
    if list(messages[len(messages) - len(turns) :]) != turns:
        raise UsageError(f"Endpoint {endpoint.name}: api anthropic takes system messages only before all others.")
    if not turns or any(message.role not in {"user", "assistant"} for message in turns):
        raise UsageError(f"Endpoint {endpoint.name}: api anthropic takes user and assistant messages, at least one.")
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    asked: dict[str, Json] = {"model": endpoint.model, "messages": as_json(turns)}
    return asked | ({"system": system} if system else {}) | dict(endpoint.params)


def read(reply: Json, _endpoint: Endpoint, output: Output) -> Reading:
    reply = reading.mapping(reply, "the reply")
    reading.refuse_error(reply)
    texts: list[str] = []
    called: list[tuple[str, Json]] = []
    for one in reading.array(reply.get("content"), "content"):
        block = reading.mapping(one, "content[]")
        if block.get("type") == "text":
            texts.append(reading.text(block.get("text"), "content[].text"))
        elif block.get("type") == "tool_use":
            called.append(_call(block))
    content = "".join(texts)
    finish_reason = reading.name(reply.get("stop_reason"))
    if finish_reason == "pause_turn":
        raise Malformed("the turn is paused, not ended: the server's tools went on for too long; remove them from params")
    return Reading(
        output=content if output == "text" else calls.render(called),
        empty=reading.empty_reason(finish_reason, calls=output == "text" and bool(called)),
        shown=(content if output == "tool_calls" else None) or _explained(reply.get("stop_details")),
        finish_reason=finish_reason,
        usage=_usage(reply.get("usage")),
        served_model=reading.name(reply.get("model")),
        response_id=reading.name(reply.get("id")),
    )


def _call(block: Mapping[str, Json]) -> tuple[str, Json]:
    name, arguments = block.get("name"), block.get("input")
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        raise Malformed("a tool_use block needs a name and an input object")
    return name, arguments


def _explained(details: Json) -> str | None:
    """What a refusal says of itself."""
    return reading.name(details.get("explanation")) if isinstance(details, Mapping) else None


def _usage(usage: Json) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    counted = [tokens for field in _INPUT if (tokens := reading.count(usage.get(field))) is not None]
    return Usage(input=sum(counted) if counted else None, output=reading.count(usage.get("output_tokens")))
