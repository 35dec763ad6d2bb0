"""What a reply may be besides a completion, each from a real socket: statuses, broken bodies, wrong shapes, nothing to grade."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from support.asking import ask, ask_once, endpoint
from support.endpoint_server import Answer, chat, response, serving

from evalaction.method.records import Usage

HTML = "<html><body>502 but nobody noticed</body></html>"


def reason_of(body: Any, **how: Any) -> str | None:
    with serving(lambda received: response(body, **how)) as server:
        found = ask_once(server.url)
        assert server.count == 1
        return found.reason


def test_a_completion() -> None:
    with serving(lambda received: response(chat("four"))) as server:
        found = ask_once(server.url)
    assert found.reason is None
    assert (found.output, found.status, found.finish_reason) == ("four", 200, "stop")
    assert (found.usage, found.served_model) == (Usage(input=7, output=2), "stub-1")
    assert (found.fingerprint, found.response_id) == ("fp_stub", "chatcmpl-0")
    assert found.body_sha256 is not None
    assert len(found.body_sha256) == 64
    assert found.started_at.endswith("Z")
    assert found.error is None


@pytest.mark.parametrize("status", [201, 202, 204, 206, 301, 302, 307, 308, 400, 401, 404, 413, 429, 500, 503, 529])
def test_only_200_reaches(status: int) -> None:
    """A redirect is not followed, and a 201 with the expected answer in it is not one."""
    body = b"" if status == 204 else json.dumps(chat()).encode()
    with serving(lambda received: response(body, status=status, headers={"Location": "/elsewhere"})) as server:
        found = ask(server.url, draws=3)
        assert [(one.reason, one.status, one.output) for one in found] == [(f"status:{status}", status, None)] * 3
        assert server.count == 3, "exactly one request for each draw"
        assert server.connections == 1


@pytest.mark.parametrize("body", [b"", HTML.encode()])
def test_rate_limited(body: bytes) -> None:
    with serving(lambda received: response(body, status=429, headers={"Retry-After": "7"})) as server:
        found = ask(server.url, draws=4)
        assert server.count == 4
    assert {(one.reason, one.retry_after_ms, one.retry_after_raw, one.error) for one in found} == {
        ("status:429", 7000, "7", body.decode() or None)
    }


def test_rate_limited_in_milliseconds() -> None:
    with serving(lambda received: response(b"", status=429, headers={"x-ms-retry-after-ms": "2500"})) as server:
        (found,) = ask(server.url)
    assert (found.retry_after_ms, found.retry_after_raw) == (2500, "2.500")


def test_a_model_that_is_gone() -> None:
    said = '{"error": {"message": "The model `old` does not exist", "code": "model_not_found"}}'
    with serving(lambda received: response(said, status=404)) as server:
        found = ask_once(server.url)
    assert (found.reason, found.error) == ("status:404", said)


def test_an_error_body_is_kept_as_text_up_to_64_kib() -> None:
    with serving(lambda received: response(b"\xff" + b"e" * 200_000, status=500)) as server:
        found = ask(server.url, draws=2)
        assert server.connections == 2, "the rest is not read"
    assert found[0].reason == "status:500"
    assert found[0].error == "\ufffd" + "e" * 65_535


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(HTML, id="html"),
        pytest.param("", id="nothing"),
        pytest.param({"error": {"message": "overloaded"}}, id="error"),
        pytest.param(chat() | {"error": {"message": "and yet"}}, id="error beside a completion"),
        pytest.param({}, id="no choices"),
        pytest.param([], id="array"),
        pytest.param("null", id="null"),
        pytest.param({"choices": []}, id="no choice"),
        pytest.param({"choices": [{}]}, id="no message"),
        pytest.param({"choices": {"0": {}}}, id="choices is an object"),
        pytest.param(chat() | {"choices": [None]}, id="choice is null"),
        pytest.param(chat([{"type": "text", "text": "ok"}]), id="content is a list of parts"),  # type: ignore[arg-type]
        pytest.param(chat(7), id="content is a number"),  # type: ignore[arg-type]
        pytest.param(json.dumps(chat()).encode().replace(b'"ok"', b'"o\xffk"'), id="invalid UTF-8"),
        pytest.param(json.dumps(chat()).encode("utf-16"), id="UTF-16"),
        pytest.param(b"\xef\xbb\xbf" + json.dumps(chat()).encode(), id="BOM"),
        pytest.param(chat("\ud800"), id="lone surrogate"),
        pytest.param(chat() | {"id": "\udfff"}, id="lone surrogate in an id"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"choices":' * 300 + "1" + "}" * 300, id="deep and closed"),
        pytest.param('{"n": ' + "9" * 5_000 + "}", id="huge integer"),
        pytest.param('{"n": 1e99999999999999999999}', id="huge exponent"),
        pytest.param('{"n": NaN}', id="NaN"),
        pytest.param(json.dumps(chat()) + "{}", id="two values"),
        pytest.param('data: {"choices": []}\n\ndata: [DONE]\n\n', id="a stream"),
        pytest.param(json.dumps(chat())[:-1], id="cut within its length"),
    ],
)
def test_a_200_that_is_not_the_shape_of_its_api(body: Any) -> None:
    assert reason_of(body) == "malformed"


def test_a_malformed_reply_shows_why_and_what_came() -> None:
    with serving(lambda received: response(HTML, headers={"Content-Type": "text/html"})) as server:
        found = ask_once(server.url)
    assert found.error is not None
    assert found.error.startswith("the reply is not JSON: ")
    assert found.error.endswith(HTML)


@pytest.mark.parametrize(
    ("reason", "content", "finish_reason", "more"),
    [
        ("empty", None, "stop", {}),
        ("empty", "", "stop", {}),
        ("empty", " \n\t", "stop", {}),
        ("empty:length", None, "length", {"reasoning_content": "Let me think"}),
        ("empty:filter", "", "content_filter", {}),
        ("empty:refusal", None, "stop", {"refusal": "I will not."}),
        ("empty:tool_calls", None, "tool_calls", {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}),
        ("empty:tool_calls", None, "stop", {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}),
    ],
)
def test_nothing_to_grade(reason: str, content: str | None, finish_reason: str, more: dict[str, Any]) -> None:
    with serving(lambda received: response(chat(content, finish_reason=finish_reason, **more))) as server:
        found = ask_once(server.url)
    assert (found.reason, found.status, found.finish_reason, found.output) == (reason, 200, finish_reason, None)
    assert found.error == more.get("refusal")
    assert found.served_model == "stub-1"


@pytest.mark.parametrize("text", ["\u0000", "Zürich 🙂", "a\u2028b", " padded "])
def test_unusual_text_is_kept_as_it_came(text: str) -> None:
    bodies = (json.dumps(chat(text)), json.dumps(chat(text), ensure_ascii=False))
    headers = {"Content-Type": "text/plain; charset=latin-1"}
    with serving(lambda received: response(bodies[received.number], headers=headers)) as server:
        assert [one.output for one in ask(server.url, draws=2)] == [text, text]


def test_a_header_in_another_encoding_harms_nobody() -> None:
    with serving(lambda received: response(chat(), headers={"X-Note": "caf\xe9 \x93quoted\x94"})) as server:
        assert ask_once(server.url).reason is None


@pytest.mark.parametrize("declared", [True, False])
def test_oversize(declared: bool) -> None:
    body = json.dumps(chat("x" * 5_000)).encode()
    answer = response(body)
    if not declared:
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(body[i : i + 99]), body[i : i + 99]) for i in range(0, len(body), 99))
        answer = Answer((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunks, b"0\r\n\r\n"))
    with serving(lambda received: answer) as server:
        assert ask_once(server.url, limit=4_000).reason == "oversize"
        assert ask_once(server.url, limit=6_000).reason is None


def test_a_body_without_end_stops_at_the_limit() -> None:
    pieces = [b"HTTP/1.1 200 OK\r\n\r\n", *([b" " * 65_536] * 400)]
    with serving(lambda received: Answer(pieces)) as server:
        found = ask_once(server.url, limit=100_000_000)
    assert found.reason == "oversize", "8 MiB hold whatever the card says"


def coded(body: bytes, coding: str) -> Any:
    return response(body, headers={"Content-Encoding": coding})


def raw_deflate(body: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return engine.compress(body) + engine.flush()


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)]
)
def test_compressed_replies(coding: str, pack: Any) -> None:
    body = json.dumps(chat("packed " * 2_000)).encode()
    with serving(lambda received: coded(pack(body), coding)) as server:
        found = ask(server.url, draws=2)
        assert [one.output for one in found] == ["packed " * 2_000] * 2
        assert server.connections == 1


def test_a_gzip_bomb_is_oversize_and_cheap() -> None:
    bomb = gzip.compress(b" " * 300_000_000, compresslevel=9)
    assert len(bomb) < 1_048_576
    with serving(lambda received: coded(bomb, "gzip")) as server:
        found = ask_once(server.url)
    assert found.reason == "oversize"
    assert found.ms < 2_000


@pytest.mark.parametrize(
    ("reason", "body", "coding"),
    [
        ("malformed", b"this is not gzip", "gzip"),
        ("malformed", zlib.compress(b"{}") + b"more", "deflate"),
        ("malformed", json.dumps(chat()).encode(), "br"),
        ("cut", gzip.compress(json.dumps(chat()).encode())[:-12], "gzip"),
    ],
)
def test_broken_compression(reason: str, body: bytes, coding: str) -> None:
    with serving(lambda received: coded(body, coding)) as server:
        assert ask_once(server.url).reason == reason


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000,
    ],
)
def test_bytes_that_are_not_http(raw: bytes) -> None:
    with serving(lambda received: Answer((raw,))) as server:
        found = ask_once(server.url)
    assert found.reason == "malformed"
    assert found.error


def test_interim_responses_are_passed_over() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    with serving(lambda received: Answer((interim + response(chat()).pieces[0],))) as server:
        assert ask_once(server.url).output == "ok"


def test_a_body_until_the_close() -> None:
    body = json.dumps(chat()).encode()
    with serving(lambda received: Answer((b"HTTP/1.0 200 OK\r\n\r\n" + body,), end="close")) as server:
        assert ask_once(server.url).output == "ok"


def test_a_cache_says_so() -> None:
    with serving(lambda received: response(chat(), headers={"X-Cache": "HIT"})) as server:
        found = ask_once(server.url)
    assert (found.reason, found.cache_hit) == (None, "x-cache")


def test_every_draw_is_asked_anew() -> None:
    with serving(lambda received: response(chat(str(received.number), number=received.number))) as server:
        found = ask(server.url, draws=5)
    assert [one.output for one in found] == ["0", "1", "2", "3", "4"]
    assert len({one.body_sha256 for one in found}) == 5


def test_what_is_sent() -> None:
    with serving(lambda received: response(chat(str(received.json["max_tokens"])))) as server:
        found = ask_once(endpoint(f"{server.url}/v1/", params={"max_tokens": 123}))
        sent = server.requests[0]
    assert found.output == "123"
    assert (sent.method, sent.target) == ("POST", "/v1/chat/completions")
    assert sent.json == {"model": "stub-1", "messages": [{"role": "user", "content": "Say ok."}], "max_tokens": 123}
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["host"] == server.url.removeprefix("http://")
    assert "authorization" not in sent.headers
