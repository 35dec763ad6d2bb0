"""One run from prepared inputs to its sealed and derived folder: builds the real surfaces, workers, redactor and manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction import __version__
from evalaction.engine.conduct import Sitting, conduct
from evalaction.engine.grid import Grid
from evalaction.engine.manifest import ArmRecord, Manifest
from evalaction.engine.pace import SystemClock
from evalaction.engine.rows import Asked, RowMaker
from evalaction.engine.run import Drawn, Job, Route
from evalaction.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from evalaction.engine.prepare import Prepared
    from evalaction.method.card import Card
    from evalaction.method.records import ArmName
    from evalaction.method.report import Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """Where and how a prepared question is drawn."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)
    identity: Mapping[str, str]
    """What the runner says of itself."""
    inputs: Mapping[str, str]
    """Inputs of the run that are not the default."""
    ca_bundle: str | None = None
    resume: bool = False
    rehearsal: bool = False
    base: str | None = None
    """The commit that the change was compared with, to be named in the report."""


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def redactor_of(card: Card, environ: Mapping[str, str]) -> Redactor:
    """Knows every value of a variable that the card names."""
    from evalaction.endpoints import secrets_of

    return Redactor(secrets_of(card, environ))


def manifest_of(prepared: Prepared, setting: Setting) -> Manifest:
    """What is asked, of whom, where; names and digests only."""
    frozen, card, exam = prepared.frozen, prepared.card, prepared.exam
    record = card.record
    held = {"terms": record.terms, "read_on": record.read_on, "allowance": record.allowance} if record else {}
    return Manifest(
        tool_version=__version__,
        started_at=utc_now(),
        card_path=frozen.card_path,
        card_text=frozen.card_bytes.decode(),
        card_sha256=frozen.card_sha256,
        commit=frozen.commit,
        parents=frozen.parents,
        base=setting.base,
        exam_sha256=exam.sha256,
        ids_sha256=exam.ids_sha256,
        checker_sha256=exam.checker_sha256,
        question_digest=prepared.question_digest,
        items=tuple((item.id, item.tags) for item in exam.items),
        arms=tuple(_arm_record(prepared, arm) for arm in prepared.requests),
        planned=prepared.planned,
        runner=dict(setting.identity),
        record={name: str(value) for name, value in held.items() if value is not None},
        inputs=dict(setting.inputs),
        rehearsal=setting.rehearsal,
        synthetic="synthetic" in setting.inputs,
        run_url=_run_url(setting.environ),
    )


def _arm_record(prepared: Prepared, arm: ArmName) -> ArmRecord:
    endpoint = prepared.card.endpoints[prepared.card.arms[arm].endpoint]
    return ArmRecord(
        arm=arm,
        endpoint=endpoint.name,
        api=endpoint.api,
        model=endpoint.model,
        requests_sha256=prepared.requests_sha256(arm),
    )


def _run_url(environ: Mapping[str, str]) -> str | None:
    parts = [environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else None


async def draw(prepared: Prepared, setting: Setting, *, progress: Callable[[Counts], None]) -> Drawn:
    """Draw the grid into the run folder and seal it.

    Raises UsageError (folder in use, second writer, unusable address or key, full disk) and UnregisteredError (a resumed run
    whose inputs differ).
    """
    async with _job(prepared, setting) as job:
        sitting = Sitting(folder=setting.folder, manifest=manifest_of(prepared, setting), job=job, resume=setting.resume)
        return await conduct(sitting, clock=SystemClock(), progress=progress)


@asynccontextmanager
async def _job(prepared: Prepared, setting: Setting) -> AsyncIterator[Job]:
    from evalaction.checks.pool import Judge
    from evalaction.endpoints import open_surface

    card, exam = prepared.card, prepared.exam
    used = {arm.endpoint for arm in card.arms.values()}
    surfaces = {
        name: open_surface(
            card.endpoints[name], environ=setting.environ, files=prepared.frozen.files, ca_bundle=setting.ca_bundle
        )
        for name in sorted(used)
    }
    redact = redactor_of(card, setting.environ).redact

    def quotable(text: str) -> bool:
        # A reason quotes the reply cut short, where a secret could no longer be found: then it quotes nothing.
        return card.draws.keep_text != "none" and redact(text) == text

    ids = [item.id for item in exam.items]
    rows = RowMaker(
        ids,
        {
            arm: Asked(endpoint=card.arms[arm].endpoint, request_sha256=[request.sha256 for request in requests])
            for arm, requests in prepared.requests.items()
        },
        seed=card.seed,
        redact=redact,
        keep_text=card.draws.keep_text,
    )
    async with Judge(exam.items, card.checks, WORKERS, quotable=quotable) as judge:
        yield Job(
            grid=Grid(ids, arms=tuple(prepared.requests), draws=card.draws.count, seed=card.seed),
            items=exam.items,
            routes={arm: _route(prepared, arm) for arm in prepared.requests},
            surfaces=surfaces,
            judge=judge,
            rows=rows,
            pace=card.pace,
        )


WORKERS = 2
"""Processes that judge; a third one does not help beside the client itself on a small runner."""


def _route(prepared: Prepared, arm: ArmName) -> Route:
    from evalaction.endpoints import Call

    draws = prepared.card.draws
    requests = prepared.requests[arm]
    ids = [item.id for item in prepared.exam.items]

    def call(item: int, draw_index: int) -> Call:
        return Call(
            request=requests[item],
            item=ids[item],
            draw=draw_index,
            timeout_ms=draws.timeout_ms,
            max_body_bytes=draws.max_body_bytes,
        )

    return Route(endpoint=prepared.card.arms[arm].endpoint, call=call)
