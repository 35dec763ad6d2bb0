"""Fields of hosted runners, of the other APIs, and limits on counters."""

from __future__ import annotations

from typing import Any

import pytest
from support.cards import card, text, two_arms
from support.hosted_runner import card_endpoint, poll

from evalaction import schemas
from evalaction.errors import SourceError
from evalaction.method.card import Card, Poll
from evalaction.method.cards.parse import parse_card

SCHEMA = schemas.load("card")
HOSTED = card_endpoint("https://runner.example")
AZURE: dict[str, Any] = {"api": "azure-openai", "url": "https://r.openai.azure.com", "model": "my-gpt"}


def parse(value: dict[str, Any]) -> Card:
    return parse_card(text(value), file="card.yaml", schema=SCHEMA)


def hosted(**fields: Any) -> dict[str, Any]:
    """A card whose endpoint is the hosted runner with some fields changed; `...` takes one out."""
    endpoint = {name: value for name, value in (HOSTED | fields).items() if value is not ...}
    return card({"endpoints.main": endpoint, "arms.treatment": {"endpoint": "main"}})


def refusal(value: dict[str, Any]) -> str:
    with pytest.raises(SourceError) as caught:
        parse(value)
    assert caught.value.line is not None
    return caught.value.sentence


def test_a_hosted_runner() -> None:
    endpoint = parse(hosted()).endpoints["main"]
    assert endpoint.poll == Poll(
        url="/v1/jobs/{{id}}",
        take={"id": "/job/id"},
        every_ms=5,
        done="/state",
        pending=("queued", "running"),
        failed=("crashed",),
    )
    assert (endpoint.trace, endpoint.counters["tool_hops"]) == ("/trace", "/counts/tool_hops")
    states = [1, True, None, "x"]
    assert parse(hosted(poll=poll(pending=states, failed=[]))).endpoints["main"].poll == Poll(
        url="/v1/jobs/{{id}}", take={"id": "/job/id"}, every_ms=5, done="/state", pending=(1, True, None, "x")
    )
    named = parse(hosted(poll=poll(succeeded=["done"]))).endpoints["main"].poll
    assert named is not None and named.succeeded == ("done",)
    whole = "https://runner.example/v1/jobs/{{ id }}/state?v=2"
    found = parse(hosted(poll=poll(url=whole))).endpoints["main"].poll
    assert found is not None and found.url == whole


PROBLEMS: list[tuple[dict[str, Any], str]] = [
    ({"poll": {"url": "/j/{{id}}"}}, "`endpoints.main.poll.take` is missing"),
    ({"poll": poll(pending=[])}, "`endpoints.main.poll.pending` is empty; give it a value"),
    ({"poll": poll(pending=[["queued"]])}, "`endpoints.main.poll.pending.0` must be text"),
    ({"poll": poll(done="state")}, "a JSON Pointer into the reply"),
    ({"poll": poll(evry_ms=1)}, "did you mean `every_ms`?"),
    ({"poll": poll(every_ms=20_000)}, "must be less than `draws.timeout_ms`"),
    ({"poll": poll(url="jobs/{{id}}")}, "is not a path like /v1/jobs/{{id}}"),
    ({"poll": poll(url="//evil.example/{{id}}")}, "is not a path"),
    ({"poll": poll(url="/jobs/{{id}}#x")}, "is not a path"),
    ({"poll": poll(url="/jobs /{{id}}")}, "is not a path"),
    ({"poll": poll(url="https://evil.example/{{id}}")}, "another origin than the endpoint"),
    ({"poll": poll(url="http://runner.example/{{id}}")}, "another origin than the endpoint"),
    ({"poll": poll(url="https://runner.example@evil.example/{{id}}")}, "credentials"),
    ({"poll": poll(url="https://runner.example/{{id}}"), "url": ..., "url_env": "U"}, "write the path alone"),
    ({"poll": poll(url="/jobs")}, "needs `{{id}}` once"),
    ({"poll": poll(url="/jobs/{{id}}/{{id}}")}, "needs `{{id}}` once"),
    ({"poll": poll(url="/jobs/{{id}}.json")}, "needs `{{id}}` once"),
    ({"poll": poll(url="/jobs/{{id}}/{{uid}}")}, "does not say where `{{uid}}` is taken from; did you mean `id`?"),
    ({"poll": poll(url="/jobs/{{id}}/x{{id}}")}, "a place of `poll.url` is a whole segment"),
    ({"poll": poll(url="/jobs/{{id}}?key={{id}}")}, "a place of `poll.url` is a whole segment"),
    ({"trace": ...}, "`counters` are read from the `trace`"),
    ({"counters": {"Tool Hops": "/n"}}, "`Tool Hops` is no name of a counter"),
    ({"counters": {"hops": "n"}}, "a JSON Pointer into the reply"),
]


