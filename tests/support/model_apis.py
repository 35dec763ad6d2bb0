"""The vendors' descriptions of their model APIs as judges of what we send and of what a stand-in answers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from support.github_openapi import adapted

_FOLDER = Path(__file__).parents[1] / "data" / "model_apis"
RESPONSES = ("openai", "/responses")
CHAT = ("openai", "/chat/completions")
AZURE_CHAT = ("azure", "/deployments/{deployment-id}/chat/completions")


@cache
def _document(name: str) -> Any:
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@cache
def _validator(name: str, path: str, part: str) -> jsonschema.Draft202012Validator:
    document = _document(name)
    root = adapted(document["paths"][path]["post"][part])
    schemas = {key: adapted(schema) for key, schema in document["components"]["schemas"].items()}
    strict = {"unevaluatedProperties": False} if part == "request" else {}
    return jsonschema.Draft202012Validator({"allOf": [root], **strict, "components": {"schemas": schemas}})


def problems(operation: tuple[str, str], part: str, value: Any) -> list[str]:
    """What is wrong with a `request` or a `reply` of an operation; a request may hold no field that the vendor does not name."""
    errors = _validator(*operation, part).iter_errors(value)
    return [f"{error.json_path}: {error.message[:300]}" for error in errors]


def parameters(operation: tuple[str, str]) -> dict[str, Any]:
    """The parameters of an operation by name."""
    name, path = operation
    return {one["name"]: one for one in _document(name)["paths"][path]["post"]["parameters"]}


def response(*items: dict[str, Any], status: str = "completed", why: str | None = None, **more: Any) -> dict[str, Any]:
    """A reply of the Responses API, with every field that its description requires."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "error": None,
        "incomplete_details": None if why is None else {"reason": why},
        "instructions": None,
        "model": "stub-1-2026-01-01",
        "output": list(items),
        "parallel_tool_calls": True,
        "metadata": {},
        "tools": [],
        "tool_choice": "auto",
        "temperature": 1,
        "top_p": 1,
        "usage": {
            "input_tokens": 7,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 9,
        },
    } | more


def said(*texts: str, refusal: str | None = None) -> dict[str, Any]:
    """An output message."""
    content: list[dict[str, Any]] = [{"type": "output_text", "text": one, "annotations": [], "logprobs": []} for one in texts]
    if refusal is not None:
        content.append({"type": "refusal", "refusal": refusal})
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def called(name: str, arguments: str) -> dict[str, Any]:
    """A function call among the output."""
    return {"id": "fc_1", "type": "function_call", "call_id": "c_1", "name": name, "arguments": arguments, "status": "completed"}


def thought() -> dict[str, Any]:
    return {"id": "rs_1", "type": "reasoning", "summary": []}


def azure_chat(text: str | None = "ok", *, finish_reason: str = "stop", filtered: bool = False, **more: Any) -> dict[str, Any]:
    """A chat completion as Azure answers it, with the verdicts of its content filter."""
    severity = {"filtered": filtered, "severity": "high" if filtered else "safe"}
    verdicts = {"hate": {"filtered": False, "severity": "safe"}, "violence": severity}
    message = {"role": "assistant", "content": text, "refusal": None} | more
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "logprobs": None,
        "message": message,
        "content_filter_results": verdicts,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "stub-1-2026-01-01",
        "choices": [choice],
        "prompt_filter_results": [
            {"prompt_index": 0, "content_filter_results": verdicts | {"jailbreak": {"filtered": False, "detected": False}}}
        ],
        "system_fingerprint": "fp_azure",
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }
