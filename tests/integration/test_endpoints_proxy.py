"""Proxies and CA bundles as companies use them: a real CONNECT proxy, a private authority, names only the proxy knows."""

from __future__ import annotations

import ssl

import pytest
from support.asking import KEY, ask, ask_once, endpoint
from support.endpoint_server import answering, serving
from support.forward_proxy import proxying

HOST = "models.company.example"


@pytest.mark.parametrize("variable", ["https_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_https_goes_through_a_tunnel(tls: ssl.SSLContext, bundle: str, variable: str) -> None:
    with (
        serving(answering(lambda received: "ok"), tls=tls) as server,
        proxying({f"{HOST}:443": ("127.0.0.1", server.port)}) as proxy,
    ):
        address = proxy.url.replace("http://", "http://user:p%40ss@")
        found = ask(
            endpoint(f"https://{HOST}/v1", key_env="EVAL_KEY"),
            environ={"EVAL_KEY": KEY, variable: address},
            ca_bundle=bundle,
            draws=3,
        )
        assert [one.reason for one in found] == [None] * 3
        assert server.connections == 1
        assert server.requests[0].headers["host"] == HOST
        assert "proxy-authorization" not in server.requests[0].headers
    assert len(proxy.heads) == 1
    assert proxy.heads[0].startswith(f"CONNECT {HOST}:443 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in proxy.heads[0]
    assert KEY not in proxy.heads[0]


def test_a_tunnel_does_not_excuse_a_wrong_certificate(tls: ssl.SSLContext) -> None:
    with (
        serving(answering(lambda received: "ok"), tls=tls) as server,
        proxying({f"{HOST}:443": ("127.0.0.1", server.port)}) as proxy,
    ):
        assert ask_once(f"https://{HOST}", environ={"HTTPS_PROXY": proxy.url}).reason == "tls"
        assert server.count == 0


def test_plain_http_is_forwarded_in_absolute_form() -> None:
    with (
        serving(answering(lambda received: "ok")) as server,
        proxying({f"{HOST}:80": ("127.0.0.1", server.port)}) as proxy,
    ):
        found = ask_once(f"http://{HOST}/v1", environ={"HTTP_PROXY": proxy.url.replace("http://", "http://u:p@")})
        assert found.reason is None
    assert proxy.heads[0].startswith(f"POST http://{HOST}/v1/chat/completions HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic dTpw\r\n" in proxy.heads[0]


@pytest.mark.parametrize("status", [403, 407, 502])
def test_a_proxy_that_refuses(bundle: str, status: int) -> None:
    with proxying({}, refuse=status) as proxy:
        found = ask_once(f"https://{HOST}", environ={"HTTPS_PROXY": proxy.url}, ca_bundle=bundle)
    assert (found.reason, found.error) == ("connect", f"the proxy refused the tunnel with status {status}")


def test_a_proxy_that_is_not_there(bundle: str) -> None:
    with proxying({}) as proxy:
        gone = proxy.url
    found = ask_once(f"https://{HOST}", environ={"HTTPS_PROXY": gone}, ca_bundle=bundle)
    assert (found.reason, found.error) == ("connect", "Connection refused")


def test_loopback_and_no_proxy_go_directly() -> None:
    with serving(answering(lambda received: "ok")) as server, proxying({}) as proxy:
        assert ask_once(server.url, environ={"http_proxy": proxy.url}).reason is None
        assert proxy.heads == []
