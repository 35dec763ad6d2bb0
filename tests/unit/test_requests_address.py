"""Addresses: what is refused, what the API appends, which proxy lies between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.endpoints import APIS
from evalaction.endpoints.address import Proxy, parse_url, proxy_for, versioned
from evalaction.errors import UsageError
from evalaction.method.card import Endpoint


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://a.example", "https:// or http://"),
        ("a.example/v1", "https:// or http://"),
        ("file:///etc/passwd", "https:// or http://"),
        ("https://user:hunter22@a.example", "credentials"),
        ("https://user@a.example", "credentials"),
        ("https://@a.example", "credentials"),
        ("https://a.example/v1#part", "fragment"),
        ("https://a.example/v1#", "fragment"),
        ("https://", "no valid host"),
        ("https://a example", "spaces"),
        ("https://a.example\n", "ends with a line break"),
        (" https://a.example", "white space around"),
        ("https://a.example/\r\nX: y", "control"),
        ("https://bücher.example", "non-ASCII"),
        ("https://a.example\\@b.example", "backslashes"),
        ("https://a.example:port", "port"),
        ("https://a.example:0", "port"),
        ("https://a.example:70000", "port"),
        ("https://[::1", "not an address"),
        ("https://[fe80::1%25eth0]/", "no valid host"),
        ("https://a_b!.example", "no valid host"),
    ],
)
def test_refused_addresses(url: str, why: str) -> None:
    with pytest.raises(UsageError, match="EVAL_URL") as caught:
        parse_url(url, what="EVAL_URL")
    assert why in caught.value.sentence
    assert "a.example" not in caught.value.sentence
    assert "hunter22" not in caught.value.sentence


def test_an_address_does_not_show_itself() -> None:
    address = parse_url("https://secret.example:8443/path?token=1", what="x")
    assert "secret" not in repr(address)
    assert "token" not in repr(address)
    assert "8443" not in repr(address)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = parse_url(f"http://{text}", what="x")
    except UsageError:
        return
    assert address.netloc.isascii()
    assert not set(address.target(address.path)) & set(" \r\n\t")


@pytest.mark.parametrize(
    ("api", "base", "path"),
    [
        ("openai-responses", "", "/v1/responses"),
        ("openai-responses", "/openai/v1", "/openai/v1/responses"),
        ("openai-responses", "/v1/responses", "/v1/responses"),
        ("azure-openai", "", "/openai/v1/chat/completions"),
        ("azure-openai", "/openai", "/openai/v1/chat/completions"),
        ("azure-openai", "/openai/v1/", "/openai/v1/chat/completions"),
        ("azure-openai", "/gateway/openai/v1/chat/completions", "/gateway/openai/v1/chat/completions"),
        ("openai", "", "/v1/chat/completions"),
        ("openai", "/", "/v1/chat/completions"),
        ("openai", "/v1", "/v1/chat/completions"),
        ("openai", "/v1/", "/v1/chat/completions"),
        ("openai", "/openai/v1", "/openai/v1/chat/completions"),
        ("openai", "/v1/chat/completions", "/v1/chat/completions"),
        ("anthropic", "", "/v1/messages"),
        ("anthropic", "/v1", "/v1/messages"),
        ("anthropic", "/gateway", "/gateway/v1/messages"),
        ("anthropic", "/v1/messages", "/v1/messages"),
        ("http", "/anything/at/all", "/anything/at/all"),
    ],
)
def test_the_path_of_the_api_is_appended_unless_it_is_there(api: str, base: str, path: str) -> None:
    address = parse_url(f"https://a.example{base}?v=1", what="x")
    assert address.target(APIS[api].path(address.path, Endpoint(name="main", api=api, model="m"))) == f"{path}?v=1"


DEPLOYED = Endpoint(name="main", api="azure-openai", model="my gpt", api_version="2024-10-21")


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/openai/deployments/my%20gpt/chat/completions"),
        ("/openai", "/openai/deployments/my%20gpt/chat/completions"),
        ("/team/openai", "/team/openai/deployments/my%20gpt/chat/completions"),
        ("/openai/deployments/my%20gpt", "/openai/deployments/my%20gpt/chat/completions"),
        ("/openai/deployments/my%20gpt/chat/completions", "/openai/deployments/my%20gpt/chat/completions"),
    ],
)
def test_the_address_of_an_azure_deployment(base: str, path: str) -> None:
    assert APIS["azure-openai"].path(base, DEPLOYED) == path


@pytest.mark.parametrize(
    ("base", "endpoint", "words"),
    [
        ("/openai/deployments/other", DEPLOYED, "another deployment than model"),
        ("/openai/v1", DEPLOYED, "remove api_version"),
        ("/openai/v1/chat/completions", DEPLOYED, "remove api_version"),
        ("/openai/deployments/m", Endpoint(name="main", api="azure-openai", model="m"), "needs a date as api_version"),
        ("", Endpoint(name="main", api="azure-openai", api_version="2024-10-21"), "needs a model"),
    ],
)
def test_an_azure_address_that_contradicts_the_card(base: str, endpoint: Endpoint, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        APIS["azure-openai"].path(base, endpoint)


@pytest.mark.parametrize(
    ("query", "version", "whole"),
    [
        ("", None, "/x"),
        ("", "2024-10-21", "/x?api-version=2024-10-21"),
        ("a=1&b", "v1", "/x?a=1&b&api-version=v1"),
        ("api-version=2024-10-21", "2024-10-21", "/x?api-version=2024-10-21"),
    ],
)
def test_the_version_in_the_query(query: str, version: str | None, whole: str) -> None:
    address = versioned(parse_url(f"https://a.example/x?{query}", what="x"), version, what="AZURE_URL")
    assert address.target(address.path) == whole


@pytest.mark.parametrize("version", [None, "2025-01-01"])
def test_a_version_in_the_address_that_is_not_the_cards(version: str | None) -> None:
    with pytest.raises(UsageError, match="AZURE_URL holds another api-version"):
        versioned(parse_url("https://a.example/x?api-version=2024-10-21", what="x"), version, what="AZURE_URL")


@pytest.mark.parametrize(
    ("url", "netloc", "loopback"),
    [
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", True),
        ("http://127.9.9.9", "127.9.9.9", True),
        ("http://LOCALHOST:80", "localhost", True),
        ("http://[::1]:9", "[::1]:9", True),
        ("http://localhost.evil.example", "localhost.evil.example", False),
        ("http://127.0.0.1.evil.example", "127.0.0.1.evil.example", False),
        ("http://0.0.0.0:80", "0.0.0.0", False),
        ("https://a.example:443", "a.example", False),
        ("https://a.example:80", "a.example:80", False),
    ],
)
def test_hosts(url: str, netloc: str, loopback: bool) -> None:
    address = parse_url(url, what="x")
    assert (address.netloc, address.loopback) == (netloc, loopback)


P = "http://proxy.example:3128"
Q = "http://other.example:3128"


@pytest.mark.parametrize(
    ("url", "environ", "host"),
    [
        ("https://a.example", {}, None),
        ("https://a.example", {"HTTPS_PROXY": P}, "proxy.example"),
        ("https://a.example", {"HTTPS_PROXY": P, "https_proxy": Q}, "other.example"),
        ("https://a.example", {"HTTP_PROXY": P}, None),
        ("http://a.example", {"HTTP_PROXY": P}, "proxy.example"),
        ("https://a.example", {"ALL_PROXY": P}, "proxy.example"),
        ("https://a.example", {"HTTPS_PROXY": "  "}, None),
        ("https://a.example", {"HTTPS_PROXY": "proxy.example:1"}, "proxy.example"),
        ("http://127.0.0.1:1", {"HTTP_PROXY": P}, None),
        ("http://localhost:1", {"ALL_PROXY": P}, None),
        ("https://a.example", {"HTTPS_PROXY": P, "NO_PROXY": "*"}, None),
        ("https://a.example", {"HTTPS_PROXY": P, "NO_PROXY": "b.example, A.example"}, None),
        ("https://x.a.example", {"HTTPS_PROXY": P, "NO_PROXY": ".a.example"}, None),
        ("https://x.a.example", {"HTTPS_PROXY": P, "NO_PROXY": "*.a.example"}, None),
        ("https://a.example", {"HTTPS_PROXY": P, "no_proxy": "a.example:443"}, None),
        ("https://a.example", {"HTTPS_PROXY": P, "NO_PROXY": "a.example:8443"}, "proxy.example"),
        ("https://aa.example", {"HTTPS_PROXY": P, "NO_PROXY": "a.example"}, "proxy.example"),
        ("https://10.1.2.3", {"HTTPS_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, None),
        ("https://11.1.2.3", {"HTTPS_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, "proxy.example"),
        ("https://[fd00::1]", {"HTTPS_PROXY": P, "NO_PROXY": "fd00::/8"}, None),
    ],
)
def test_proxies(url: str, environ: dict[str, str], host: str | None) -> None:
    proxy = proxy_for(parse_url(url, what="x"), environ)
    assert (proxy and proxy.host) == host


@pytest.mark.parametrize("value", ["socks5://p.example:1080", "https://p.example", "http://", "http://p.example:x", "http://p e"])
def test_proxies_that_are_refused(value: str) -> None:
    with pytest.raises(UsageError, match="HTTPS_PROXY") as caught:
        proxy_for(parse_url("https://a.example", what="x"), {"HTTPS_PROXY": value})
    assert "p.example" not in caught.value.sentence


def test_a_proxy_does_not_show_its_password() -> None:
    proxy = proxy_for(parse_url("https://a.example", what="x"), {"HTTPS_PROXY": "http://me:hunter22@p.example:1"})
    assert proxy == Proxy(host="p.example", port=1, authorization="Basic bWU6aHVudGVyMjI=")
    assert "Basic" not in repr(proxy)
