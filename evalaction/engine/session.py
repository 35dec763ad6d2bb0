"""One run from prepared inputs to its sealed and derived folder: builds the real surfaces, workers, redactor and manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction import __version__
from evalaction.engine.conduct import Sitting, conduct
from evalaction.engine.draws import DrawMaker, leave_unjudged
from evalaction.engine.grid import Grid
from evalaction.engine.isolation import isolation_of
from evalaction.engine.manifest import ArmRecord, Manifest
from evalaction.engine.pace import SystemClock
from evalaction.engine.requests import request_lines
from evalaction.engine.rows import Asked, RowMaker
from evalaction.engine.run import Drawn, Job, Lane
from evalaction.engine.surfaces import opened
from evalaction.method.arms import facts_of, moved_levers
from evalaction.method.changes import changes_of
from evalaction.redaction import Redactor
from evalaction.registration.rehash import refuse_touched, working_digests

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from evalaction.checks.pool import Judge
    from evalaction.engine.prepare import Prepared
    from evalaction.engine.rows import Judged
    from evalaction.method.card import Endpoint
    from evalaction.method.records import ArmName, Completion, Item
    from evalaction.method.report import Change, Counts
    from evalaction.sandbox.records import Rung


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
    judged_apart: bool = False
    """Another job judges: nothing is judged here, and no program of the exam is run."""
    rung: Rung | None = None
    """How programs of the exam are kept apart; what `pass_gates` found."""
    base: str | None = None
    """The commit that the change was compared with, to be named in the report."""


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def redactor_of(endpoints: Iterable[Endpoint], environ: Mapping[str, str]) -> Redactor:
    """Knows every value of a variable that the endpoints name."""
    from evalaction.endpoints import secrets_of

    return Redactor(secrets_of(endpoints, environ))


def manifest_of(prepared: Prepared, setting: Setting) -> Manifest:
    """What is asked, of whom, where; names and digests only."""
    trial, card, exam = prepared.trial, prepared.card, prepared.exam
    record = card.record
    redact = redactor_of(prepared.named, setting.environ).redact
    held = {"terms": record.terms, "read_on": record.read_on, "allowance": record.allowance} if record else {}
    return Manifest(
        tool_version=__version__,
        started_at=utc_now(),
        card_path=prepared.path,
        card_text=trial.question.card_bytes.decode(),
        card_sha256=trial.question.card_sha256,
        commit=trial.judged.commit,
        parents=trial.judged.parents,
        base=trial.base or setting.base,
        exam_sha256=exam.sha256,
        ids_sha256=exam.ids_sha256,
        checker_sha256=exam.checker_sha256,
        question_digest=prepared.question_digest,
        items=tuple((item.id, item.tags) for item in exam.items),
        arms=tuple(_arm_record(prepared, arm) for arm in prepared.arms),
        levers=_levers(prepared),
        changes=_changes(prepared, redact),
        unchanged=tuple(sorted(prepared.unchanged)),
        left_out=prepared.left_out,
        question=trial.asked_by,
        question_changes=trial.question_changes,
        base_missing=trial.base_missing,
        planned=prepared.planned,
        judged_apart=setting.judged_apart,
        runner=dict(setting.identity),
        isolation=isolation_of(prepared, setting.rung, checks=not setting.judged_apart),
        record={name: str(value) for name, value in held.items() if value is not None},
        inputs=dict(setting.inputs),
        rehearsal=setting.rehearsal,
        synthetic="synthetic" in setting.inputs,
        run_url=_run_url(setting.environ),
    )


def _arm_record(prepared: Prepared, arm: ArmName) -> ArmRecord:
    resolved = prepared.arms[arm]
    routes = tuple(one.route for one in resolved.asked)
    return ArmRecord(
        arm=arm,
        asked=facts_of(resolved),
        requests_sha256=prepared.requests_sha256(arm),
        routes=routes if any(routes) else (),
    )


def _levers(prepared: Prepared) -> tuple[str, ...]:
    arms = tuple(prepared.arms.values())
    return moved_levers(*arms) if len(arms) == 2 else ()


def _changes(prepared: Prepared, redact: Callable[[str], str]) -> tuple[Change, ...]:
    """What moved between two commits; two arms of one card are meant to differ."""
    arms = prepared.arms
    if len(arms) < 2 or arms["treatment"].source.commit == arms["control"].source.commit:
        return ()
    return changes_of(arms["treatment"], arms["control"], redact=redact)


def _run_url(environ: Mapping[str, str]) -> str | None:
    parts = [environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else None


async def draw(prepared: Prepared, setting: Setting, *, progress: Callable[[Counts], None]) -> Drawn:
    """Draw the grid into the run folder and seal it.

    Raises UsageError (folder in use, second writer, unusable address or key, full disk) and UnregisteredError (a resumed run
    whose inputs differ, files of the exam that changed while programs ran).
    """
    async with _job(prepared, setting) as job:
        confirm = confirmation(prepared) if setting.rung else None
        sitting = Sitting(
            folder=setting.folder,
            manifest=manifest_of(prepared, setting),
            job=job,
            resume=setting.resume,
            requests=request_lines(prepared, redactor_of(prepared.named, setting.environ).redact),
            confirm=confirm,
        )
        return await conduct(sitting, clock=SystemClock(), progress=progress)


def confirmation(prepared: Prepared) -> Callable[[], None]:
    """Compares the exam's files with what they are now. Raises UnregisteredError (`changed_during_run`) when it is called."""
    judged, exam = prepared.trial.judged, prepared.exam
    before = working_digests(judged, exam)
    return lambda: refuse_touched(before, working_digests(judged, exam))