@pytest.mark.parametrize(("fields", "words"), PROBLEMS, ids=[words for _, words in PROBLEMS])
def test_what_a_hosted_runner_needs(fields: dict[str, Any], words: str) -> None:
    assert words in refusal(hosted(**fields))


@pytest.mark.parametrize(("field", "value"), [("poll", poll()), ("trace", "/t"), ("counters", {}), ("api_version", "v1")])
@pytest.mark.parametrize("api", ["openai", "openai-responses", "anthropic", "scripted"])
def test_fields_of_another_api(field: str, value: Any, api: str) -> None:
    kinds: dict[str, dict[str, Any]] = {"anthropic": {"params": {"max_tokens": 9}}, "scripted": {}}
    rest = {"replies": "r.jsonl"} if api == "scripted" else {"url": "https://h.example", "model": "m"}
    endpoint = {"api": api, **rest, **kinds.get(api, {}), field: value}
    assert f"`{field}` does not belong to `api: {api}`" in refusal(card({"endpoints.main": endpoint}))


def test_azure_and_the_responses_api() -> None:
    for version in ("2024-10-21", "2025-04-01-preview", "v1", "preview"):
        assert parse(card({"endpoints.main": AZURE | {"api_version": version}})).endpoints["main"].api_version == version
    assert parse(card({"endpoints.main": AZURE})).endpoints["main"].api_version is None
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"model": ...}, "`api: azure-openai` needs `model`"),
        ({"api_version": "latest"}, "a date such as `2024-10-21`"),
        ({"url": "https://r.openai.azure.com/?api-version=v1"}, "a base address has no `?`"),
        ({"poll": poll()}, "`poll` does not belong"),
    ]
    for fields, words in wrong:
        endpoint = {name: value for name, value in (AZURE | fields).items() if value is not ...}
        assert words in refusal(card({"endpoints.main": endpoint}))
    responses = {"api": "openai-responses", "url": "https://api.example", "model": "m"}
    assert parse(card({"endpoints.main": responses})).endpoints["main"].api == "openai-responses"
    refused: list[tuple[dict[str, Any], str]] = [
        ({"input": "x"}, "`params.input`"),
        ({"background": True}, "the reply comes before the answer"),
        ({"conversation": "conv_1"}, "each draw sees the ones before it"),
    ]
    for params, words in refused:
        assert words in refusal(card({"endpoints.main": responses | {"params": params}}))
    parse(card({"endpoints.main": responses | {"params": {"background": False}}}))


def test_limits_on_counters() -> None:
    limits = {"max_counter": {"tool_hops": 3, "server_retries": 0}, "by_tag": {"long": {"max_counter": {"tool_hops": 9}}}}
    found = parse(hosted() | {"limits": limits}).limits
    assert [(one.name, one.counter, int(one.bound.value), one.tag) for one in found] == [
        ("max_counter", "tool_hops", 3, None),
        ("max_counter", "server_retries", 0, None),
        ("max_counter", "tool_hops", 9, "long"),
    ]
    lines = text(hosted() | {"limits": limits}).decode().split("\n")
    assert ['"tool_hops": 3' in lines[found[0].line - 1], '"tool_hops": 9' in lines[found[2].line - 1]] == [True, True]  # type: ignore[operator]


def test_only_declared_counters_have_limits() -> None:
    for limits in ({"max_counter": {"tool_hop": 3}}, {"by_tag": {"x": {"max_counter": {"tool_hop": 3}}}}):
        assert "declares the counter `tool_hop` under `counters`; did you mean `tool_hops`?" in refusal(
            hosted() | {"limits": limits}
        )
    for bound in (-1, 1.5, "3"):
        assert "`limits.max_counter.tool_hops` must be" in refusal(hosted() | {"limits": {"max_counter": {"tool_hops": bound}}})
    value = two_arms({"endpoints.local": HOSTED, "arms.control": {"endpoint": "local"}})
    of_control = {"control": {"max_counter": {"tool_hops": 3}}}
    assert [(one.scope, one.counter) for one in parse(value | {"limits": of_control}).limits] == [("control", "tool_hops")]
    assert "no endpoint of the treatment declares" in refusal(value | {"limits": {"max_counter": {"tool_hops": 3}}})
    at_base = value | {"arms": {"treatment": {"endpoint": "main"}, "control": "base"}}
    assert parse(at_base | {"limits": of_control}).limits[0].counter == "tool_hops"
