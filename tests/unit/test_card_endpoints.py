from __future__ import annotations

from typing import Any

import pytest
from support.cards import card, text

from evalaction import schemas
from evalaction.errors import SourceError
from evalaction.method.card import Card
from evalaction.method.cards.endpoints import is_loopback
from evalaction.method.cards.parse import parse_card

SCHEMA = schemas.load("card")
HTTP: dict[str, Any] = {"api": "http", "url": "https://h.example/x", "body": {"q": "{{prompt}}", "s": "{{system}}"}, "text": "/t"}
SCRIPTED: dict[str, Any] = {"api": "scripted", "replies": "r.json"}
ANTHROPIC: dict[str, Any] = {"api": "anthropic", "url": "https://h.example", "model": "m", "params": {"max_tokens": 9}}
KEYS = [
    "sk-proj-abcdefghijklmnop1234",
    "sk-ant-api03-abcdefghijklmnop",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11AAAAAAA0abcdefghijkl",
    "xoxb-123456789012-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "hf_abcdefghijklmnopqrstuvwx",
    "Bearer abcdefghijklmnop1234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF",
    "-----BEGIN RSA PRIVATE KEY-----",
]


def parse(value: dict[str, Any]) -> Card:
    return parse_card(text(value), file="card.yaml", schema=SCHEMA)


def refusal(value: dict[str, Any]) -> str:
    with pytest.raises(SourceError) as caught:
        parse(value)
    assert caught.value.line is not None
    return caught.value.sentence


FIELDS = [
    ({"endpoints.main.model": ...}, "`api: openai` needs `model`"),
    ({"endpoints.main.url_env": ...}, "`api: openai` needs `url`, or `url_env`"),
    ({"endpoints.main.url": "https://h.example"}, "give `url` or `url_env`, not both"),
    ({"endpoints.main.replies": "r.json"}, "`replies` does not belong to `api: openai`"),
    ({"endpoints.main.text": "/t"}, "`text` does not belong to `api: openai`"),
    ({"endpoints.main": ANTHROPIC | {"model": ...}}, "`model`"),
    ({"endpoints.main": {"api": "anthropic", "model": "m", "params": {"max_tokens": 9}}}, "`api: anthropic` needs `url`"),
    ({"endpoints.main": ANTHROPIC | {"params": {}}}, "needs `params.max_tokens`"),
    ({"endpoints.main": ANTHROPIC | {"params": {"max_tokens": 9, "system": "x"}}}, "`params.system` is written by evalaction"),
    ({"endpoints.main": SCRIPTED | {"url": "https://h.example"}}, "`url` does not belong to `api: scripted`"),
    ({"endpoints.main": {"api": "scripted"}}, "`api: scripted` needs `replies`"),
    ({"endpoints.main": HTTP | {"params": {}}}, "`params` does not belong to `api: http`"),
    ({"endpoints.main": HTTP | {"body": {"q": "{{prompt}}", "s": "x {{messages}}"}}}, "must be a text of its own"),
    ({"endpoints.main": HTTP | {"body": {"q": "{{prompt}}", "m": "{{model}}"}}}, "`{{model}}` needs the `model`"),
    ({"endpoints.main": HTTP | {"text": "choices"}}, "a JSON Pointer into the reply"),
    ({"endpoints.main": HTTP | {"body": {"q": "fixed"}}}, "all items would ask the same"),
    ({"endpoints.main": HTTP | {"body": {"q": "{{prompt}} {{sytem}}"}}}, "did you mean `system`?"),
    ({"endpoints.main": HTTP | {"body": {"{{prompt}}": "{{prompt}}"}}}, "is not a place"),
    ({"endpoints.main": HTTP | {"body": {"q": "{{prompt}}"}}}, "no `{{system}}` or `{{messages}}`"),
    ({"endpoints.main": HTTP | {"body": "{{prompt}}"}}, "`endpoints.main.body` must be a mapping"),
    *(({f"endpoints.main.params.{name}": 1}, f"`params.{name}`") for name in ("model", "messages", "stream", "n")),
]


@pytest.mark.parametrize(("changes", "words"), FIELDS, ids=[words for _, words in FIELDS])
def test_fields_of_each_api(changes: dict[str, Any], words: str) -> None:
    value = card(changes)
    main = value["endpoints"]["main"]
    value["endpoints"]["main"] = {key: one for key, one in main.items() if one is not ...}
    assert words in refusal(value)


