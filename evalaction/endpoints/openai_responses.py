"""`api: openai-responses`: the Responses API.

Shape after OpenAI's own description (OpenAPI document 2.3.0 of github.com/openai/openai-openapi, read 2026-05-31): `status` with
`incomplete_details.reason`; `output[]` of items with `type`: `message` with `content[]` of `output_text` (`text`) and `refusal`,
`function_call` with `name` and `arguments` as text, `custom_tool_call` with `name` and `input`, others passed over;
`usage.{input_tokens, output_tokens}`; `id`, `model`. There is no fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalaction.endpoints import calls, reading
from evalaction.endpoints.openai import key_headers, own_headers
from evalaction.endpoints.reading import Malformed, Reading
from evalaction.endpoints.sending import as_json, refuse_params
from evalaction.errors import UsageError
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message, Output, Usage

__all__ = ["body", "key_headers", "own_headers", "path", "read"]

_PATH = "/responses"
_OURS = {"model", "input", "messages", "stream", "n"}
_ENDED = {"completed", "incomplete"}


def path(base: str, _endpoint: Endpoint) -> str:
    """A bare host gets `/v1/responses`, any other base `/responses`."""
    if base.endswith(_PATH):
        return base
    return f"{base or '/v1'}{_PATH}"


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    refuse_params(endpoint, _OURS)
    if endpoint.params.get("background"):
        raise UsageError(f"Endpoint {endpoint.name}: with background the reply comes before the answer; remove it from params.")
    model: dict[str, Json] = {"model": endpoint.model} if endpoint.model is not None else {}
    return {**model, "input": as_json(messages), **endpoint.params}


def read(reply: Json, _endpoint: Endpoint, output: Output) -> Reading:
    reply = reading.mapping(reply, "the reply")
    reading.refuse_error(reply)
    status = reading.name(reply.get("status"))
    if status is not None and status not in _ENDED:
        raise Malformed(f"the reply is no finished response, its status is {status}")
    texts, refusals, called = _items(reading.array(reply.get("output"), "output"))
    content, refusal = "".join(texts), "".join(refusals)
    finish_reason = _why_incomplete(reply) or status
    return Reading(
        output=content if output == "text" else calls.render_unparsed(called),
        empty=reading.empty_reason(finish_reason, refusal=bool(refusal), calls=output == "text" and bool(called)),
        shown=refusal or (content if output == "tool_calls" else None),
        finish_reason=finish_reason,
        usage=_usage(reply.get("usage")),
        served_model=reading.name(reply.get("model")),
        response_id=reading.name(reply.get("id")),
    )


def _items(items: Sequence[Json]) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Texts, refusals and calls, each in the order of the output."""
    texts: list[str] = []
    refusals: list[str] = []
    called: list[tuple[str, str]] = []
    for one in items:
        item = reading.mapping(one, "output[]")
        if item.get("type") == "message":
            _message(item, texts, refusals)
        elif item.get("type") in {"function_call", "custom_tool_call"}:
            called.append(_call(item))
    return texts, refusals, called


def _message(item: Mapping[str, Json], texts: list[str], refusals: list[str]) -> None:
    for one in reading.array(item.get("content"), "output[].content"):
        part = reading.mapping(one, "output[].content[]")
        if part.get("type") == "output_text":
            texts.append(reading.text(part.get("text"), "output[].content[].text"))
        elif part.get("type") == "refusal":
            refusals.append(reading.text(part.get("refusal"), "output[].content[].refusal"))


def _call(item: Mapping[str, Json]) -> tuple[str, str]:
    """The name and the arguments as JSON text; a custom tool's free text becomes a JSON string."""
    custom = item.get("type") == "custom_tool_call"
    name, given = item.get("name"), item.get("input" if custom else "arguments")
    if not isinstance(name, str) or not isinstance(given, str):
        raise Malformed("a call in the output needs a name and its arguments as text")
    return name, canonical.dumps(given) if custom else given


def _why_incomplete(reply: Mapping[str, Json]) -> str | None:
    details = reply.get("incomplete_details")
    return reading.name(details.get("reason")) if isinstance(details, Mapping) else None


def _usage(usage: Json) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(input=reading.count(usage.get("input_tokens")), output=reading.count(usage.get("output_tokens")))
