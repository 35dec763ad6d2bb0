"""`api: openai`: chat completions, as OpenAI and the many servers that speak like it answer them.

The shape relied on (OpenAI's OpenAPI document 2.3.0 of github.com/openai/openai-openapi, read 2026-05-31): `choices[0].message`
with `content` (text or null), `refusal`, `tool_calls[].function.{name, arguments}` or `tool_calls[].custom.{name, input}`, or the
deprecated `function_call.{name, arguments}`; `finish_reason`; `usage.{prompt_tokens, completion_tokens}`; `id`, `model`,
`system_fingerprint`. An `error` in the choice, which gateways send where a provider broke off, is one of the whole reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalaction.endpoints import calls, reading
from evalaction.endpoints.reading import Malformed, Reading
from evalaction.endpoints.sending import as_json, refuse_params
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message, Output, Usage

_PATH = "/chat/completions"
_BROKE_OFF = {"error", "insufficient_system_resource"}
"""Finish reasons of OpenRouter and DeepSeek for an answer that the server did not end."""
OURS = {"model", "messages", "stream", "n"}


def path(base: str, _endpoint: Endpoint) -> str:
    """A bare host gets `/v1/chat/completions`, any other base `/chat/completions`."""
    if base.endswith(_PATH):
        return base
    return f"{base or '/v1'}{_PATH}"


def key_headers(key: str) -> tuple[tuple[str, str], ...]:
    return (("Authorization", f"Bearer {key}"),)


def own_headers() -> tuple[tuple[str, str], ...]:
    return ()


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    refuse_params(endpoint, OURS)
    model: dict[str, Json] = {"model": endpoint.model} if endpoint.model is not None else {}
    return {**model, "messages": as_json(messages), **endpoint.params}


def read(reply: Json, _endpoint: Endpoint, output: Output) -> Reading:
    reply = reading.mapping(reply, "the reply")
    reading.refuse_error(reply)
    choices = reading.array(reply.get("choices"), "choices")
    if not choices:
        raise Malformed("choices is empty")
    choice = reading.mapping(choices[0], "choices[0]")
    reading.refuse_error(choice)
    message = reading.mapping(choice.get("message"), "choices[0].message")
    content = reading.text(message.get("content"), "choices[0].message.content")
    called = _calls(message)
    refusal = reading.name(message.get("refusal"))
    finish_reason = reading.name(choice.get("finish_reason"))
    if finish_reason in _BROKE_OFF:
        raise Malformed(f"the answer broke off, its finish_reason is {finish_reason}")
    wanted = content if output == "text" else calls.render_unparsed(called)
    return Reading(
        output=wanted,
        empty=reading.empty_reason(finish_reason, refusal=refusal is not None, calls=output == "text" and bool(called)),
        shown=refusal or (content if output == "tool_calls" else None),
        finish_reason=finish_reason,
        usage=_usage(reply.get("usage")),
        served_model=reading.name(reply.get("model")),
        fingerprint=reading.name(reply.get("system_fingerprint")),
        response_id=reading.name(reply.get("id")),
    )


def _calls(message: Mapping[str, Json]) -> list[tuple[str, str]]:
    found = []
    for one in reading.array(message.get("tool_calls") or [], "tool_calls"):
        call = reading.mapping(one, "tool_calls[]")
        custom = call.get("type") == "custom"
        kind, given = ("custom", "input") if custom else ("function", "arguments")
        name, text = _named(reading.mapping(call.get(kind), f"tool_calls[].{kind}"), given, f"tool_calls[].{kind}")
        found.append((name, canonical.dumps(text) if custom else text))
    if not found and message.get("function_call") is not None:  # the older form, for requests with `functions`
        called = reading.mapping(message["function_call"], "function_call")
        found.append(_named(called, "arguments", "function_call"))
    return found


def _named(called: Mapping[str, Json], given: str, what: str) -> tuple[str, str]:
    name, text = called.get("name"), called.get(given)
    if not isinstance(name, str) or not isinstance(text, str):
        raise Malformed(f"{what} needs a name and {given} as text")
    return name, text


def _usage(usage: Json) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(input=reading.count(usage.get("prompt_tokens")), output=reading.count(usage.get("completion_tokens")))