def test_each_api_in_its_smallest_form() -> None:
    for endpoint in (ANTHROPIC, SCRIPTED, HTTP, HTTP | {"url": "http://192.168.0.2:8080"}):
        assert parse(card({"endpoints.main": endpoint})).endpoints["main"].api == endpoint["api"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://host.example/v1", "a key goes over https only"),
        ("http://127.0.0.1.example.com/v1", "a key goes over https only"),
        ("http://localhost.example.com", "a key goes over https only"),
        ("https://user:pass@host.example", "credentials"),
        ("https://token@host.example", "credentials"),
        ("https://host.example/v1?api_key=abc", "credentials"),
        ("https://host.example/v1?x=1", "a base address has no `?`"),
        ("ftp://host.example", "is not an address"),
        ("host.example/v1", "is not an address"),
        ("https://host.example:99999", "is not an address"),
        ("https://host.example/#x", "is not an address"),
        ("https://ho st.example", "is not an address"),
        ("https://", "is not an address"),
    ],
)
def test_addresses(url: str, words: str) -> None:
    assert words in refusal(card({"endpoints.main.url": url, "endpoints.main.url_env": ...}))


@pytest.mark.parametrize(
    "url", ["http://localhost:8080", "http://127.0.0.2/v1", "http://[::1]:80/v1", "https://host.example:8443/a/b"]
)
def test_keys_go_to_https_and_loopback(url: str) -> None:
    assert parse(card({"endpoints.main.url": url, "endpoints.main.url_env": ...})).endpoints["main"].url == url


def test_a_secret_header_is_a_key_too() -> None:
    endpoint = {"api": "openai", "url": "http://host.example", "model": "m", "headers": {"X-Pass": {"env": "P"}}}
    assert "https only" in refusal(card({"endpoints.main": endpoint}))


def test_loopback() -> None:
    assert all(is_loopback(host) for host in ("localhost", "LOCALHOST", "a.localhost", "127.9.9.9", "[::1]"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "10.0.0.1", "localhost.evil.example", "[::2]", "127.0.0.1.nip.io"))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "field", ["name", "endpoints.main.model", "endpoints.main.api", "endpoints.main.params.user", "arms.treatment.system", "sign"]
)
def test_values_that_look_like_keys_are_refused_and_never_shown(key: str, field: str) -> None:
    sentence = refusal(card({field: key}))
    assert "looks like it holds a key" in sentence
    assert key not in sentence


def test_a_key_as_a_field_name_is_not_shown() -> None:
    sentence = refusal(card({f"endpoints.main.{KEYS[0]}": 1}))
    assert "a field name looks like it holds a key" in sentence
    assert KEYS[0] not in sentence


@pytest.mark.parametrize(
    "value",
    ["meta-llama/Llama-3.1-405B-Instruct-Turbo", "sk-small", "a" * 64, "0123456789abcdef" * 4, "task-list-for-the-weekend-crew"],
)
def test_ordinary_names_are_not_keys(value: str) -> None:
    assert parse(card({"endpoints.main.model": value})).endpoints["main"].model == value


def test_seeds_and_hashes_may_be_random() -> None:
    value = card(
        {
            "exam.sha256": KEYS[9],
            "arms.control": {"endpoint": "main"},
            "sign": {"claim": "none", "seed": KEYS[9]},
        }
    )
    assert parse(value).seed == KEYS[9]


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Authorization": "Token abc"}, "holds a secret"),
        ({"x-api-key": "abc"}, "holds a secret"),
        ({"X A": "b"}, "is not a header name"),
        ({"X-A:": "b"}, "is not a header name"),
        ({"X-A": "b\r\nX-B: c"}, "holds U+000D"),
        ({"X-A": " b"}, "printable ASCII"),
        ({"X-A": "ü"}, "printable ASCII"),
        ({"X-A": "b", "x-a": "c"}, "appears twice"),
        ({"Content-Length": "5"}, "is written by evalaction"),
        ({"Host": {"env": "H"}}, "is written by evalaction"),
    ],
)
def test_headers(headers: dict[str, Any], words: str) -> None:
    assert words in refusal(card({"endpoints.main.headers": headers}))
