"""Each API spoken over a real socket: what it sends, what it reads, tool calls, keys and headers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.asking import KEY, ask_once, endpoint
from support.endpoint_server import chat, response, serving

from evalaction.method.card import Header, HttpShape
from evalaction.method.records import Usage


def message(*blocks: dict[str, Any], stop_reason: str = "end_turn", **more: Any) -> dict[str, Any]:
    """A reply of the Messages API."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-stub",
        "content": list(blocks),
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 10, "output_tokens": 3},
    } | more


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def anthropic(url: str, **fields: Any) -> Any:
    return endpoint(url, api="anthropic", model="claude", params={"max_tokens": 64}, **fields)


def test_anthropic() -> None:
    reply = message({"type": "thinking", "thinking": "hm"}, text("fo"), text("ur"))
    with serving(lambda received: response(reply)) as server:
        found = ask_once(anthropic(server.url, key_env="EVAL_KEY"), environ={"EVAL_KEY": KEY})
        sent = server.requests[0]
    assert (found.output, found.finish_reason, found.response_id) == ("four", "end_turn", "msg_1")
    assert (found.usage, found.served_model) == (Usage(input=15, output=3), "claude-stub")
    assert sent.target == "/v1/messages"
    assert sent.json == {"model": "claude", "messages": [{"role": "user", "content": "Say ok."}], "max_tokens": 64}
    assert (sent.headers["x-api-key"], sent.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in sent.headers


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        ("empty", message()),
        ("empty", message(text("  "))),
        ("empty:length", message(stop_reason="max_tokens")),
        ("empty:length", message({"type": "thinking", "thinking": "…"}, stop_reason="model_context_window_exceeded")),
        ("empty:refusal", message(stop_reason="refusal")),
        ("empty:tool_calls", message({"type": "tool_use", "id": "t", "name": "f", "input": {}}, stop_reason="tool_use")),
        ("malformed", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ("malformed", message() | {"content": "text"}),
        ("malformed", message(text("Let me look that up."), stop_reason="pause_turn")),
        ("malformed", message({"type": "text", "text": 7})),
        ("malformed", message({"type": "tool_use", "name": "f", "input": "{}"})),
        ("malformed", chat()),
    ],
)
def test_anthropic_without_a_text(reason: str, reply: Any) -> None:
    with serving(lambda received: response(reply)) as server:
        assert ask_once(anthropic(server.url)).reason == reason


def test_a_refusal_of_anthropic_shows_what_it_says_of_itself() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This asks for an attack."}
    with serving(lambda received: response(message(stop_reason="refusal", stop_details=details))) as server:
        found = ask_once(anthropic(server.url))
    assert (found.reason, found.error) == ("empty:refusal", "This asks for an attack.")
    with serving(lambda received: response(message(stop_reason="refusal", stop_details=None))) as server:
        assert ask_once(anthropic(server.url)).error is None


def calls(*pairs: tuple[str, str]) -> dict[str, Any]:
    listed = [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}} for name, arguments in pairs]
    return {"tool_calls": listed}


def tool_output(reply: Any, *, api: str = "openai") -> Any:
    with serving(lambda received: response(reply)) as server:
        where = anthropic(server.url) if api == "anthropic" else endpoint(server.url)
        return ask_once(where, output="tool_calls")


def test_tool_calls_are_canonical_json() -> None:
    found = tool_output(chat(None, finish_reason="tool_calls", **calls(("lookup", '{ "b": 1.50, "a": [true] }'), ("stop", "{}"))))
    assert found.output == '[{"arguments":{"a":[true],"b":1.50},"name":"lookup"},{"arguments":{},"name":"stop"}]'
    assert found.finish_reason == "tool_calls"


def test_a_call_in_the_older_form_is_a_call_too() -> None:
    one = {"name": "lookup", "arguments": '{ "city": "Bern" }'}
    reply = chat(None, finish_reason="function_call", function_call=one)
    assert tool_output(reply).output == '[{"arguments":{"city":"Bern"},"name":"lookup"}]'
    with serving(lambda received: response(reply)) as server:
        assert ask_once(server.url).reason == "empty:tool_calls"
    assert tool_output(chat(None, function_call={"name": "lookup"})).reason == "malformed"
    assert tool_output(chat("Fine.", function_call=None)).reason == "empty"


@pytest.mark.parametrize("why", ["error", "insufficient_system_resource"])
def test_an_answer_that_the_server_broke_off_is_no_answer(why: str) -> None:
    with serving(lambda received: response(chat("The first half of an ans", finish_reason=why))) as server:
        found = ask_once(server.url)
    assert found.reason == "malformed" and f"its finish_reason is {why}" in (found.error or "")


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("model_length", "empty:length"),
        ("recitation", "empty:filter"),
        ("blocklist", "empty:filter"),
        ("refusal", "empty:refusal"),
    ],
)
def test_every_word_for_a_cut_is_one_for_an_empty_answer_too(why: str, reason: str) -> None:
    with serving(lambda received: response(chat("", finish_reason=why))) as server:
        assert ask_once(server.url).reason == reason


