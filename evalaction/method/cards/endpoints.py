"""What each API needs of its endpoint, and where keys may go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from evalaction.method.cards.rules import Problem, own_arms, walk
from evalaction.method.reading.source import Path
from evalaction.method.reading.text import short, suggestion

_SHAPE = ("body", "text", "finish_reason", "usage_input", "usage_output", "id", "served_model")
_WIRE = ("url", "url_env", "key_env", "headers")
_HOSTED = ("poll", "trace", "counters")
_PROGRAM = ("run", "paths", "setup", "env")
_OURS = ("model", "messages", "stream", "n")
_OURS_TOO = {"anthropic": ("system",), "openai-responses": ("input",)}
UNFIT = {"background": "the reply comes before the answer", "conversation": "each draw sees the ones before it"}
"""Parameters of `openai-responses` under which a reply is no independent draw."""
_URL = re.compile(
    r"(https?)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::([0-9]{1,5}))?(/[^?#\s]*)?(\?[^#\s]*)?"
)
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_PLACE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_PLACES = ("prompt", "system", "messages", "model")
_SENT_BY_US = ("host", "content-length", "transfer-encoding", "connection", "content-type", "accept-encoding", "te", "upgrade")
_SECRET_HEADERS = ("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key")


@dataclass(frozen=True, slots=True)
class _Api:
    required: tuple[str, ...]
    forbidden: tuple[str, ...]
    address: bool
    """Exactly one of `url` and `url_env` is needed."""


_CHAT = (*_SHAPE, *_HOSTED, *_PROGRAM, "replies")
_APIS = {
    "openai": _Api(("model",), (*_CHAT, "api_version"), True),
    "openai-responses": _Api(("model",), (*_CHAT, "api_version"), True),
    "azure-openai": _Api(("model",), _CHAT, True),
    "anthropic": _Api(("model",), (*_CHAT, "api_version"), True),
    "http": _Api(("body", "text"), ("params", "replies", "api_version", *_PROGRAM), True),
    "command": _Api(("run", "paths"), (*_WIRE, *_SHAPE, *_HOSTED, "replies", "api_version"), False),
    "scripted": _Api(("replies",), (*_WIRE, *_SHAPE, *_HOSTED, *_PROGRAM, "price", "api_version"), False),
}


def problems(card: Any) -> Iterator[Problem]:
    """The problems of the endpoints of a card that fits the schema."""
    for name, endpoint in card["endpoints"].items():
        path: Path = ("endpoints", name)
        yield from _fields(path, endpoint)
        yield from _address(path, endpoint)
        yield from _headers(path, endpoint)
        yield from _params(path, endpoint)
        if endpoint["api"] == "http":
            yield from _body(path, endpoint)
    for arm, fields in own_arms(card).items():
        yield from _system(arm, fields, card["endpoints"].get(fields.get("endpoint"), {}))


def _fields(path: Path, endpoint: dict[str, Any]) -> Iterator[Problem]:
    api, rule = endpoint["api"], _APIS[endpoint["api"]]
    for field in endpoint:
        if field in rule.forbidden:
            yield Problem((*path, field), f"`{field}` does not belong to `api: {api}`; remove it", at_key=True)
    for field in rule.required:
        if field not in endpoint:
            yield Problem((*path, "api"), f"`api: {api}` needs `{field}`")
    if "url" in endpoint and "url_env" in endpoint:
        yield Problem((*path, "url_env"), "give `url` or `url_env`, not both", at_key=True)
    if rule.address and "url" not in endpoint and "url_env" not in endpoint:
        yield Problem((*path, "api"), f"`api: {api}` needs `url`, or `url_env` with the name of a variable")
    if api == "anthropic" and "max_tokens" not in endpoint.get("params", {}):
        yield Problem((*path, "api"), "`api: anthropic` needs `params.max_tokens`; its API refuses requests without")


def _address(path: Path, endpoint: dict[str, Any]) -> Iterator[Problem]:
    url = endpoint.get("url")
    if url is None:
        return
    path = (*path, "url")
    found = _URL.fullmatch(url)
    if found is None or (found[3] and not 1 <= int(found[3]) <= 65_535):
        yield Problem(path, f"`{short(url)}` is not an address like https://host/v1")
    elif found[5] and endpoint["api"] != "http":
        yield Problem(path, "a base address has no `?`; put parameters under `params`")
    elif _sends_secret(endpoint) and found[1] == "http" and not is_loopback(found[2]):
        yield Problem(path, "a key goes over https only (loopback excepted); write https://")


def _sends_secret(endpoint: dict[str, Any]) -> bool:
    return "key_env" in endpoint or any(isinstance(value, dict) for value in endpoint.get("headers", {}).values())


def is_loopback(host: str) -> bool:
    """True for `localhost` and the loopback addresses, with or without brackets."""
    host = host.strip("[]").casefold()
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _headers(path: Path, endpoint: dict[str, Any]) -> Iterator[Problem]:
    seen: set[str] = set()
    for name, value in endpoint.get("headers", {}).items():
        here, low = (*path, "headers", name), name.lower()
        if not _TOKEN.fullmatch(name):
            yield Problem(here, f"`{short(name)}` is not a header name", at_key=True)
        if low in seen:
            yield Problem(here, f"the header `{name}` appears twice", at_key=True)
        seen.add(low)
        if low in _SENT_BY_US:
            yield Problem(here, f"the header `{name}` is written by evalaction; remove it", at_key=True)
        if low in _SECRET_HEADERS and not isinstance(value, dict):
            yield Problem(here, f"the header `{name}` holds a secret; write {{env: NAME}} and keep its value in a variable")
        if isinstance(value, str) and (not value.isprintable() or value != value.strip() or not value.isascii()):
            yield Problem(here, f"the value of `{name}` must be printable ASCII without space around it")


def _params(path: Path, endpoint: dict[str, Any]) -> Iterator[Problem]:
    for name in endpoint.get("params", {}):
        refused = refused_param(endpoint["api"], name)
        if refused:
            yield Problem((*path, "params", name), refused, at_key=True)
    for name, why in UNFIT.items():
        if endpoint["api"] == "openai-responses" and endpoint.get("params", {}).get(name):
            yield Problem((*path, "params", name), f"with `{name}` {why}; remove it", at_key=True)


def refused_param(api: str, name: str) -> str | None:
    """Why a parameter may not have this name, wherever it is written; None for a good one."""
    if name not in (*_OURS, *_OURS_TOO.get(api, ())):
        return None
    return f"`params.{name}` {'belongs one level up' if name == 'model' else 'is written by evalaction; remove it'}"


def _body(path: Path, endpoint: dict[str, Any]) -> Iterator[Problem]:
    for inner, text, at_key in walk(endpoint["body"], (*path, "body")):
        for place in _PLACE.findall(text):
            if at_key or place.strip() not in _PLACES:
                near = suggestion(place.strip(), _PLACES)
                sentence = f"`{{{{{short(place)}}}}}` is not a place; `body` has {', '.join(_PLACES)}{near}"
                yield Problem(inner, sentence, at_key)
            elif place.strip() == "messages" and text != f"{{{{{place}}}}}":
                yield Problem(inner, "`{{messages}}` must be a text of its own, since it becomes a list")
            elif place.strip() == "model" and "model" not in endpoint:
                yield Problem(inner, "`{{model}}` needs the `model` of the endpoint")
    if not body_places(endpoint["body"]) & {"prompt", "messages"}:
        yield Problem(
            (*path, "body"), "`body` has neither `{{prompt}}` nor `{{messages}}`: all items would ask the same", at_key=True
        )


def body_places(body: Any) -> set[str]:
    """The names of the places that a body template holds."""
    return {place.strip() for _, text, at_key in walk(body) if not at_key for place in _PLACE.findall(text)}


def _system(arm: str, fields: dict[str, Any], endpoint: dict[str, Any]) -> Iterator[Problem]:
    if "system" in fields and endpoint.get("api") == "http" and not body_places(endpoint["body"]) & {"system", "messages"}:
        yield Problem(("arms", arm, "system"), "the body of this endpoint has no `{{system}}` or `{{messages}}` to put it in")
