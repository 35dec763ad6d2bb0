"""One connection a slot: kept, dropped when it may have gone stale, closed on cancellation; never shared, never retried."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest
from support.asking import ask, call, endpoint
from support.endpoint_server import Answer, EndpointServer, answering, chat, fault, response, serving

from evalaction.endpoints import connect, open_surface, transport
from evalaction.method.records import Completion


def test_a_connection_is_kept() -> None:
    with serving(answering(lambda received: "ok")) as server:
        found = ask(server.url, draws=10)
        assert [one.reason for one in found] == [None] * 10
        assert (server.count, server.connections) == (10, 1)


def test_a_connection_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "IDLE_S", 0.1)
    with serving(answering(lambda received: "ok")) as server:
        found = ask(server.url, draws=2, pause_s=0.15)
        assert [one.reason for one in found] == [None, None]
        assert server.connections == 2


def test_idle_means_two_seconds() -> None:
    assert transport.IDLE_S == 2.0


def test_a_server_that_announces_its_close() -> None:
    with serving(lambda received: response(chat(), headers={"Connection": "close"}, end="close")) as server:
        assert [one.reason for one in ask(server.url, draws=5)] == [None] * 5
        assert server.connections == 5


def test_a_server_that_closes_after_each_reply_without_a_word() -> None:
    with serving(lambda received: response(chat(), end="close")) as server:
        found = ask(server.url, draws=5, pause_s=0.02)
        assert [one.reason for one in found] == [None] * 5
        assert server.count == 5


def test_a_server_whose_keep_alive_runs_out_between_draws() -> None:
    async def run(server: EndpointServer) -> list[Completion]:
        target = endpoint(server.url)
        slot = open_surface(target, environ={}, files={}).slot()
        found = [await slot.send(call(target))]
        server.close_idle()
        await asyncio.sleep(0.05)
        found.append(await slot.send(call(target)))
        await slot.aclose()
        return found

    with serving(answering(lambda received: "ok")) as server:
        assert [one.reason for one in asyncio.run(run(server))] == [None, None]
        assert (server.count, server.connections) == (2, 2)


def test_once_a_promise_to_keep_was_broken_every_draw_has_its_own_connection() -> None:
    def first_closes(received: object) -> Answer:
        return response(chat(), end="close" if server.connections == 1 else "keep")

    with serving(first_closes) as server:
        found = ask(server.url, draws=4, pause_s=0.02)
        assert [one.reason for one in found] == [None] * 4
        assert server.connections == 4


@pytest.mark.parametrize("apart_s", [0.0, 0.01])
def test_bytes_that_nobody_asked_for_are_not_the_next_reply(apart_s: float) -> None:
    mine, other = (response(chat(text)).pieces[0] for text in ("mine", "someone else's"))
    with serving(lambda received: Answer((mine, other), gap_s=apart_s)) as server:
        assert [one.output for one in ask(server.url, draws=3, pause_s=0.05)] == ["mine"] * 3
        assert server.connections == 3


def test_an_idle_connection_takes_nothing_in() -> None:
    async def run(server: EndpointServer) -> tuple[Completion, bool]:
        target = endpoint(server.url)
        slot = open_surface(target, environ={}, files={}).slot()
        found = await slot.send(call(target))
        for _ in range(500):
            await asyncio.sleep(0.01)
            if not server.live:
                break
        gone = not server.live
        await slot.aclose()
        return found, gone

    flood = [b"x" * 65_536] * 10_000
    with serving(lambda received: Answer((response(chat()).pieces[0], *flood), gap_s=0.0005)) as server:
        found, gone = asyncio.run(run(server))
    assert found.reason is None
    assert gone, "the first byte that nobody asked for closes the connection"


def test_a_failed_draw_leaves_no_connection_behind() -> None:
    def every_second_is_silent(received: object) -> Answer:
        return fault("silent") if server.count % 2 == 0 else response(chat())

    with serving(every_second_is_silent) as server:
        found = ask(server.url, draws=4, timeout_ms=100)
        assert [one.reason for one in found] == [None, "timeout", None, "timeout"]
        assert (server.count, server.connections) == (4, 2)


def test_slots_do_not_wait_for_each_other() -> None:
    async def run(url: str) -> list[Completion]:
        target = endpoint(url)
        surface = open_surface(target, environ={}, files={})
        slots = [surface.slot() for _ in range(40)]
        found = await asyncio.gather(*(slot.send(call(target)) for slot in slots))
        await asyncio.gather(*(slot.aclose() for slot in slots))
        return found

    with serving(answering(lambda received: "ok", latency_s=0.3)) as server:
        start = time.monotonic()
        found = asyncio.run(run(server.url))
        taken = time.monotonic() - start
        assert [one.reason for one in found] == [None] * 40
        assert server.connections == 40
    assert 0.3 + 39 * connect.OPENING_S < taken < 3
    assert all(one.ms < 2_000 for one in found)


@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.05])
def test_a_cancelled_draw_closes_its_connection(after_s: float) -> None:
    async def run(server: EndpointServer) -> None:
        target = endpoint(server.url)
        slot = open_surface(target, environ={}, files={}).slot()
        sending = asyncio.create_task(slot.send(call(target)))
        await asyncio.sleep(after_s)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await slot.aclose()
        assert len(asyncio.all_tasks()) == 1

    with serving(lambda received: fault("silent")) as server:
        asyncio.run(run(server))
        gone = time.monotonic() + 5
        while server.live and time.monotonic() < gone:
            time.sleep(0.01)
        assert not server.live
    gc.collect()


def test_a_slot_that_was_never_used_can_be_closed() -> None:
    async def run() -> None:
        slot = open_surface(endpoint("http://127.0.0.1:9"), environ={}, files={}).slot()
        await slot.aclose()
        await slot.aclose()

    asyncio.run(run())


def test_the_second_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(port: int) -> str | None:
        target = endpoint(f"http://two.example:{port}")
        loop = asyncio.get_running_loop()

        async def getaddrinfo(host: str, port: int, **more: object) -> list[tuple[object, ...]]:
            return [(0, 0, 0, "", (address, port)) for address in ("::1", "127.0.0.1")]

        monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
        slot = open_surface(target, environ={}, files={}).slot()
        found = await slot.send(call(target))
        await slot.aclose()
        return found.reason

    with serving(answering(lambda received: "ok")) as server:
        assert asyncio.run(run(server.port)) is None


def test_ipv6_loopback() -> None:
    with serving(answering(lambda received: "ok"), host="::1") as server:
        assert ask(server.url)[0].reason is None
        assert server.requests[0].headers["host"] == f"[::1]:{server.port}"
