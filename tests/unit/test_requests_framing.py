"""The framing of HTTP/1.1 against h11's, for any reply cut into any pieces; and never anything but BadFraming for noise."""

from __future__ import annotations

import gc
import gzip
import itertools
import zlib
from collections.abc import Callable, Iterable

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.endpoints.coding import BadCoding, Body, TooLarge
from evalaction.endpoints.framing import BadFraming, ResponseReader

TOKEN = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map(lambda name: f"x-{name}")
VALUE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=30)


@st.composite
def replies(draw: st.DrawFn) -> bytes:
    status = draw(st.sampled_from([200, 201, 204, 304, 404, 429, 500]))
    body = draw(st.binary(max_size=300))
    newline = draw(st.sampled_from(["\r\n", "\n"]))
    lines = [f"HTTP/1.{draw(st.sampled_from('011'))} {status}{draw(st.sampled_from([' OK', ' ', '']))}"]
    lines += [
        f"{name}:{draw(st.sampled_from(['', ' ']))}{value}" for name, value in draw(st.lists(st.tuples(TOKEN, VALUE), max_size=4))
    ]
    if draw(st.booleans()):
        lines.append(f"Connection: {draw(st.sampled_from(['close', 'keep-alive', 'Close, x']))}")
    how = draw(st.sampled_from(["length", "chunked", "close"]))
    if how == "length":
        lines.append(f"Content-Length: {len(body)}")
    elif how == "chunked":
        lines[0] = lines[0].replace("HTTP/1.0", "HTTP/1.1")
        lines.append("Transfer-Encoding: chunked")
        size = draw(st.integers(1, 100))
        chunks = [body[start : start + size] for start in range(0, len(body), size)]
        extension = draw(st.sampled_from([b"", b";name=value"]))
        body = b"".join(b"%X%b\r\n%b\r\n" % (len(chunk), extension, chunk) for chunk in chunks)
        body += b"0\r\n" + draw(st.sampled_from([b"", b"X-Trailer: 1\r\n"])) + b"\r\n"
    if status in {204, 304}:
        body = b""
    interim = draw(st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\n\r\n"]))
    return interim + (newline.join(lines) + newline * 2).encode() + body


def ours(pieces: Iterable[bytes]) -> tuple[int, bytes]:
    got: list[bytes] = []
    reader = ResponseReader(lambda reader: None, got.append)
    for piece in pieces:
        if not reader.done:
            reader.feed(piece)
    assert reader.end()
    assert reader.status is not None
    return reader.status, b"".join(got)


def theirs(data: bytes) -> tuple[int, bytes]:
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("Host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(data)
    connection.receive_data(b"")
    status, got = 0, b""
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            got += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return status, got


@settings(max_examples=200)
@given(replies(), st.lists(st.integers(0, 600), max_size=8))
def test_the_same_reply_as_h11_reads_however_it_is_cut(data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    assert ours(data[start:end] for start, end in itertools.pairwise(places)) == theirs(data)
    assert ours(bytes([one]) for one in data) == theirs(data)


@settings(max_examples=200)
@given(replies(), st.data())
def test_a_reply_that_ends_early_is_never_complete_unless_it_has_no_length(data: bytes, choice: st.DataObject) -> None:
    cut = choice.draw(st.integers(0, len(data) - 1))
    reader = ResponseReader(lambda reader: None, lambda piece: None)
    reader.feed(data[:cut])
    ended = reader.end()
    if b"content-length" in data.lower() or b"transfer-encoding" in data.lower():
        assert not ended or reader.status in {204, 304}


STARTS = [b"", b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n"]


@settings(max_examples=300)
@given(st.binary(max_size=200), st.sampled_from(STARTS))
def test_noise_is_refused_or_incomplete(noise: bytes, start: bytes) -> None:
    reader = ResponseReader(lambda reader: None, lambda piece: None)
    try:
        reader.feed(start + noise)
    except BadFraming as refusal:
        assert str(refusal)
    else:
        reader.end()


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x, close", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2", False),
        (b"HTTP/1.1 200 OK", False),
    ],
)
def test_when_a_connection_may_be_used_again(head: bytes, reusable: bool) -> None:
    reader = ResponseReader(lambda reader: None, lambda piece: None)
    reader.feed(head + b"\r\n\r\nok")
    reader.end()
    assert (reader.done, reader.reusable) == (True, reusable)


def test_a_smuggled_second_length_closes_the_connection() -> None:
    got: list[bytes] = []
    reader = ResponseReader(lambda reader: None, got.append)
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
    assert (got, reader.done, reader.reusable) == ([b"ok"], True, False)


@pytest.mark.parametrize("size", [1_000, 50_000])
@pytest.mark.parametrize(
    "start",
    [
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 103 Early\r\nX: 1\r\n\r\nHTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: ",
    ],
)
def test_heads_chunk_headers_and_trailers_have_a_bound(start: bytes, size: int) -> None:
    reader = ResponseReader(lambda reader: None, lambda piece: None)
    endless = start + b"x" * 200_000
    with pytest.raises(BadFraming, match="64 KiB"):
        for place in range(0, len(endless), size):
            reader.feed(endless[place : place + size])
    assert not reader.done


def test_a_whole_head_over_the_bound_in_one_piece() -> None:
    reader = ResponseReader(lambda reader: None, lambda piece: None)
    with pytest.raises(BadFraming, match="64 KiB"):
        reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + b"X: yyyyyyyyyy\r\n" * 10_000 + b"\r\n")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/2.0 200 OK\r\nContent-Length: 2",
        b"HTTP/0.9 200 OK\r\nContent-Length: 2",
        b"HTTP/1.1 099 OK\r\nContent-Length: 2",
        b"HTTP/1.1 101 OK\r\nConnection: upgrade\r\nUpgrade: h2c",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked",
        b"HTTP/1.1 200 OK\r\nX: folded\r\n line",
        b"HTTP/1.1 200 OK\r\nX: nul\0",
        b"HTTP/1.1 200 OK\r\nX : space",
    ],
)
def test_heads_that_are_refused(head: bytes) -> None:
    reader = ResponseReader(lambda reader: None, lambda piece: None)
    with pytest.raises(BadFraming):
        reader.feed(head + b"\r\n\r\nok")
    assert (reader.done, reader.reusable) == (False, False)


