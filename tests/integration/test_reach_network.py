"""Every reach reason that comes before a readable reply, each from a real socket."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator

import pytest
import trustme
from support.asking import KEY, ask, ask_once, endpoint
from support.endpoint_server import Answer, chat, fault, response, serving


def server_tls(authority: trustme.CA, name: str = "127.0.0.1") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is taken and not listened on, so that nobody else can open it meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def test_nobody_listens(closed_port: int) -> None:
    found = ask_once(f"http://127.0.0.1:{closed_port}")
    assert (found.reason, found.status, found.error) == ("connect", None, "Connection refused")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "x" * 64 + ".example"])
def test_a_name_that_does_not_resolve(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(name: str, *args: object, **more: object) -> object:
        """What a resolver says of both names, without asking one."""
        name.encode("idna")
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    found = ask_once(f"https://{host}/v1")
    assert found.reason == "dns"
    assert found.error
    assert host not in found.error


def test_a_reset_instead_of_a_reply() -> None:
    with serving(lambda received: fault("reset")) as server:
        assert ask_once(server.url).reason == "reset"
        assert server.count == 1


def test_a_close_instead_of_a_reply() -> None:
    with serving(lambda received: fault("close")) as server:
        found = ask_once(server.url)
    assert (found.reason, found.error) == ("reset", "the server closed the connection without a reply")


def test_a_silent_server_is_a_timeout() -> None:
    with serving(lambda received: fault("silent")) as server:
        start = time.monotonic()
        found = ask_once(server.url, timeout_ms=200)
        assert found.reason == "timeout"
        assert 0.19 < time.monotonic() - start < 30
        assert 195 <= found.ms < 30_000
        assert server.count == 1


def test_a_listener_that_never_accepts_tls_is_a_timeout(bundle: str) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen(1)
        found = ask_once(f"https://127.0.0.1:{held.getsockname()[1]}", timeout_ms=200, ca_bundle=bundle)
    assert found.reason == "timeout"


@pytest.mark.parametrize("where", ["head", "body"])
def test_a_slow_drip_is_cut_by_the_total_deadline(where: str) -> None:
    whole = response(chat()).pieces[0]
    start = 0 if where == "head" else whole.index(b"\r\n\r\n") + 4
    pieces = [whole[:start], *(bytes([one]) for one in whole[start:])]
    with serving(lambda received: Answer([piece for piece in pieces if piece], gap_s=0.05)) as server:
        found = ask_once(server.url, timeout_ms=300)
    assert (found.reason, found.status) == ("timeout", None if where == "head" else 200)


def test_a_dripping_error_keeps_its_status() -> None:
    whole = response("busy, and slow to say so", status=503).pieces[0]
    cut = whole.index(b"busy") + 4
    with serving(lambda received: Answer([whole[:cut], whole[cut:]], gap_s=5)) as server:
        found = ask_once(server.url, timeout_ms=200)
    assert (found.reason, found.status, found.error) == ("status:503", 503, "busy")


def test_a_body_that_ends_early() -> None:
    whole = response(chat()).pieces[0]
    with serving(lambda received: Answer((whole[:-20],), end="close")) as server:
        found = ask_once(server.url)
    assert (found.reason, found.status) == ("cut", 200)


def test_a_reset_in_the_body() -> None:
    whole = response(chat()).pieces[0]
    with serving(lambda received: Answer((whole[:-20], b""), gap_s=0.1, end="reset")) as server:
        assert ask_once(server.url).reason == "reset"


def test_chunks_that_stop_without_their_end() -> None:
    head = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n'
    with serving(lambda received: Answer((head,), end="close")) as server:
        assert ask_once(server.url).reason == "cut"


def test_a_content_length_that_lies() -> None:
    body = chat()
    size = len(response(body).pieces[0].partition(b"\r\n\r\n")[2])
    with serving(lambda received: response(body, length=size + 10, end="close")) as server:
        assert ask_once(server.url).reason == "cut"
    with serving(lambda received: response(body, length=size - 10)) as server:
        found = ask(server.url, draws=2)
        assert [one.reason for one in found] == ["malformed", "malformed"]
        assert server.connections == 2, "what followed the false end must not be read as the next reply"


def test_a_certificate_of_an_unknown_authority(authority: trustme.CA) -> None:
    other = trustme.CA()
    with serving(lambda received: response(chat()), tls=server_tls(other)) as server:
        found = ask_once(endpoint(server.url, key_env="EVAL_KEY"), environ={"EVAL_KEY": KEY})
        assert found.reason == "tls"
        assert server.count == 0, "the key never left"


def test_a_certificate_for_another_name(authority: trustme.CA, bundle: str) -> None:
    with serving(lambda received: response(chat()), tls=server_tls(authority, "other.example")) as server:
        found = ask_once(server.url, ca_bundle=bundle)
    assert (found.reason, found.error) == ("tls", "certificate refused: it is for another name")


def test_https_to_a_port_that_speaks_plain_http(bundle: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async def run() -> str | None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            return (await asyncio.to_thread(ask_once, url, ca_bundle=bundle)).reason

    assert asyncio.run(run()) == "tls"


@pytest.mark.parametrize("how", ["argument", "variable"])
def test_a_trusted_authority(authority: trustme.CA, bundle: str, how: str) -> None:
    with serving(lambda received: response(chat()), tls=server_tls(authority)) as server:
        environ = {"EVAL_KEY": KEY} | ({"SSL_CERT_FILE": bundle} if how == "variable" else {})
        found = ask(
            endpoint(server.url, key_env="EVAL_KEY"),
            environ=environ,
            ca_bundle=bundle if how == "argument" else None,
            draws=3,
        )
        assert [one.output for one in found] == ["ok"] * 3
        assert server.connections == 1
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
