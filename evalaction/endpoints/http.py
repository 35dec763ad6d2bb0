"""`api: http`: any JSON endpoint, described by a body template and JSON Pointers.

In strings of the body `{{prompt}}` is the only user message, `{{system}}` the system message, `{{model}}` the endpoint's model;
the string `{{messages}}` alone becomes the list of all messages. Filled-in text is never filled again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evalaction.endpoints import reading
from evalaction.endpoints.pointer import Missing, refuse_bad, resolve
from evalaction.endpoints.reading import Malformed, Reading
from evalaction.endpoints.sending import as_json
from evalaction.errors import UsageError
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint, HttpShape
from evalaction.method.records import Message, Output, Usage

_PLACE = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}")
_KNOWN = ("prompt", "system", "messages", "model")


def path(base: str, _endpoint: Endpoint) -> str:
    """The address is complete as it is."""
    return base


def key_headers(key: str) -> tuple[tuple[str, str], ...]:
    return (("Authorization", f"Bearer {key}"),)


def own_headers() -> tuple[tuple[str, str], ...]:
    return ()


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    shape = _shape(endpoint)
    if endpoint.params:
        raise UsageError(f"Endpoint {endpoint.name}: api http has no params; write them into body.")
    used = _places(shape.body)
    _refuse_unsent(endpoint, messages, used)
    texts = {
        "prompt": "".join(message.content for message in messages if message.role == "user"),
        "system": "".join(message.content for message in messages if message.role == "system"),
        "model": endpoint.model or "",
    }
    return _fill(shape.body, texts, as_json(messages))


def read(reply: Json, endpoint: Endpoint, output: Output) -> Reading:
    shape = _shape(endpoint)
    try:
        found = resolve(reply, shape.text)
    except Missing:
        raise Malformed(f"the reply has nothing at {shape.text}") from None
    if output == "tool_calls" and isinstance(found, (list, Mapping)):
        found = canonical.dumps(found) if found else ""
    finish_reason = reading.name(_at(reply, shape.finish_reason))
    trace = _at(reply, endpoint.trace)
    return Reading(
        output=reading.text(found, f"the value at {shape.text}"),
        empty=reading.empty_reason(finish_reason),
        finish_reason=finish_reason,
        usage=Usage(input=reading.count(_at(reply, shape.usage_input)), output=reading.count(_at(reply, shape.usage_output))),
        served_model=reading.name(_at(reply, shape.served_model)),
        response_id=reading.name(_at(reply, shape.id)),
        trace=trace,
        counters=counted(trace, endpoint),
    )


def traced(reply: Json, endpoint: Endpoint) -> tuple[Json, Mapping[str, int]]:
    """The trace and the counters in a reply that carries no text."""
    trace = _at(reply, endpoint.trace)
    return trace, counted(trace, endpoint)


def counted(trace: Json, endpoint: Endpoint) -> Mapping[str, int]:
    """The declared counters that are whole numbers in the trace."""
    found = ((name, reading.count(_at(trace, pointer))) for name, pointer in endpoint.counters.items())
    return {name: number for name, number in found if number is not None}


def _shape(endpoint: Endpoint) -> HttpShape:
    shape = endpoint.http
    if shape is None:
        raise UsageError(f"Endpoint {endpoint.name}: api http needs a body and the pointer to the text of the reply.")
    for pointer in (shape.text, shape.finish_reason, shape.usage_input, shape.usage_output, shape.id, shape.served_model):
        if pointer is not None:
            refuse_bad(pointer, what=f"Endpoint {endpoint.name}: {pointer}")
    return shape


def _at(reply: Json, pointer: str | None) -> Json:
    try:
        return None if pointer is None else resolve(reply, pointer)
    except Missing:
        return None


def _places(template: Json) -> set[str]:
    """Names of all places in the strings of a template."""
    if isinstance(template, str):
        return set(_PLACE.findall(template))
    if isinstance(template, Mapping):
        return set().union(*map(_places, template.values()))
    if isinstance(template, Sequence):
        return set().union(*map(_places, template))
    return set()


def _refuse_unsent(endpoint: Endpoint, messages: Sequence[Message], used: set[str]) -> None:
    """Raises UsageError for a place that is not known, and for a message that the body would leave out."""
    for name in sorted(used.difference(_KNOWN)):
        raise UsageError(f"Endpoint {endpoint.name}: body has an unknown place {{{{{name}}}}}; use {', '.join(_KNOWN)}.")
    if "model" in used and endpoint.model is None:
        raise UsageError(f"Endpoint {endpoint.name}: body has a place {{{{model}}}}, but the endpoint names no model.")
    if "messages" in used:
        return
    roles = [message.role for message in messages]
    if "prompt" not in used or [role for role in roles if role != "system"] != ["user"]:
        raise UsageError(
            f"Endpoint {endpoint.name}: body needs {{{{messages}}}}, or {{{{prompt}}}} where there is one user message."
        )
    if ("system" in roles and "system" not in used) or roles.count("system") > 1:
        raise UsageError(f"Endpoint {endpoint.name}: body would leave a system message out; give it a place {{{{system}}}}.")


def _fill(template: Json, texts: Mapping[str, str], messages: Json) -> Json:
    if isinstance(template, str):
        alone = _PLACE.fullmatch(template)
        if alone and alone[1] == "messages":
            return messages
        if "messages" in _PLACE.findall(template):
            raise UsageError("In the body of api http {{messages}} must be a string of its own, since it becomes a list.")
        return _PLACE.sub(lambda place: texts[place[1]], template)
    if isinstance(template, Mapping):
        return {key: _fill(value, texts, messages) for key, value in template.items()}
    if isinstance(template, Sequence):
        return [_fill(value, texts, messages) for value in template]
    return template
