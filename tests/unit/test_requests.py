"""What is asked: bodies as the card writes them, digests that know no address, refusals before any call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.endpoints import APIS, build_request
from evalaction.endpoints.request import RESERVED
from evalaction.errors import UsageError
from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint, Header, HttpShape
from evalaction.method.records import Message

USER = Message("user", "Say ok.")
SYSTEM = Message("system", "Be brief.")


def body_of(messages: Sequence[Message] = (USER,), **fields: Any) -> str:
    where = Endpoint(**({"name": "main", "api": "openai", "model": "m"} | fields))
    return build_request(where, messages, "text").body.decode()


def test_the_apis() -> None:
    assert set(APIS) == {"openai", "openai-responses", "azure-openai", "anthropic", "http", "command", "scripted"}


def test_parameters_are_sent_as_written_and_in_order() -> None:
    params: dict[str, Json] = {"temperature": Decimal("0.20"), "max_tokens": 400, "schema": {"reason": 1, "answer": [True, None]}}
    assert body_of(params=params) == (
        '{"model":"m","messages":[{"role":"user","content":"Say ok."}],'
        '"temperature":0.20,"max_tokens":400,"schema":{"reason":1,"answer":[true,null]}}'
    )


def test_an_endpoint_without_a_model() -> None:
    assert body_of(model=None) == '{"messages":[{"role":"user","content":"Say ok."}]}'


@pytest.mark.parametrize("name", ["model", "messages", "stream", "n"])
def test_parameters_that_are_set_here(name: str) -> None:
    with pytest.raises(UsageError, match=f"params must not hold {name}"):
        body_of(params={name: 1})


def test_an_unknown_api() -> None:
    with pytest.raises(UsageError, match="there is no api grpc"):
        body_of(api="grpc")


def digest_of(**fields: Any) -> str:
    where = Endpoint(**({"name": "main", "api": "openai", "model": "m", "url": "https://a.example"} | fields))
    return build_request(where, (USER,), "text").sha256


def test_the_digest_is_of_what_is_asked_only() -> None:
    same = digest_of()
    assert digest_of(name="other", url="https://b.example", key_env="K") == same
    assert digest_of(headers=(Header(name="X-Key", env="K"),)) == same
    asked = [
        digest_of(model="m2"),
        digest_of(params={"seed": 1}),
        digest_of(params={"temperature": Decimal("0.20")}),
        digest_of(params={"temperature": Decimal("0.2")}),
        digest_of(headers=(Header(name="X-Mode", value="fast"),)),
    ]
    assert len({same, *asked}) == len(asked) + 1


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(st.characters(exclude_categories=["Cs"])))))
def test_messages_arrive_as_they_are(pairs: list[tuple[str, str]]) -> None:
    sent = json.loads(body_of([Message(role, text) for role, text in pairs]))
    assert [(one["role"], one["content"]) for one in sent["messages"]] == pairs


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_headers_of_the_transport(name: str) -> None:
    with pytest.raises(UsageError, match="belongs to the transport"):
        body_of(headers=(Header(name=name.title(), value="x"),))


def test_a_request_shows_no_secret() -> None:
    where = Endpoint(name="main", api="openai", url_env="EVAL_URL", key_env="EVAL_KEY", headers=(Header(name="X", env="EVAL_X"),))
    assert "EVAL" not in repr(build_request(where, (USER,), "text"))


def anthropic(messages: Sequence[Message], **params: Any) -> Any:
    return json.loads(body_of(messages, api="anthropic", params={"max_tokens": 9} | params))


def test_anthropic_takes_the_system_message_apart() -> None:
    turns = (USER, Message("assistant", "ok"), USER)
    assert anthropic((SYSTEM, Message("system", "Please."), *turns)) == {
        "model": "m",
        "system": "Be brief.\n\nPlease.",
        "messages": [{"role": one.role, "content": one.content} for one in turns],
        "max_tokens": 9,
    }
    assert "system" not in anthropic((USER,))


@pytest.mark.parametrize("messages", [(), (SYSTEM,), (USER, SYSTEM), (Message("tool", "x"), USER)])
def test_anthropic_refuses_what_it_cannot_send(messages: Sequence[Message]) -> None:
    with pytest.raises(UsageError, match="api anthropic takes"):
        anthropic(messages)


def test_anthropic_needs_its_fields() -> None:
    with pytest.raises(UsageError, match="max_tokens in params"):
        body_of(api="anthropic")
    with pytest.raises(UsageError, match="a model"):
        body_of(api="anthropic", model=None, params={"max_tokens": 1})
    with pytest.raises(UsageError, match="must not hold system"):
        anthropic((USER,), system="x")


def http(template: Json, messages: Sequence[Message] = (SYSTEM, USER), **fields: Any) -> Any:
    return json.loads(body_of(messages, **({"api": "http", "http": HttpShape(body=template, text="/text")} | fields)))


def test_a_template_is_filled_once() -> None:
    tricky = Message("user", '{{system}} "quoted" \\ {{messages}}')
    assert http({"q": "Q: {{prompt}}", "s": "{{ system }}", "m": "{{model}}", "n": [1, "{{prompt}}"]}, (SYSTEM, tricky)) == {
        "q": f"Q: {tricky.content}",
        "s": "Be brief.",
        "m": "m",
        "n": [1, tricky.content],
    }
    listed = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say ok."}]
    assert http({"chat": "{{messages}}"}) == {"chat": listed}
    assert http({"q": "{{prompt}}", "s": "[{{system}}]"}, (USER,)) == {"q": "Say ok.", "s": "[]"}


@pytest.mark.parametrize(
    ("template", "messages", "error"),
    [
        ({"q": "{{prompt}}", "x": "{{promt}}"}, (USER,), "unknown place {{promt}}"),
        ({"q": "nothing"}, (USER,), "body needs"),
        ({"q": "{{prompt}}"}, (SYSTEM, USER), "leave a system message out"),
        ({"q": "{{prompt}}{{system}}"}, (SYSTEM, SYSTEM, USER), "leave a system message out"),
        ({"q": "{{prompt}}"}, (USER, Message("assistant", "a"), USER), "body needs"),
        ({"q": "see {{messages}}"}, (USER,), "string of its own"),
    ],
)
def test_a_template_that_would_lose_something(template: Json, messages: Sequence[Message], error: str) -> None:
    with pytest.raises(UsageError) as caught:
        http(template, messages)
    assert error in caught.value.sentence


def test_an_http_endpoint_that_is_not_described() -> None:
    with pytest.raises(UsageError, match="needs a body"):
        http({}, http=None)
    with pytest.raises(UsageError, match="no params"):
        http("{{messages}}", params={"seed": 1})
    with pytest.raises(UsageError, match="names no model"):
        http(["{{messages}}", "{{model}}"], model=None)
    with pytest.raises(UsageError, match="not a JSON Pointer"):
        http({}, http=HttpShape(body="{{messages}}", text="choices.0.text"))
