"""`api: azure-openai`: chat completions at an Azure OpenAI resource, which replies as OpenAI does.

With an `api_version` that is a date the request goes to a deployment, whose name is the endpoint's `model`, and the body names no
model: `/openai/deployments/{model}/chat/completions?api-version=…` (Azure's description of version 2024-10-21). Without one, or
with `v1` or `preview`, it goes to `/openai/v1/chat/completions` with the model in its body (Azure's description of its v1 API).
Both are of github.com/Azure/azure-rest-api-specs, read 2026-05-31. The key travels in the header `api-key`. A prompt that the
content filter refuses is a status 400; where the filter cuts an answer, the finish reason is `content_filter`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote

from evalaction.endpoints import openai
from evalaction.endpoints.openai import own_headers, read
from evalaction.endpoints.sending import as_json, refuse_params
from evalaction.errors import UsageError
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.records import Message

__all__ = ["body", "key_headers", "own_headers", "path", "read"]

_CHAT = "/chat/completions"
_V1 = "/openai/v1"
_NAMED = re.compile(r".*/openai/deployments/([^/]+)(?:/chat/completions)?")


def path(base: str, endpoint: Endpoint) -> str:
    """Any base from the bare resource to the whole address is completed; raises UsageError for one that contradicts the card."""
    named = _NAMED.fullmatch(base)
    if not by_deployment(endpoint):
        if named:
            raise UsageError(f"Endpoint {endpoint.name}: its address names a deployment, which needs a date as api_version.")
        whole = base.endswith((_V1, _V1 + _CHAT))
        return openai.path(base if whole else base.removesuffix("/openai") + _V1, endpoint)
    if named:
        if unquote(named[1]) != endpoint.model:
            raise UsageError(f"Endpoint {endpoint.name}: its address names another deployment than model; make them the same.")
        return openai.path(base, endpoint)
    if base.endswith((_V1, _V1 + _CHAT)):
        raise UsageError(f"Endpoint {endpoint.name}: its address is that of the v1 API; remove api_version.")
    return f"{base.removesuffix('/openai')}/openai/deployments/{quote(_model(endpoint), safe='')}{_CHAT}"


def key_headers(key: str) -> tuple[tuple[str, str], ...]:
    return (("api-key", key),)


def body(endpoint: Endpoint, messages: Sequence[Message]) -> Json:
    refuse_params(endpoint, openai.OURS)
    model: dict[str, Json] = {} if by_deployment(endpoint) else {"model": _model(endpoint)}
    return {**model, "messages": as_json(messages), **endpoint.params}


def by_deployment(endpoint: Endpoint) -> bool:
    """Whether the model is named by the address."""
    return endpoint.api_version not in {None, "v1", "preview"}


def _model(endpoint: Endpoint) -> str:
    if endpoint.model is None:
        raise UsageError(f"Endpoint {endpoint.name}: api azure-openai needs a model, the name of the deployment.")
    return endpoint.model
