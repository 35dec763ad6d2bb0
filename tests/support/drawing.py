"""Stand-ins for what a run is handed: a clock whose time is counted, slots that answer by a function, a judge of plain text."""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from support import cards

from evalaction.engine.grid import Grid
from evalaction.engine.manifest import ArmRecord, Manifest
from evalaction.engine.rows import Asked, RowMaker
from evalaction.engine.run import Job, Lane
from evalaction.method.canonical import digest
from evalaction.method.card import KeepText, Pace
from evalaction.method.judging.facts import ArmFacts, EndpointFacts
from evalaction.method.records import ArmName, Check, Columns, Completion, Item

T = TypeVar("T")
SEED = "freeze-me-before-running"
BOTH: tuple[ArmName, ...] = ("treatment", "control")


class CountedClock:
    """Time moves only when every task waits; `run` drives a coroutine to its end in no real time."""

    def __init__(self) -> None:
        self.time = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = 0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._number += 1
        heapq.heappush(self._sleepers, (self.time + max(seconds, 0.0), self._number, future))
        await future

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(self._drive(work))

    async def _drive(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        while not task.done():
            for _ in range(60):  # long enough for every task that can go on to do so
                await asyncio.sleep(0)
            while self._sleepers and self._sleepers[0][2].done():
                heapq.heappop(self._sleepers)
            if self._sleepers:
                self.time, _, future = heapq.heappop(self._sleepers)
                future.set_result(None)
            else:
                await asyncio.sleep(0.001)
        return await task


@dataclass(frozen=True)
class Sent:
    """One request as a slot was given it."""

    at: float
    endpoint: str
    item: int
    draw: int


Reply = Callable[[Sent], Completion]


def reached(text: str = "ok", **more: Any) -> Completion:
    return Completion(reason=None, output=text, status=200, started_at="2026-01-01T00:00:00.000Z", ms=50, **more)


def lost(reason: str = "status:503", **more: Any) -> Completion:
    return Completion(reason=reason, started_at="2026-01-01T00:00:00.000Z", ms=5, **more)


@dataclass
class Stage:
    """Counts what is sent; each reply takes `latency` seconds of the clock."""

    clock: Any
    reply: Reply
    latency: float = 0.05
    sent: list[Sent] = field(default_factory=list)
    open: int = 0
    flying: int = 0
    most: int = 0
    """The most requests that were ever under way at once."""

    def surface(self, endpoint: str) -> StageSurface:
        return StageSurface(self, endpoint)


@dataclass
class StageSurface:
    stage: Stage
    endpoint: str

    def slot(self) -> StageSlot:
        self.stage.open += 1
        return StageSlot(self.stage, self.endpoint)


@dataclass
class StageSlot:
    stage: Stage
    endpoint: str
    busy: bool = False

    async def send(self, call: tuple[int, int]) -> Completion:
        assert not self.busy, "a slot sends one request at a time"
        self.busy = True
        sent = Sent(self.stage.clock.now(), self.endpoint, *call)
        self.stage.sent.append(sent)
        self.stage.flying += 1
        self.stage.most = max(self.stage.most, self.stage.flying)
        await self.stage.clock.sleep(self.stage.latency)
        self.stage.flying -= 1
        self.busy = False
        return self.stage.reply(sent)

    async def aclose(self) -> None:
        self.stage.open -= 1


@dataclass(frozen=True)
class Said:
    columns: Columns
    text_sha256: str | None = None
    parsed_sha256: str | None = None


async def exactly_ok(item: Item, completion: Completion) -> Said:
    """Passes `ok`, fails everything else in check, and calls `{` broken JSON."""
    text = completion.output or ""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    if text.startswith("{"):
        return Said(Columns(True, contract=False, contract_reason="not_json"), sha256)
    good = text == "ok"
    return Said(Columns(True, contract=True, check=good, check_reason=None if good else "different"), sha256, sha256)


def items_of(count: int) -> tuple[Item, ...]:
    check = Check(kind="exact", expected="ok")
    return tuple(
        Item(id=f"t{n:04d}", index=n, file="tasks.jsonl", line=n + 1, prompt="Say ok.", check=check, sha256=digest(n))
        for n in range(count)
    )


def grid_of(count: int, draws: int, arms: Sequence[ArmName] = BOTH, seed: str = SEED) -> Grid:
    return Grid([item.id for item in items_of(count)], arms=arms, draws=draws, seed=seed)


def job_of(
    stage: Stage,
    *,
    items: int = 4,
    draws: int = 3,
    arms: Sequence[ArmName] = BOTH,
    pace: Pace | None = None,
    keep_text: KeepText = "full",
    redact: Callable[[str], str] = str,
    judge: Callable[[Item, Completion], Awaitable[Said]] = exactly_ok,
) -> Job:
    """A run of `items` × arms × `draws`; each arm asks an endpoint of its own name."""
    exam = items_of(items)
    ids = [item.id for item in exam]
    asked = {arm: Asked(endpoint=[arm] * items, request_sha256=[digest([arm, item]) for item in ids]) for arm in arms}
    return Job(
        grid=grid_of(items, draws, arms),
        items=exam,
        lanes={arm: Lane(surface=[arm] * items, call=lambda item, draw: (item, draw)) for arm in arms},
        surfaces={arm: stage.surface(arm) for arm in arms},
        judge=judge,
        rows=RowMaker(ids, asked, seed=SEED, redact=redact, keep_text=keep_text),
        pace=pace or Pace(),
    )


def asked_of(name: str, **changes: Any) -> ArmFacts:
    """An arm of one endpoint."""
    values: dict[str, Any] = {"name": name, "api": "openai", "model": "some-model", "identity": digest(name)}
    return ArmFacts(endpoints=(EndpointFacts(**(values | changes)),))


def manifest_of(job: Job, **changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "tool_version": "0.1.0",
        "started_at": "2026-01-01T00:00:00.000Z",
        "card_path": "card.yaml",
        "card_text": cards.text(cards.two_arms({"draws.count": job.grid.draws})).decode(),
        "card_sha256": digest("card"),
        "commit": "c" * 40,
        "parents": ("b" * 40,),
        "base": None,
        "exam_sha256": digest("exam"),
        "ids_sha256": digest("ids"),
        "question_digest": digest("question"),
        "items": tuple((item, ("short",) if n % 2 else ()) for n, item in enumerate(job.grid.ids)),
        "arms": tuple(ArmRecord(arm=arm, asked=asked_of(arm), requests_sha256=digest(arm)) for arm in job.grid.arms),
        "planned": len(job.grid),
        "runner": {"arch": "x86_64", "python": "3.12.1"},
    }
    return Manifest(**(values | changes))