def test_an_upgrade_that_is_only_offered_is_passed_over() -> None:
    got: list[bytes] = []
    reader = ResponseReader(lambda reader: None, got.append)
    reader.feed(b"HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nok")
    assert (got, reader.done, reader.reusable) == ([b"ok"], True, True)


@pytest.mark.parametrize("more", [b"H", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmore", b"noise", b"\0"])
@pytest.mark.parametrize("head", [b"200 OK\r\nContent-Length: 2\r\n\r\nok", b"304 Not Modified\r\nContent-Length: 2\r\n\r\n"])
def test_bytes_behind_a_reply_do_not_count_and_close_the_connection(head: bytes, more: bytes) -> None:
    heads: list[int | None] = []
    got: list[bytes] = []
    reader = ResponseReader(lambda reader: heads.append(reader.status), got.append)
    reader.feed(b"HTTP/1.1 " + head + more)
    assert (len(heads), b"".join(got)) == (1, head.partition(b"\r\n\r\n")[2])
    assert (reader.done, reader.reusable) == (True, False)


def test_what_the_callbacks_raise_goes_through() -> None:
    def refuse(_: object) -> None:
        raise TooLarge

    for reader in (ResponseReader(refuse, lambda piece: None), ResponseReader(lambda reader: None, refuse)):
        with pytest.raises(TooLarge):
            reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        assert not reader.done


def test_a_read_reply_needs_no_garbage_collector() -> None:
    gone = []

    class Piece(bytes):
        def __del__(self) -> None:
            gone.append(self)

    gc.disable()
    try:
        kept = [Piece(b"x")]
        reader = ResponseReader(lambda reader: None, kept.append)  # type: ignore[arg-type]
        reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        del reader, kept
        assert gone
    finally:
        gc.enable()


def decoded(coding: str, data: bytes, size: int, limit: int = 10_000_000) -> Body:
    body = Body(limit)
    body.begin(coding)
    for start in range(0, len(data), size):
        body.add(data[start : start + size])
    return body


@given(st.binary(max_size=2_000), st.integers(1, 300), st.sampled_from(["gzip", "deflate", "identity", "", " GZIP "]))
def test_what_was_packed_is_unpacked(data: bytes, size: int, coding: str) -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}
    pack = packers.get(coding.strip().lower(), bytes)
    body = decoded(coding, pack(data), size)
    assert (body.data, body.complete or not data) == (data, True)


def test_members_of_gzip_and_much_output_of_little_input() -> None:
    data = b" " * 5_000_000
    assert decoded("gzip", gzip.compress(b"ab") + gzip.compress(b"cd"), 7).data == b"abcd"
    assert decoded("gzip", gzip.compress(data), 1).data == data
    assert decoded("gzip", gzip.compress(data), 10**6).complete


@given(st.integers(0, 3_000), st.sampled_from(["gzip", ""]), st.integers(1, 5_000))
def test_the_limit_is_of_decoded_bytes_and_exact(limit: int, coding: str, size: int) -> None:
    pack: Callable[[bytes], bytes] = gzip.compress if coding else bytes
    assert decoded(coding, pack(b"x" * limit), size, limit).data == b"x" * limit
    with pytest.raises(TooLarge):
        decoded(coding, pack(b"x" * (limit + 1)), size, limit)


@given(st.binary(min_size=1, max_size=200), st.sampled_from(["gzip", "deflate"]))
def test_noise_is_not_compressed_data(noise: bytes, coding: str) -> None:
    try:
        body = decoded(coding, noise, 50, 10_000)
    except (BadCoding, TooLarge):
        return
    assert not body.complete or decoded(coding, noise, 1, 10_000).data == body.data
