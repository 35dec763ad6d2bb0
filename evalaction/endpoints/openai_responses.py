"""`api: openai-responses`: the Responses API.

Shape after OpenAI's own description (OpenAPI document 2.3.0 of github.com/openai/openai-openapi, read 2026-05-31): `status` with
`incomplete_details.reason`; `output[]` of items with `type`: `message` with `content[]` of `output_text` (`text`) and `refusal`,
and a `phase` that may say `commentary`, which is no answer; `function_call` with `name` and `arguments` as text,
`custom_tool_call` with `name` and `input`; others are passed over, but those that wait for a tool of the client's are known.
`usage.{input_tokens, output_tokens}`; `id`, `model`. There is no fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalaction.endpoints import calls, reading
from evalaction.endpoints.openai import key_headers, own_headers
from evalaction.endpoints.reading import Malformed, Reading
from evalaction.endpoints.sending import as_json, refuse_params
from evalaction.errors import UsageError
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.cards.endpoints import UNFIT
from evalaction.method.records import Message, Output, Usage

__all__ = ["body", "key_headers", "own_headers", "path", "read"]

_PATH = "/responses"
_OURS = {"model", "input", "messages", "stream", "n"}
_ENDED = {"completed", "incomplete"}
_WAITING = {"computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"}
"""Items, beside calls with a name, after which the client has to do something before there is an answer."""


def path(base: str, _endpoint: Endpoint) -> str:
    """A bare host gets `/v1/responses`, any other base `/responses`."""
    if base.endswith(_PATH):
        return base
    return f"{base or '/v1'}{_PATH}"


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    refuse_params(endpoint, _OURS)
    for name, why in UNFIT.items():
        if endpoint.params.get(name):
            raise UsageError(f"Endpoint {endpoint.name}: with {name} {why}; remove it from params.")
    model: dict[str, Json] = {"model": endpoint.model} if endpoint.model is not None else {}
    return {**model, "input": as_json(messages), **endpoint.params}


def read(reply: Json, _endpoint: Endpoint, output: Output) -> Reading:
    reply = reading.mapping(reply, "the reply")
    reading.refuse_error(reply)
    status = reading.name(reply.get("status"))
    if status is not None and status not in _ENDED:
        raise Malformed(f"the reply is no finished response, its status is {status}")
    found = _Items()
    for one in reading.array(reply.get("output"), "output"):
        found.add(reading.mapping(one, "output[]"))
    content, refusal = "".join(found.texts), "".join(found.refusals)
    finish_reason = _why_incomplete(reply) or status
    return Reading(
        output=content if output == "text" else calls.render_unparsed(found.called),
        empty=reading.empty_reason(finish_reason, refusal=bool(refusal), calls=output == "text" and found.waits),
        shown=refusal or (content if output == "tool_calls" else None) or "".join(found.asides),
        finish_reason=finish_reason,
        usage=_usage(reply.get("usage")),
        served_model=reading.name(reply.get("model")),
        response_id=reading.name(reply.get("id")),
    )


@dataclass(slots=True)
class _Items:
    """What the items of an output hold, each kind in the order of the output."""

    texts: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    """Commentary on the way to the answer."""
    refusals: list[str] = field(default_factory=list)
    called: list[tuple[str, str]] = field(default_factory=list)
    waits: bool = False
    """For a tool of the client's."""

    def add(self, item: Mapping[str, Json]) -> None:
        kind = item.get("type")
        if kind == "message":
            self._message(item)
        elif kind in {"function_call", "custom_tool_call"}:
            self.called.append(_call(item))
            self.waits = True
        elif isinstance(kind, str) and kind in _WAITING:
            self.waits = True

    def _message(self, item: Mapping[str, Json]) -> None:
        texts = self.asides if item.get("phase") == "commentary" else self.texts
        for one in reading.array(item.get("content"), "output[].content"):
            part = reading.mapping(one, "output[].content[]")
            if part.get("type") == "output_text":
                texts.append(reading.text(part.get("text"), "output[].content[].text"))
            elif part.get("type") == "refusal":
                self.refusals.append(reading.text(part.get("refusal"), "output[].content[].refusal"))


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
