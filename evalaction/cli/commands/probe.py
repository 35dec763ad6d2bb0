"""`evalaction probe`: one fixed prompt, not of the exam, to each endpoint. Says whether the path works; never a result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from evalaction.checks.pool import Judge
from evalaction.cli.opposed import opposed
from evalaction.cli.parser import Options
from evalaction.cli.world import World
from evalaction.endpoints import Call, Slot, build_request, missing_variables, open_surface, secrets_of, unset
from evalaction.engine.prepare import Prepared, load, prepare
from evalaction.engine.session import redactor_of
from evalaction.errors import NotRunError, Outcome
from evalaction.method import canonical
from evalaction.method.card import Endpoint
from evalaction.method.records import Check, Columns, Completion, Item, Message
from evalaction.report.encode import term
from evalaction.sandbox.records import Rung

PROMPT = "This is a connection test. Answer with the one word: pong"
ITEM = Item(id="probe", index=0, file="probe", line=None, prompt=PROMPT, check=Check(kind="exact", expected="pong"), sha256="")
HEAD = 2_000


def run(options: Options, world: World) -> int:
    prepared = prepare(opposed(options, needed=False)(load(world.cwd / options.card, world.environ, rehearse_only=True)))
    if missing := missing_variables(prepared.asked, world.environ):
        raise NotRunError(f"{unset(missing)}. Nothing was sent.")
    redact = redactor_of(prepared.named, world.environ).redact
    rung = _box(prepared, world)
    reached = True
    for endpoint in sorted(prepared.asked, key=lambda one: (one.name, one.model or "")):
        completion, columns = asyncio.run(_ask(endpoint, prepared, options, world, rung))
        reached = reached and columns.reach
        world.say(f"{term(endpoint.name)}: {_columns(columns)} · {completion.ms:,} ms · status {completion.status or 'none'}")
        served = completion.served_model or "not said"
        tokens = f"{completion.usage.input or '?'} in, {completion.usage.output or '?'} out"
        world.say(
            f"  model {term(redact(served))} · finish {term(redact(completion.finish_reason or 'not said'))} · tokens {tokens}"
        )
        if behind := _behind(endpoint, completion):
            world.say(f"  {behind}")
        if completion.trace is not None:
            world.say(f"  trace {term(redact(canonical.dumps(completion.trace)), HEAD)}")
        for line in redact(completion.output or completion.error or "").splitlines() or ["(nothing)"]:
            world.say(f"  | {term(line, HEAD)}")
    world.say("A probe is never a result: one fixed prompt, no exam, no second draw.")
    return Outcome.PASS.exit_code if reached else Outcome.UNREACHABLE.exit_code


def _box(prepared: Prepared, world: World) -> Rung | None:
    """Where the programs of commands run; None where no endpoint has one. Raises UsageError (`no_isolation`)."""
    if not any(endpoint.command for endpoint in prepared.asked):
        return None
    from evalaction.sandbox.rungs import find_rung

    rung = find_rung(allow_unsafe=False, image=prepared.card.checks.image)
    world.guard(secrets_of(prepared.named, world.environ).values())
    return rung


async def _ask(
    endpoint: Endpoint, prepared: Prepared, options: Options, world: World, rung: Rung | None
) -> tuple[Completion, Columns]:
    files = prepared.files_of(endpoint)
    surface = open_surface(endpoint, environ=world.environ, files=files, ca_bundle=options.ca_bundle, rung=rung)
    surface.expect([ITEM.id])
    async with AsyncExitStack() as stack:
        if isinstance(surface, AbstractAsyncContextManager):
            await stack.enter_async_context(surface)
        return await _answer(surface.slot(), endpoint, prepared, redactor_of(prepared.named, world.environ).redact)


async def _answer(slot: Slot, endpoint: Endpoint, prepared: Prepared, redact: Callable[[str], str]) -> tuple[Completion, Columns]:
    draws = prepared.card.draws
    request = build_request(endpoint, (Message("user", PROMPT),), endpoint.output)
    call = Call(request=request, item=ITEM.id, draw=0, timeout_ms=draws.timeout_ms, max_body_bytes=draws.max_body_bytes)
    try:
        completion = await slot.send(call)
    finally:
        await slot.aclose()
    async with Judge([ITEM], prepared.card.checks, 1, quotable=lambda text: redact(text) == text) as judge:
        return completion, (await judge(ITEM, completion)).columns


def _behind(endpoint: Endpoint, completion: Completion) -> str:
    """What happened behind the one answer, as far as it is told."""
    told = [f"polls {completion.polls:,}"] if completion.polls else []
    told += [f"{name} {completion.counters.get(name, 'not told')}" for name in endpoint.counters]
    if completion.retries:
        told.append(f"further attempts of a gateway {completion.retries:,}")
    if completion.cache_hit:
        told.append(f"from a cache ({completion.cache_hit})")
    return " · ".join(told)


def _columns(columns: Columns) -> str:
    words = {True: "yes", False: "no", None: "–"}
    parts = (
        ("reach", columns.reach, columns.reach_reason),
        ("contract", columns.contract, columns.contract_reason),
        ("check", columns.check, columns.check_reason),
    )
    return " · ".join(f"{name} {words[value]}" + (f" ({term(reason)})" if reason else "") for name, value, reason in parts)
