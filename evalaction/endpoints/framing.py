"""Where one HTTP/1.1 response begins and ends (RFC 9112), fed piece by piece and free of I/O.

Written by hand because it is most of the client's own CPU time: the benchmark of the transport compares it with the libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_HEAD = 65_536
MAX_CHUNK_LINE = 4_096

_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})(?: [^\x00]*)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DIGITS = re.compile(r"[0-9]{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")


class BadFraming(Exception):
    """The bytes are not an HTTP/1.1 response; the text says why."""


class ResponseReader:
    """Reads one response. `status` is None before its head is complete; `done` once its last byte is in.

    `on_head` is called once when these are known, then `on_body` with each piece of the body, content coding included; what they
    raise goes through.
    """

    def __init__(self, on_head: Callable[[ResponseReader], None], on_body: Callable[[bytes], None]) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        """Lower-case names; repeated ones are joined with a comma."""
        self.done = False
        self.reusable = False
        """Whether another response may follow on this connection."""
        self.started = False
        self._on_head = on_head
        self._on_body = on_body
        self._buffer = b""
        self._left: int | None = 0
        """Bytes of the body, or of the chunk, still to come; None: until the connection closes."""
        self._read: Callable[[], bool] = self._read_head

    def feed(self, data: bytes) -> None:
        """More bytes from the connection. Raises BadFraming."""
        self.started = True
        self._buffer = self._buffer + data if self._buffer else data
        while not self.done and self._read():
            pass
        if self.done and self._buffer:
            self.reusable = False  # nobody asked for these bytes; the next response must not begin with them

    def end(self) -> bool:
        """The connection was closed: whether the response is complete."""
        if self.status is not None and self._left is None:
            self.done = True
        return self.done

    def _read_head(self) -> bool:
        blank = _BLANK_LINE.search(self._buffer)
        if blank is None or blank.start() > MAX_HEAD:
            if len(self._buffer) > MAX_HEAD:
                raise BadFraming("the header of the reply is over 64 KiB")
            if not b"HTTP/1."[: len(self._buffer)] == self._buffer[:7]:
                raise BadFraming("the reply is not HTTP/1.1")
            return False
        lines = self._buffer[: blank.start()].split(b"\n")
        self._buffer = self._buffer[blank.end() :]
        matched = _STATUS.fullmatch(lines[0].rstrip(b"\r"))
        if matched is None:
            raise BadFraming("the reply is not HTTP/1.1")
        status = int(matched[2])
        if status < 200:
            if status == 101 or status < 100:
                raise BadFraming(f"the server answered with status {status}, which nobody asked for")
            return True
        self.headers = _headers(lines[1:])
        self.status = status
        self._frame(minor=matched[1])
        self._on_head(self)
        return True

    def _frame(self, minor: bytes) -> None:
        headers = self.headers
        tokens = {token.strip() for token in headers.get("connection", "").lower().split(",")}
        self.reusable = minor == b"1" and "close" not in tokens
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if self.status in {204, 304}:
            self.done = True
        elif coding is not None:
            if coding.strip().lower() != "chunked":
                raise BadFraming("the reply has an unknown transfer coding")
            self.reusable = self.reusable and length is None
            self._read = self._read_chunk_line
        elif length is not None:
            lengths = {one.strip() for one in length.split(",")}
            only = lengths.pop()
            if lengths or not _DIGITS.fullmatch(only):
                raise BadFraming("the reply has no valid Content-Length")
            self._left = int(only)
            self._read = self._read_body
            self.done = self._left == 0
        else:
            self._left = None
            self.reusable = False
            self._read = self._read_body

    def _read_body(self) -> bool:
        piece = self._take()
        if piece:
            self._on_body(piece)
        self.done = self._left == 0
        return False

    def _take(self) -> bytes:
        """What the buffer holds of the body or chunk at hand."""
        piece = self._buffer
        if self._left is None:
            self._buffer = b""
            return piece
        if len(piece) <= self._left:
            self._buffer = b""
        else:
            self._buffer = piece[self._left :]
            piece = piece[: self._left]
        self._left -= len(piece)
        return piece

    def _line(self) -> bytes | None:
        line, newline, rest = self._buffer.partition(b"\n")
        if len(line) > MAX_CHUNK_LINE:
            raise BadFraming("a chunk header of the reply is over 4 KiB")
        if not newline:
            return None
        self._buffer = rest
        return line.rstrip(b"\r")

    def _read_chunk_line(self) -> bool:
        line = self._line()
        if line is None:
            return False
        matched = _CHUNK.fullmatch(line)
        if matched is None:
            raise BadFraming("the reply has a chunk without a valid size")
        self._left = int(matched[1], 16)
        self._read = self._read_chunk if self._left else self._read_trailer
        return True

    def _read_chunk(self) -> bool:
        piece = self._take()
        if piece:
            self._on_body(piece)
        if self._left:
            return False
        self._read = self._read_chunk_end
        return True

    def _read_chunk_end(self) -> bool:
        line = self._line()
        if line:
            raise BadFraming("a chunk of the reply is longer than its size says")
        self._read = self._read_chunk_line if line is not None else self._read
        return line is not None

    def _read_trailer(self) -> bool:
        line = self._line()
        self.done = line == b""
        return bool(line)


def _headers(lines: list[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not _NAME.fullmatch(name) or "\0" in value:
            raise BadFraming("the reply has a header that is not one")
        name, value = name.lower(), value.strip(" \t\r")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
