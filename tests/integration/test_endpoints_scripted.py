"""Scripted replies: the same answers every time, no socket, mistakes named by line."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from typing import Any

import pytest

from evalaction.endpoints import Call, Surface, build_request, open_surface
from evalaction.errors import SourceError, UsageError
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion, Message, Output, Usage

SCRIPTED = Endpoint(name="demo", api="scripted", model="m", replies="replies.jsonl")


def surface(*lines: Any) -> Surface:
    data = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    return open_surface(SCRIPTED, environ={}, files={"replies.jsonl": data})


def draw(where: Surface, item: str = "t1", *, index: int = 0, output: Output = "text") -> Completion:
    request = build_request(SCRIPTED, (Message("user", "?"),), output)
    return asyncio.run(where.slot().send(Call(request=request, item=item, draw=index, timeout_ms=1_000)))


def test_draw_k_gets_reply_k_counted_around() -> None:
    where = surface({"id": "t1", "replies": ["a", "b", {"text": "c"}]})
    assert [draw(where, index=index).output for index in range(5)] == ["a", "b", "c", "a", "b"]


def test_any_item_may_be_answered_by_one_line() -> None:
    where = surface({"id": "t1", "replies": ["mine"]}, {"id": "*", "replies": ["anybody's"]})
    where.expect(["t1", "t2"])
    assert [draw(where, item).output for item in ("t1", "t2")] == ["mine", "anybody's"]


def test_an_item_without_a_reply_is_named_before_any_draw() -> None:
    where = surface({"id": "t1", "replies": ["a"]})
    with pytest.raises(UsageError, match=r"no reply for 2 items, the first is 't2'"):
        where.expect(["t1", "t2", "t3"])
    with pytest.raises(UsageError, match="no reply for 1 items"):
        draw(where, "t9")


def test_all_that_a_reply_may_say() -> None:
    said = {
        "text": "x", "finish_reason": "length", "served_model": "m2", "fingerprint": "f", "response_id": "r", "ms": 40,
        "usage": {"input": 3, "output": 4}, "cache_hit": "x-cache",
    }  # fmt: skip
    found = draw(surface({"id": "t1", "replies": [said]}))
    assert (found.output, found.finish_reason, found.served_model, found.fingerprint) == ("x", "length", "m2", "f")
    assert (found.response_id, found.ms, found.usage, found.cache_hit) == ("r", 40, Usage(input=3, output=4), "x-cache")
    assert found.status == 200


@pytest.mark.parametrize(
    ("reply", "reason", "status"),
    [
        ({"reason": "timeout", "ms": 1000}, "timeout", None),
        ({"reason": "status:503", "error": "busy", "retry_after": "5"}, "status:503", 503),
        ({"reason": "malformed"}, "malformed", 200),
        ({"reason": "empty:refusal"}, "empty:refusal", 200),
        ({"text": ""}, "empty", 200),
        ({"text": None, "finish_reason": "length"}, "empty:length", 200),
    ],
)
def test_replies_that_do_not_reach(reply: dict[str, Any], reason: str, status: int | None) -> None:
    found = draw(surface({"id": "t1", "replies": [reply]}))
    assert (found.reason, found.status, found.output) == (reason, status, None)
    assert (found.error, found.retry_after_raw) == (reply.get("error"), reply.get("retry_after"))
    assert found.retry_after_ms == (5_000 if "retry_after" in reply else None)


def test_no_time_passes_unless_asked_for() -> None:
    begun = time.monotonic()
    assert draw(surface({"id": "t1", "replies": [{"text": "a", "ms": 60_000}]})).ms == 60_000
    assert time.monotonic() - begun < 50
    begun = time.monotonic()
    assert draw(surface({"id": "t1", "replies": [{"text": "a", "delay_ms": 60}]})).ms == 60
    assert time.monotonic() - begun >= 0.06


def test_no_socket_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    where = surface({"id": "t1", "replies": ["a"]})
    called: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: called.append(address))
    assert draw(where).output == "a"
    assert called == []


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"id": "t2", "replies": ["a"]}\nnot json\n', 3),
        (b'["t2"]\n', 2),
        (b'{"id": "t2"}\n', 2),
        (b'{"id": 2, "replies": ["a"]}\n', 2),
        (b'{"id": "t2", "replies": []}\n', 2),
        (b'{"id": "t2", "replies": "a"}\n', 2),
        (b'{"id": "t2", "replies": [7]}\n', 2),
        (b'{"id": "t2", "replies": [{"txt": "a"}]}\n', 2),
        (b'{"id": "t2", "replies": [{"text": 1}]}\n', 2),
        (b'{"id": "t2", "replies": [{"text": "a", "ms": -1}]}\n', 2),
        (b'{"id": "t2", "replies": [{"reason": "sulking"}]}\n', 2),
        (b'{"id": "t2", "replies": [{"reason": "status:200"}]}\n', 2),
        (b'{"id": "t2", "replies": [{"reason": "timeout", "text": "a"}]}\n', 2),
        (b'{"id": "t1", "replies": ["again"]}\n', 2),
        (b'{"id": "t2", "replies": ["\xff"]}\n', 2),
    ],
)
def test_mistakes_are_placed(line: bytes, number: int) -> None:
    with pytest.raises(SourceError) as caught:
        surface({"id": "t1", "replies": ["a"]}, line)
    assert (caught.value.file, caught.value.line) == ("replies.jsonl", number)


def test_no_replies_at_all() -> None:
    with pytest.raises(SourceError, match="no reply"):
        surface(b"\n")
    with pytest.raises(UsageError, match="needs replies"):
        open_surface(SCRIPTED, environ={}, files={})
