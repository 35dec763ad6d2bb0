"""The APIs of OpenAI and Azure over a real socket: requests and replies are judged by the vendors' own descriptions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from support.asking import KEY, PROMPT, ask_once, endpoint
from support.endpoint_server import Received, chat, response, serving
from support.model_apis import AZURE_CHAT, CHAT, RESPONSES, azure_chat, called, parameters, problems, said, thought
from support.model_apis import response as answer

from evalaction.endpoints import build_request
from evalaction.errors import UsageError
from evalaction.method.canonical import Json
from evalaction.method.records import Completion, Message, Output, Usage

TOOL: dict[str, Json] = {"name": "lookup", "parameters": {"type": "object", "properties": {}}, "strict": False}
CALLS = [("lookup", '{ "city": "Bern", "days": 2 }'), ("stop", "{}")]
CANONICAL = '[{"arguments":{"city":"Bern","days":2},"name":"lookup"},{"arguments":{},"name":"stop"}]'


def exchange(api: str, reply: Any, *, output: Output = "text", status: int = 200, **fields: Any) -> tuple[Completion, Received]:
    with serving(lambda received: response(reply, status=status)) as server:
        found = ask_once(endpoint(server.url, api=api, key_env="K", **fields), environ={"K": KEY}, output=output)
        return found, server.requests[0]


def judged(operation: tuple[str, str], reply: Any) -> Any:
    """The reply, once the vendor's description has accepted it."""
    assert problems(operation, "reply", reply) == []
    return reply


def test_a_response() -> None:
    reply = judged(RESPONSES, answer(thought(), said("fo", "ur")))
    params = {"temperature": 0.2, "max_output_tokens": 400, "tools": [TOOL | {"type": "function"}], "tool_choice": "required"}
    found, sent = exchange("openai-responses", reply, params=params)
    assert (found.output, found.finish_reason, found.response_id) == ("four", "completed", "resp_1")
    assert (found.usage, found.served_model) == (Usage(input=7, output=2), "stub-1-2026-01-01")
    assert (sent.target, sent.headers["authorization"]) == ("/v1/responses", f"Bearer {KEY}")
    assert sent.json == {"model": "stub-1", "input": [{"role": "user", "content": "Say ok."}], **params}
    assert problems(RESPONSES, "request", sent.json) == []


def test_every_role_of_a_conversation_is_one_that_the_api_has() -> None:
    turns = [Message("system", "Be brief."), Message("user", "2+2?"), Message("assistant", "5"), Message("user", "Sure?")]
    for api, operation in (("openai-responses", RESPONSES), ("openai", CHAT), ("azure-openai", CHAT)):
        body = build_request(endpoint("https://a.example", api=api), turns, "text").body
        assert problems(operation, "request", json.loads(body)) == []


@pytest.mark.parametrize(
    ("reason", "reply", "shown"),
    [
        ("empty", answer(), None),
        ("empty", answer(said(" \n")), None),
        ("empty", answer(thought()), None),
        ("empty:length", answer(thought(), status="incomplete", why="max_output_tokens"), None),
        ("empty:filter", answer(status="incomplete", why="content_filter"), None),
        ("empty:refusal", answer(said(refusal="I cannot help with that.")), "I cannot help with that."),
        ("empty:tool_calls", answer(called("lookup", "{}")), None),
    ],
)
def test_a_response_without_a_text(reason: str, reply: Any, shown: str | None) -> None:
    found, _ = exchange("openai-responses", judged(RESPONSES, reply))
    assert (found.reason, found.error) == (reason, shown)


def test_commentary_on_the_way_is_no_answer() -> None:
    aside, final = said("Let me count. ") | {"phase": "commentary"}, said("42") | {"phase": "final_answer"}
    found, _ = exchange("openai-responses", judged(RESPONSES, answer(thought(), aside, final)))
    assert found.output == "42"
    cut = judged(RESPONSES, answer(aside, status="incomplete", why="max_output_tokens"))
    found, _ = exchange("openai-responses", cut)
    assert (found.reason, found.error) == ("empty:length", "Let me count. ")
    found, _ = exchange("openai-responses", judged(RESPONSES, answer(said("42") | {"phase": None})))
    assert found.output == "42"


