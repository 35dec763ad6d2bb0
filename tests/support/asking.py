"""Asking a stub server, without an event loop in the test itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from evalaction.endpoints import Call, Request, build_request, open_surface
from evalaction.method.card import Endpoint
from evalaction.method.records import Completion, Message, Output

KEY = "sk-test-0123456789abcdef"
PROMPT = (Message("user", "Say ok."),)


def endpoint(url: str | None, **fields: Any) -> Endpoint:
    return Endpoint(**({"name": "main", "api": "openai", "url": url, "model": "stub-1"} | fields))


def call(target: Endpoint, *, output: Output = "text", timeout_ms: int = 5_000, limit: int = 1_048_576, draw: int = 0) -> Call:
    request: Request = build_request(target, PROMPT, output)
    return Call(request=request, item="t0001", draw=draw, timeout_ms=timeout_ms, max_body_bytes=limit)


def ask(
    target: Endpoint | str,
    *,
    draws: int = 1,
    pause_s: float = 0.0,
    environ: Mapping[str, str] | None = None,
    ca_bundle: str | None = None,
    **how: Any,
) -> Sequence[Completion]:
    """`draws` draws one after another through one slot."""
    where = endpoint(target) if isinstance(target, str) else target

    async def run() -> list[Completion]:
        slot = open_surface(where, environ=environ or {}, files={}, ca_bundle=ca_bundle).slot()
        found = []
        for draw in range(draws):
            if draw:
                await asyncio.sleep(pause_s)
            found.append(await slot.send(call(where, draw=draw, **how)))
        await slot.aclose()
        return found

    return asyncio.run(run())


def ask_once(target: Endpoint | str, **how: Any) -> Completion:
    return ask(target, **how)[0]
