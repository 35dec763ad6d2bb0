"""What one draw costs on each way to send it: wall time against the ideal, CPU of the client, on loopback in one run.

`python -m benchmarks.transport` starts the stub server as a process of its own. aiohttp is measured only if it is installed.
Whether TLS, proxies and a CA bundle work on the transport in use is tested in tests/integration.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from benchmarks.exams import KEY, PROMPT, stub_server
from evalaction.endpoints import Call, build_request, open_surface
from evalaction.endpoints.address import parse_url
from evalaction.endpoints.connect import OPENING_S, Route
from evalaction.endpoints.transport import Connection
from evalaction.method.card import Endpoint
from evalaction.method.records import Message

PATH = "/v1/chat/completions"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": PROMPT}], "temperature": 0.2}).encode()
Send = Callable[[], Awaitable[bool]]
Client = Callable[[str], AbstractAsyncContextManager[Callable[[], Send]]]
"""Given the server's address: a factory of slots, each an async function that makes one draw and says whether it was answered."""


@asynccontextmanager
async def slots(url: str) -> AsyncIterator[Callable[[], Send]]:
    """The product: a request becomes a completion."""
    endpoint = Endpoint(name="main", api="openai", url=url, model="m", key_env="KEY")
    call = Call(request=build_request(endpoint, [Message("user", PROMPT)], "text"), item="t", draw=0, timeout_ms=10_000)
    surface = open_surface(endpoint, environ={"KEY": KEY}, files={})
    opened = []

    def one() -> Send:
        slot = surface.slot()
        opened.append(slot)

        async def send() -> bool:
            return (await slot.send(call)).output == "ok"

        return send

    yield one
    for slot in opened:
        await slot.aclose()


@asynccontextmanager
async def bare(url: str) -> AsyncIterator[Callable[[], Send]]:
    """The bare loop of the transport in use: the exchange, and the reply parsed as JSON by the standard library."""
    route = Route(parse_url(url, what="url"))
    headers = f"Host: {route.address.netloc}\r\nAuthorization: Bearer {KEY}\r\nContent-Length: {len(BODY)}"
    head = f"POST {PATH} HTTP/1.1\r\n{headers}".encode()
    opened = []

    def one() -> Send:
        connection = Connection(route)
        opened.append(connection)

        async def send() -> bool:
            await connection.ready()
            reply = await connection.exchange(head, BODY, timeout_s=10.0, limit=1 << 20)
            return reply.status == 200 and bool(json.loads(reply.body)["choices"])

        return send

    yield one
    for connection in opened:
        await connection.aclose()


@asynccontextmanager
async def httpcore_connections(url: str) -> AsyncIterator[Callable[[], Send]]:
    import httpcore

    target = httpcore.URL(f"{url}{PATH}")
    headers = [("Host", urlsplit(url).netloc), ("Authorization", f"Bearer {KEY}"), ("Content-Length", str(len(BODY)))]
    opened = []

    def one() -> Send:
        connection = httpcore.AsyncHTTPConnection(target.origin)
        opened.append(connection)

        async def send() -> bool:
            async with asyncio.timeout(10.0):
                reply = await connection.handle_async_request(httpcore.Request("POST", target, headers=headers, content=BODY))
                await reply.aread()
                await reply.aclose()
            return reply.status == 200

        return send

    yield one
    for connection in opened:
        await connection.aclose()


@asynccontextmanager
async def httpx_clients(url: str) -> AsyncIterator[Callable[[], Send]]:
    import httpx

    shared = ssl.create_default_context()
    opened = []

    def one() -> Send:
        client = httpx.AsyncClient(verify=shared, trust_env=False)
        opened.append(client)

        async def send() -> bool:
            async with asyncio.timeout(10.0):
                reply = await client.post(f"{url}{PATH}", content=BODY, headers={"Authorization": f"Bearer {KEY}"})
            return reply.status_code == 200

        return send

    yield one
    for client in opened:
        await client.aclose()


@asynccontextmanager
async def aiohttp_session(url: str) -> AsyncIterator[Callable[[], Send]]:
    aiohttp: Any = importlib.import_module("aiohttp")
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send() -> bool:
            async with session.post(f"{url}{PATH}", data=BODY, headers={"Authorization": f"Bearer {KEY}"}) as reply:
                await reply.read()
                return bool(reply.status == 200)

        yield lambda: send


CLIENTS: dict[str, Client] = {
    "evalaction, bare loop": bare,
    "evalaction, completions": slots,
    "httpcore, connection a slot": httpcore_connections,
    "httpx, client a slot": httpx_clients,
    "aiohttp, one session": aiohttp_session,
}


async def measure(client: Client, url: str, draws: int, concurrency: int) -> tuple[float, float]:
    """(wall seconds, CPU milliseconds a draw) of `draws` draws over `concurrency` slots that open one after another."""
    left = iter(range(draws))

    async def work(place: int, send: Send) -> None:
        await asyncio.sleep(place * OPENING_S)
        for _ in left:
            assert await send()

    async with client(url) as one:
        start, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work(place, one()) for place in range(concurrency)))
        return time.perf_counter() - start, (time.process_time() - cpu) / draws * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--rounds", type=int, default=40, help="draws a slot")
    parser.add_argument("--concurrency", type=int, nargs="*", default=[32, 128])
    arguments = parser.parse_args()
    ideal = arguments.rounds * arguments.latency_ms / 1000
    print(f"{'client':30} {'slots':>5} {'wall s':>7} {'ideal s':>8} {'wall/ideal':>10} {'CPU ms/draw':>11} {'CPU/bare':>8}")
    with stub_server(arguments.latency_ms) as url:
        for concurrency in arguments.concurrency:
            least = 0.0
            for name, client in CLIENTS.items():
                if client is aiohttp_session and importlib.util.find_spec("aiohttp") is None:
                    continue
                wall, cpu = asyncio.run(measure(client, url, arguments.rounds * concurrency, concurrency))
                least = least or cpu
                print(f"{name:30} {concurrency:5} {wall:7.2f} {ideal:8.2f} {wall / ideal:10.2f} {cpu:11.3f} {cpu / least:8.2f}")


if __name__ == "__main__":
    main()