@pytest.mark.parametrize("kind", ["computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"])
def test_what_waits_for_a_tool_of_the_client_is_no_empty_answer(kind: str) -> None:
    assert exchange("openai-responses", answer({"id": "x_1", "type": kind}))[0].reason == "empty:tool_calls"
    served = answer({"id": "x_1", "type": "web_search_call", "status": "completed"})
    assert exchange("openai-responses", served)[0].reason == "empty"


@pytest.mark.parametrize("why", ["max_output_tokens", "content_filter"])
def test_a_response_that_was_cut_is_graded_and_says_why_it_ended(why: str) -> None:
    found, _ = exchange("openai-responses", judged(RESPONSES, answer(said('{"a": '), status="incomplete", why=why)))
    assert (found.output, found.finish_reason) == ('{"a": ', why)


@pytest.mark.parametrize("status", ["failed", "in_progress", "cancelled", "queued"])
def test_a_response_that_is_not_finished(status: str) -> None:
    error = {"code": "server_error", "message": "The server had an error."} if status == "failed" else None
    found, _ = exchange("openai-responses", judged(RESPONSES, answer(said("4"), status=status, error=error)))
    assert found.reason == "malformed"


@pytest.mark.parametrize(
    "reply",
    [
        chat(),
        answer() | {"output": "text"},
        answer({"type": "message", "content": "text"}),
        answer({"type": "message", "content": [{"type": "output_text", "text": 7}]}),
        answer({"type": "function_call", "name": "f", "arguments": {}}),
        answer({"type": "custom_tool_call", "name": "f"}),
        answer("text"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_response(reply: Any) -> None:
    assert problems(RESPONSES, "reply", reply) != []
    assert exchange("openai-responses", reply)[0].reason == "malformed"


def test_fields_that_servers_like_it_leave_out() -> None:
    reply = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]}
    found, _ = exchange("openai-responses", reply)
    assert (found.output, found.finish_reason, found.usage, found.served_model) == ("ok", None, Usage(), None)


def test_the_tool_calls_of_all_three_apis_are_one_text() -> None:
    listed = [{"id": "c", "type": "function", "function": {"name": name, "arguments": text}} for name, text in CALLS]
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "shell", "input": 'echo "hi"'}
    replies = {
        "openai-responses": judged(RESPONSES, answer(thought(), *(called(*one) for one in CALLS))),
        "openai": judged(CHAT, azure_chat(None, finish_reason="tool_calls", tool_calls=listed)),
        "azure-openai": judged(AZURE_CHAT, azure_chat(None, finish_reason="tool_calls", tool_calls=listed)),
    }
    for api, reply in replies.items():
        assert exchange(api, reply, output="tool_calls")[0].output == CANONICAL, api
    shell = '[{"arguments":"echo \\"hi\\"","name":"shell"}]'
    assert exchange("openai-responses", judged(RESPONSES, answer(custom)), output="tool_calls")[0].output == shell
    chosen = [{"id": "c", "type": "custom", "custom": {"name": "shell", "input": 'echo "hi"'}}]
    assert exchange("openai", judged(CHAT, azure_chat(None, tool_calls=chosen)), output="tool_calls")[0].output == shell


def test_prose_in_place_of_a_call() -> None:
    found, _ = exchange("openai-responses", judged(RESPONSES, answer(said("It is sunny."))), output="tool_calls")
    assert (found.reason, found.error) == ("empty", "It is sunny.")
    cut = judged(RESPONSES, answer(called("lookup", '{"city": "Be'), status="incomplete", why="max_output_tokens"))
    assert exchange("openai-responses", cut, output="tool_calls")[0].output == '[{"name":"lookup","arguments":{"city": "Be'