@asynccontextmanager
async def _job(prepared: Prepared, setting: Setting) -> AsyncIterator[Job]:
    card, exam = prepared.card, prepared.exam
    reaching = opened(prepared, setting.environ, ca_bundle=setting.ca_bundle, rung=setting.rung)
    judging = _nobody() if setting.judged_apart else judge_of(prepared, setting.environ, setting.rung)
    async with reaching as reached, judging as judge:
        yield Job(
            grid=grid_of(prepared),
            items=exam.items,
            lanes={arm: _lane(prepared, arm, reached.keys[arm]) for arm in prepared.requests},
            surfaces=reached.surfaces,
            judge=judge,
            rows=row_maker(prepared, setting.environ, judged_apart=setting.judged_apart),
            pace=card.pace,
        )


@asynccontextmanager
async def _nobody() -> AsyncIterator[Callable[[Item, Completion], Awaitable[Judged]]]:
    yield leave_unjudged


def grid_of(prepared: Prepared) -> Grid:
    """The planned order of a prepared question."""
    ids = [item.id for item in prepared.exam.items]
    return Grid(ids, arms=tuple(prepared.requests), draws=prepared.card.draws.count, seed=prepared.card.seed)


def judge_of(prepared: Prepared, environ: Mapping[str, str], rung: Rung | None) -> Judge:
    """The workers, and the box where there is a rung, for every check of the drawn items."""
    from evalaction.checks.pool import Judge

    card, exam = prepared.card, prepared.exam
    redact = redactor_of(prepared.named, environ).redact

    def quotable(text: str) -> bool:
        # A reason quotes the reply cut short, where a secret could no longer be found: then it quotes nothing.
        return card.draws.keep_text != "none" and redact(text) == text

    return Judge(exam.items, card.checks, WORKERS, quotable=quotable, files=exam.files, rung=rung)


def row_maker(prepared: Prepared, environ: Mapping[str, str], *, judged_apart: bool = False) -> RowMaker:
    """What writes the rows of a prepared question, or the draws of one that is judged apart."""
    card, exam = prepared.card, prepared.exam
    made = partial(DrawMaker, traced=_traced(exam.items)) if judged_apart else RowMaker
    return made(
        [item.id for item in exam.items],
        {
            arm: Asked(
                endpoint=[one.endpoint.name for one in prepared.arms[arm].asked],
                request_sha256=[request.sha256 for request in requests],
            )
            for arm, requests in prepared.requests.items()
        },
        seed=card.seed,
        redact=redactor_of(prepared.named, environ).redact,
        keep_text=card.draws.keep_text,
    )


def _traced(items: Iterable[Item]) -> frozenset[int]:
    """Positions of the items whose check reads the trace."""
    return frozenset(place for place, item in enumerate(items) if item.check.source == "trace")


WORKERS = 2
"""Processes that judge; a third one does not help beside the client itself on a small runner."""


def _lane(prepared: Prepared, arm: ArmName, keys: Sequence[str]) -> Lane:
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

    return Lane(surface=keys, call=call)
