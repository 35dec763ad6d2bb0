"""A stub model server on loopback, in a thread or as a process of its own, that can misbehave on purpose.

`python tests/support/endpoint_server.py --latency-ms 50` prints its base address and serves until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Fault = Literal["reset", "close", "silent"]


@dataclass(frozen=True)
class Received:
    """One request as the server saw it. `number` counts from 0 over all connections."""

    number: int
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """What goes back: raw pieces of bytes, `gap_s` between them, after `delay_s`; then `end`."""

    pieces: Sequence[bytes]
    delay_s: float = 0.0
    gap_s: float = 0.0
    end: Literal["keep", "close", "reset", "silent"] = "keep"


Behaviour = Callable[[Received], Answer]


def response(
    body: bytes | str | Any = b"",
    *,
    status: int = 200,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    delay_s: float = 0.0,
    end: Literal["keep", "close", "reset", "silent"] = "keep",
    length: int | None = None,
) -> Answer:
    """A whole reply with a Content-Length (a false one if `length` says so); anything but bytes and str is sent as JSON."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    if not any(name.lower() == "content-type" for name, _ in pairs):
        pairs.append(("Content-Type", "application/json"))
    if status != 204:
        pairs.append(("Content-Length", str(len(body) if length is None else length)))
    head = f"HTTP/1.1 {status} Whatever\r\n" + "".join(f"{name}: {value}\r\n" for name, value in pairs) + "\r\n"
    return Answer(pieces=(head.encode("latin-1") + body,), delay_s=delay_s, end=end)


def fault(kind: Fault) -> Answer:
    """No reply at all: a reset, a plain close, or silence."""
    return Answer(pieces=(), end=kind)


def chat(text: str | None = "ok", *, finish_reason: str = "stop", number: int = 0, **more: Any) -> dict[str, Any]:
    """The body of a chat completion in the OpenAI shape; `more` goes into the message."""
    message = {"role": "assistant", "content": text} | more
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000 + number,
        "model": "stub-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
        "system_fingerprint": "fp_stub",
    }


def answering(reply: Callable[[Received], str], *, latency_s: float = 0.0) -> Behaviour:
    """A well-behaved server: `reply` is given the request and returns the text."""
    return lambda received: response(chat(reply(received), number=received.number), delay_s=latency_s)


def fast(latency_s: float = 0.05, text: str = "ok") -> Behaviour:
    """The leanest well-behaved server, for benchmarks: only the response id differs from reply to reply."""
    whole = response(chat(text, number=10_000_000)).pieces[0]
    before, after = whole.split(b"chatcmpl-10000000")
    return lambda received: Answer((before + b"chatcmpl-%d" % (10_000_000 + received.number) + after,), latency_s)


class _Connection(asyncio.Protocol):
    def __init__(self, server: EndpointServer) -> None:
        self.server = server
        self.buffer = b""
        self.transport: asyncio.Transport
        self.number = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.number = self.server.connections
        self.server.connections += 1
        self.server.live.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.live.discard(self)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, blank, rest = self.buffer.partition(b"\r\n\r\n")
        if not blank:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        method, target, _ = lines[0].split(" ", 2)
        self.server.answer(self, method, target, headers, rest[:length])

    def play(self, answer: Answer, place: int = 0) -> None:
        if self.transport.is_closing():
            return
        if answer.gap_s and place < len(answer.pieces):
            self.transport.write(answer.pieces[place])
            self.server.loop.call_later(answer.gap_s, self.play, answer, place + 1)
            return
        if not answer.gap_s:
            for piece in answer.pieces:
                self.transport.write(piece)
        if answer.end == "close":
            self.transport.close()
        elif answer.end == "reset":
            self.reset()

    def reset(self) -> None:
        raw = self.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


@dataclass
class EndpointServer:
    """Counts what it is asked. Start it with `serving(...)`; `url` is its base address."""

    behaviour: Behaviour
    keep: bool = True
    """Keep the requests; off in benchmarks."""
    url: str = ""
    port: int = 0
    count: int = 0
    connections: int = 0
    requests: list[Received] = field(default_factory=list)
    live: set[_Connection] = field(default_factory=set)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def answer(self, connection: _Connection, method: str, target: str, headers: dict[str, str], body: bytes) -> None:
        received = Received(self.count, method, target, headers, body, connection.number)
        self.count += 1
        if self.keep:
            self.requests.append(received)
        answer = self.behaviour(received)
        if answer.delay_s:
            self.loop.call_later(answer.delay_s, connection.play, answer)
        else:
            connection.play(answer)

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None) -> asyncio.Server:
        server = await self.loop.create_server(lambda: _Connection(self), host, port, ssl=tls, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{self.port}"
        return server

    async def end(self, server: asyncio.Server) -> None:
        for listening in server.sockets:
            self.loop.remove_reader(listening.fileno())  # closing at once would lose a connection that is being accepted
        await self._turns()
        server.close()
        handshakes = asyncio.all_tasks() - {asyncio.current_task()}
        for task in handshakes:
            task.cancel()
        await asyncio.gather(*handshakes, return_exceptions=True)
        for connection in list(self.live):
            connection.transport.abort()
        await self._turns()

    async def _turns(self) -> None:
        """A transport opens and lets go of its socket in later turns of the loop."""
        for _ in range(10):
            await asyncio.sleep(0)

    def close_idle(self) -> None:
        """Close every open connection, as a server does whose keep-alive limit has passed."""
        for connection in list(self.live):
            self.loop.call_soon_threadsafe(connection.transport.close)


@contextlib.contextmanager
def serving(
    behaviour: Behaviour, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> Iterator[EndpointServer]:
    """The server in a thread of its own, gone when the block ends."""
    server = EndpointServer(behaviour)
    listener = server.loop.run_until_complete(server.listen(host, port, tls))
    thread = threading.Thread(target=server.loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.end(listener), server.loop).result(10)
        server.loop.call_soon_threadsafe(server.loop.stop)
        thread.join(10)
        server.loop.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--text", default="ok")
    arguments = parser.parse_args()
    server = EndpointServer(fast(arguments.latency_ms / 1000, arguments.text), keep=False)
    asyncio.set_event_loop(server.loop)
    server.loop.run_until_complete(server.listen("127.0.0.1", arguments.port, None))
    sys.stdout.write(server.url + "\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        server.loop.run_forever()


if __name__ == "__main__":
    main()
