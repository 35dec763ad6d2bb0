"""GitHub's API as companies reach it: an Enterprise server below a path, behind a CONNECT proxy and a private authority."""

from __future__ import annotations

import contextlib
import ssl

import pytest
from support.forward_proxy import proxying
from support.github_api import TOKEN, serve

from evalaction.github.api import Api
from evalaction.github.comment import Posted, author_of, upsert
from evalaction.github.marker import key_of
from evalaction.github.replies import Ok, Refused

HOST = "github.company.example"
KEY = key_of("gate", "")


@pytest.mark.parametrize("given", ["ca-bundle", "SSL_CERT_FILE"])
def test_an_enterprise_server_behind_proxy_and_private_authority(tls: ssl.SSLContext, bundle: str, given: str) -> None:
    with (
        serve("/api/v3", tls=tls, name=HOST) as stand_in,
        proxying({f"{HOST}:443": ("127.0.0.1", stand_in.port)}) as proxy,
    ):
        environ = {"HTTPS_PROXY": proxy.url.replace("http://", "http://user:p%40ss@"), "NO_PROXY": "other.example"}
        ca_bundle = bundle if given == "ca-bundle" else None
        environ |= {} if ca_bundle else {"SSL_CERT_FILE": bundle}
        with contextlib.closing(Api(f"https://{HOST}/api/v3", TOKEN, environ=environ, ca_bundle=ca_bundle)) as api:
            me = author_of(api)
            assert isinstance(me, Ok)
            posted = upsert(api, "octo/demo", 7, KEY, "body", me=me.data)
        assert isinstance(posted, Posted)
        assert not stand_in.violations
    assert proxy.heads[0].startswith(f"CONNECT {HOST}:443 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in proxy.heads[0]
    assert all(TOKEN not in head for head in proxy.heads)


def test_a_certificate_of_nobody_is_refused_and_the_token_stays_here(tls: ssl.SSLContext) -> None:
    with serve(tls=tls, name=HOST) as stand_in, proxying({f"{HOST}:443": ("127.0.0.1", stand_in.port)}) as proxy:
        with contextlib.closing(Api(stand_in.base, TOKEN, environ={"HTTPS_PROXY": proxy.url}, wait_cap_s=0)) as api:
            answer = upsert(api, "octo/demo", 7, KEY, "body", me="github-actions[bot]")
        assert isinstance(answer, Refused)
        assert answer.kind == "network"
        assert "ca-bundle" in answer.sentence
        assert stand_in.count() == 0


@pytest.mark.parametrize("status", [403, 407, 502])
def test_a_proxy_that_refuses_is_no_word_of_github(status: int) -> None:
    with (
        proxying({}, refuse=status) as proxy,
        contextlib.closing(Api(f"https://{HOST}", TOKEN, environ={"HTTPS_PROXY": proxy.url}, wait_cap_s=0)) as api,
    ):
        answer = api.request("GET", "/user", doing="say who it is")
    assert isinstance(answer, Refused)
    assert answer.kind == "network"
