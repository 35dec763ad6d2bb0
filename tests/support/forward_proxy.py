"""A real HTTP proxy on loopback: CONNECT tunnels and absolute-form requests, with its own idea of where names lead."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class ForwardProxy:
    names: Mapping[str, tuple[str, int]]
    """`host:port` as the client writes it, to where it really is."""
    refuse: int | None = None
    """Status for every request, instead of serving it."""
    url: str = ""
    heads: list[str] = field(default_factory=list)
    """Request heads as they came."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head.decode("latin-1"))
        method, target, _ = self.heads[-1].split("\r\n")[0].split(" ")
        if self.refuse is not None:
            writer.write(f"HTTP/1.1 {self.refuse} No\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
            return
        name = target if method == "CONNECT" else urlsplit(target).netloc + ("" if ":" in urlsplit(target).netloc else ":80")
        there, back = await asyncio.open_connection(*self.names[name])
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            back.write(head)
        await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65_536):
                sink.write(data)
                await sink.drain()
    finally:
        sink.close()


@contextlib.contextmanager
def proxying(names: Mapping[str, tuple[str, int]], *, refuse: int | None = None) -> Iterator[ForwardProxy]:
    """The proxy in a thread of its own, gone when the block ends."""
    proxy = ForwardProxy(names, refuse)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(proxy.serve, "127.0.0.1", 0))
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def end() -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for _ in range(3):  # closed transports let go of their sockets in later turns of the loop
            await asyncio.sleep(0)

    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
