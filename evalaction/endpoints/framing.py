"""Where one HTTP/1.1 response begins and ends, fed piece by piece and free of I/O: llhttp behind our bounds and words."""

from __future__ import annotations

from collections.abc import Callable

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

MAX_HEAD = 65_536
"""Bytes of a head, a chunk's header or the trailers; the parser itself has no bound."""


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
        self._until_close = False
        self._overhead = 0
        """Bytes that were no body since the last piece of it."""
        self._head = 0
        """Bytes of names and values in the head at hand."""
        parser = self._parser = HttpResponseParser(_Events(self))
        # A bare LF ends a line of a head too (RFC 9112, 2.2). Chunks win over a Content-Length beside them (6.3); such a
        # connection is not used again, so that nothing can hide behind the response.
        parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True, lenient_chunked_length=True)

    def feed(self, data: bytes) -> None:
        """More bytes from the connection of a reply that is not done. Raises BadFraming."""
        self.started = True
        self._overhead += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            if self.done:  # nobody asked for these bytes; the next response must not begin with them
                self.reusable = False
            elif isinstance(error, HttpParserCallbackError) and error.__context__ is not None:
                raise error.__context__ from None
            else:
                raise BadFraming(f"the reply is not HTTP/1.1: {error}") from None
        if self.done:
            del self._parser  # reader and parser hold each other: replies would wait for the garbage collector
        elif self._overhead > MAX_HEAD:
            raise BadFraming("the header of the reply is over 64 KiB")

    def end(self) -> bool:
        """The connection was closed: whether the response is complete."""
        if self._until_close:
            self.done = True
        return self.done

    def _add_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        if self._head > MAX_HEAD:
            raise BadFraming("the header of the reply is over 64 KiB")
        if self.status is None:  # else it is a trailer
            key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip(" \t")
            self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def _end_head(self) -> None:
        self._overhead = self._head = 0
        status, version = self._parser.get_status_code(), self._parser.get_http_version()
        if version not in {"1.1", "1.0"}:
            raise BadFraming(f"the reply is not HTTP/1.1: its version is {version}")
        if status < 200:
            if status == 101 or status < 100:
                raise BadFraming(f"the server answered with status {status}, which nobody asked for")
            self.headers = {}
            return
        coding, length = self.headers.get("transfer-encoding"), self.headers.get("content-length")
        if coding is not None and coding.lower() != "chunked" and status not in {204, 304}:
            raise BadFraming("the reply has an unknown transfer coding")
        self.reusable = self._parser.should_keep_alive() and (coding is None or length is None)
        self._until_close = coding is None and length is None
        self.status = status
        self._on_head(self)

    def _add_body(self, piece: bytes) -> None:
        self._overhead = 0
        self._on_body(piece)

    def _end_message(self) -> None:
        self.done = self.status is not None

    def _begin_message(self) -> None:
        if self.done:
            raise BadFraming("bytes follow the reply")


class _Events:
    """The callbacks under the names that the parser looks for."""

    def __init__(self, reader: ResponseReader) -> None:
        self.on_message_begin = reader._begin_message
        self.on_header = reader._add_header
        self.on_headers_complete = reader._end_head
        self.on_body = reader._add_body
        self.on_message_complete = reader._end_message
