"""Draws a grid from a loopback server with the real endpoints and judges, as a process that tests may end as they like.

`PYTHONPATH=tests python -m support.drawing_process URL FOLDER [--items N] [--draws K] [--resume] …` prints one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from support import cards

from evalaction.checks.pool import Judge
from evalaction.endpoints import Call, build_request, open_surface
from evalaction.engine.conduct import Sitting, conduct
from evalaction.engine.grid import Grid
from evalaction.engine.manifest import ArmRecord, Manifest
from evalaction.engine.pace import SystemClock
from evalaction.engine.rows import Asked, RowMaker
from evalaction.engine.run import Job, Lane, refuse_interrupted
from evalaction.errors import EvalactionError
from evalaction.method.canonical import digest
from evalaction.method.card import CheckLimits, Endpoint, Pace
from evalaction.method.judging.facts import ArmFacts, EndpointFacts
from evalaction.method.records import ArmName, Check, Item, Message
from evalaction.redaction import Redactor

SEED = "freeze-me-before-running"
ASKED = ArmFacts(endpoints=(EndpointFacts(name="main", api="openai", model="m", identity=digest("main")),))
ARMS: tuple[ArmName, ...] = ("treatment", "control")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--per-minute", type=int)
    parser.add_argument("--max-wait-ms", type=int, default=30_000)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--file-limit", type=int, help="the largest file this process may write, in bytes")
    parser.add_argument("--one-arm", action="store_true")
    parser.add_argument("--secret", default="sk-0123456789abcdef0123456789abcdef")
    return parser.parse_args()


def exam(count: int) -> tuple[Item, ...]:
    check = Check(kind="exact", expected="ok")
    return tuple(
        Item(id=f"t{n:04d}", index=n, file="tasks.jsonl", line=n + 1, prompt=f"Say ok {n}.", check=check, sha256=digest(n))
        for n in range(count)
    )


def lane(arm: ArmName, endpoint: Endpoint, items: tuple[Item, ...]) -> tuple[Lane, Asked]:
    requests = [
        build_request(endpoint, (Message("system", arm), Message("user", str(item.prompt))), endpoint.output) for item in items
    ]

    def call(item: int, draw: int) -> Call:
        return Call(request=requests[item], item=items[item].id, draw=draw, timeout_ms=20_000)

    names = ["main"] * len(items)
    return Lane(surface=names, call=call), Asked(endpoint=names, request_sha256=[request.sha256 for request in requests])


def manifest_of(job: Job, asked: dict[ArmName, Asked]) -> Manifest:
    card = cards.two_arms({"draws.count": job.grid.draws})
    return Manifest(
        tool_version="0.1.0",
        started_at="2026-01-01T00:00:00.000Z",
        card_path="card.yaml",
        card_text=cards.text(card).decode(),
        card_sha256=digest("card"),
        commit="c" * 40,
        exam_sha256=digest("exam"),
        ids_sha256=digest("ids"),
        question_digest=digest("question"),
        items=tuple((item.id, ()) for item in job.items),
        arms=tuple(
            ArmRecord(arm=arm, asked=ASKED, requests_sha256=digest(list(asked[arm].request_sha256))) for arm in job.grid.arms
        ),
        planned=len(job.grid),
    )


async def draw(asked_for: argparse.Namespace) -> dict[str, Any]:
    items = exam(asked_for.items)
    ids = [item.id for item in items]
    arms = ARMS[:1] if asked_for.one_arm else ARMS
    endpoint = Endpoint(name="main", api="openai", url=asked_for.url + "/v1", key_env="EVAL_KEY", model="m")
    lanes = {arm: lane(arm, endpoint, items) for arm in arms}
    asked = {arm: pair[1] for arm, pair in lanes.items()}
    redactor = Redactor({"EVAL_KEY": asked_for.secret})
    environ = {"EVAL_KEY": asked_for.secret}
    async with Judge(items, CheckLimits(), 2) as judge:
        job = Job(
            grid=Grid(ids, arms=arms, draws=asked_for.draws, seed=SEED),
            items=items,
            lanes={arm: pair[0] for arm, pair in lanes.items()},
            surfaces={"main": open_surface(endpoint, environ=environ, files={})},
            judge=judge,
            rows=RowMaker(ids, asked, seed=SEED, redact=redactor.redact, keep_text="full"),
            pace=Pace(concurrency=asked_for.slots, per_minute=asked_for.per_minute, max_wait_ms=asked_for.max_wait_ms),
        )
        sitting = Sitting(folder=asked_for.folder, manifest=manifest_of(job, asked), job=job, resume=asked_for.resume)
        start, cpu = time.monotonic(), time.process_time()
        drawn = await conduct(sitting, clock=SystemClock(), progress=lambda counts: None)
        counts = drawn.counts
        spent = {"seconds": time.monotonic() - start, "cpu": time.process_time() - cpu}
    refuse_interrupted(drawn, str(asked_for.folder))
    return {"ended": drawn.ended, "planned": counts.planned, "sent": counts.sent, "written": counts.written} | spent


def main() -> int:
    asked_for = options()
    if asked_for.file_limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked_for.file_limit, asked_for.file_limit))
    try:
        said = asyncio.run(draw(asked_for))
    except EvalactionError as error:
        sys.stdout.write(json.dumps({"code": error.code, "sentence": error.sentence}) + "\n")
        return error.outcome.exit_code
    sys.stdout.write(json.dumps(said) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