@pytest.mark.parametrize("words", ["", "The first half of an ans"])
def test_a_choice_that_reports_an_error_is_no_answer(words: str) -> None:
    reply = chat(words)
    reply["choices"][0]["error"] = {"code": 502, "message": "Provider disconnected"}
    with serving(lambda received: response(reply)) as server:
        found = ask_once(server.url)
    assert found.reason == "malformed" and "Provider disconnected" in (found.error or "")


def test_both_apis_write_the_same_tool_call() -> None:
    one = tool_output(chat(None, **calls(("lookup", '{"city": "Bern", "days": 2}'))))
    other = tool_output(
        message({"type": "tool_use", "id": "t", "name": "lookup", "input": {"days": 2, "city": "Bern"}}), api="anthropic"
    )
    assert one.output == other.output == '[{"arguments":{"city":"Bern","days":2},"name":"lookup"}]'


@pytest.mark.parametrize("arguments", ['{"city": "Be', "", "not json", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 5_000])
def test_arguments_that_are_not_json_are_not_repaired(arguments: str) -> None:
    found = tool_output(chat(None, finish_reason="length", **calls(("first", "{}"), ("second", arguments), ("third", "{}"))))
    assert found.output == f'[{{"arguments":{{}},"name":"first"}},{{"name":"second","arguments":{arguments}'
    with pytest.raises(json.JSONDecodeError if "NaN" not in arguments and len(arguments) < 999 else (ValueError, RecursionError)):
        json.loads(found.output)


@pytest.mark.parametrize(
    ("reason", "reply", "shown"),
    [
        ("empty", chat("It is sunny."), "It is sunny."),
        ("empty:length", chat("It is sun", finish_reason="length"), "It is sun"),
        ("empty:refusal", chat(None, refusal="No."), "No."),
        ("empty", chat("Fine.", tool_calls=[]), "Fine."),
        ("malformed", chat(None, tool_calls=[{"function": {"name": "f", "arguments": {}}}]), None),
        ("malformed", chat(None, tool_calls={"f": 1}), None),
        ("malformed", chat(None, tool_calls=[{"function": None}]), None),
    ],
)
def test_prose_in_place_of_tool_calls(reason: str, reply: Any, shown: str | None) -> None:
    found = tool_output(reply)
    assert found.reason == reason
    assert shown is None or found.error == shown


def test_any_json_endpoint() -> None:
    shape = HttpShape(
        body={"input": {"q": "{{prompt}}", "m": "{{model}}"}, "opts": [1, None]},
        text="/out/0/text",
        finish_reason="/out/0/why",
        usage_input="/tokens/in",
        usage_output="/tokens/out",
        id="/id",
        served_model="/by",
    )
    reply = {"id": "r1", "by": "m2", "out": [{"text": "four", "why": "stop"}], "tokens": {"in": 3, "out": 1}}
    with serving(lambda received: response(reply)) as server:
        found = ask_once(endpoint(f"{server.url}/answer?v=2", api="http", model="m1", http=shape))
        sent = server.requests[0]
    assert (sent.target, sent.json) == ("/answer?v=2", {"input": {"q": "Say ok.", "m": "m1"}, "opts": [1, None]})
    assert (found.output, found.finish_reason, found.usage) == ("four", "stop", Usage(input=3, output=1))
    assert (found.response_id, found.served_model) == ("r1", "m2")


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        ("malformed", {"other": 1}),
        ("malformed", {"text": 7}),
        ("malformed", {"text": {"a": 1}}),
        ("empty", {"text": None}),
        ("empty", {"text": ""}),
        ("empty:length", {"text": "", "why": "MAX_TOKENS"}),
        ("empty:filter", {"text": "", "why": "SAFETY"}),
    ],
)
def test_any_json_endpoint_without_a_text(reason: str, reply: Any) -> None:
    shape = HttpShape(body="{{messages}}", text="/text", finish_reason="/why")
    with serving(lambda received: response(reply)) as server:
        assert ask_once(endpoint(server.url, api="http", http=shape)).reason == reason


def test_headers_from_the_card_and_from_variables() -> None:
    headers = (
        Header(name="X-Team", value="support"),
        Header(name="X-Gateway", env="GATEWAY"),
        Header(name="accept", value="*/*"),
    )
    with serving(lambda received: response(chat())) as server:
        found = ask_once(endpoint(server.url, headers=headers), environ={"GATEWAY": "Token abc def"})
        sent = server.requests[0].headers
    assert found.reason is None
    assert (sent["x-team"], sent["x-gateway"], sent["accept"]) == ("support", "Token abc def", "*/*")


def test_an_address_from_a_variable() -> None:
    with serving(lambda received: response(chat())) as server:
        assert ask_once(endpoint(None, url_env="EVAL_URL"), environ={"EVAL_URL": server.url}).output == "ok"