def test_a_response_in_the_background_would_come_before_its_answer() -> None:
    with pytest.raises(UsageError, match="with background the reply comes before the answer"):
        build_request(endpoint("https://a.example", api="openai-responses", params={"background": True}), PROMPT, "text")
    with pytest.raises(UsageError, match="with conversation each draw sees the ones before it"):
        build_request(endpoint("https://a.example", api="openai-responses", params={"conversation": "conv_1"}), PROMPT, "text")
    with pytest.raises(UsageError, match="params must not hold input"):
        build_request(endpoint("https://a.example", api="openai-responses", params={"input": "x"}), PROMPT, "text")
    assert b'"model"' not in build_request(endpoint("https://a.example", api="openai-responses", model=None), PROMPT, "text").body


def test_azure_by_deployment() -> None:
    params = {"temperature": 0.2, "max_tokens": 400, "tools": [{"type": "function", "function": TOOL}]}
    version = parameters(AZURE_CHAT)["api-version"]["schema"]
    assert parameters(AZURE_CHAT)["api-version"] == {"in": "query", "name": "api-version", "required": True, "schema": version}
    reply = judged(AZURE_CHAT, azure_chat("four"))
    found, sent = exchange("azure-openai", reply, model="my gpt/4", api_version="2024-10-21", params=params)
    assert (found.output, found.finish_reason, found.fingerprint) == ("four", "stop", "fp_azure")
    assert (found.usage, found.served_model) == (Usage(input=7, output=2), "stub-1-2026-01-01")
    assert sent.target == "/openai/deployments/my%20gpt%2F4/chat/completions?api-version=2024-10-21"
    assert (sent.headers["api-key"], sent.headers.get("authorization")) == (KEY, None)
    assert sent.json == {"messages": [{"role": "user", "content": "Say ok."}], **params}
    assert problems(AZURE_CHAT, "request", sent.json) == []


@pytest.mark.parametrize(("version", "query"), [(None, ""), ("preview", "?api-version=preview"), ("v1", "?api-version=v1")])
def test_azure_v1(version: str | None, query: str) -> None:
    found, sent = exchange("azure-openai", judged(AZURE_CHAT, azure_chat("four")), api_version=version)
    assert (found.output, sent.target) == ("four", f"/openai/v1/chat/completions{query}")
    assert sent.headers["api-key"] == KEY
    assert problems(CHAT, "request", sent.json) == [] and sent.json["model"] == "stub-1"


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        ("empty:filter", azure_chat("", finish_reason="content_filter", filtered=True)),
        ("empty:filter", azure_chat(None, finish_reason="content_filter", filtered=True)),
        ("empty:length", azure_chat(None, finish_reason="length")),
        ("empty:refusal", azure_chat(None, refusal="No.")),
        ("empty:tool_calls", azure_chat(None, finish_reason="tool_calls")),
        ("empty", azure_chat(None)),
    ],
)
def test_azure_without_a_text(reason: str, reply: Any) -> None:
    assert exchange("azure-openai", judged(AZURE_CHAT, reply), api_version="2024-10-21")[0].reason == reason


def test_what_azures_filter_cuts_is_graded_and_a_prompt_that_it_refuses_is_a_status() -> None:
    found, _ = exchange("azure-openai", judged(AZURE_CHAT, azure_chat("Once", finish_reason="content_filter", filtered=True)))
    assert (found.output, found.finish_reason) == ("Once", "content_filter")
    error = {"error": {"code": "content_filter", "message": "The response was filtered", "param": "prompt", "status": 400}}
    found, _ = exchange("azure-openai", error, status=400)
    assert found.reason == "status:400" and "content_filter" in (found.error or "")


def digest(**fields: Any) -> str:
    return build_request(endpoint("https://a.example", api="azure-openai", **fields), PROMPT, "text").sha256


def test_another_deployment_or_version_is_another_request() -> None:
    asked: list[Mapping[str, Any]] = [
        {"model": "a", "api_version": "2024-10-21"},
        {"model": "b", "api_version": "2024-10-21"},
        {"model": "a", "api_version": "2025-04-01-preview"},
        {"model": "a", "api_version": "preview"},
        {"model": "a"},
    ]
    assert len({digest(**fields) for fields in asked}) == len(asked)
    with pytest.raises(UsageError, match="needs a model, the name of the deployment"):
        digest(model=None)
