"""A run folder as one entry of a history, and what an entry's folder says of its items, for comparisons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

from evalaction import schemas
from evalaction.engine.manifest import ArmRecord, Manifest, read_manifest
from evalaction.engine.score import score_rows
from evalaction.errors import UsageError
from evalaction.method.canonical import Json, digest, sha256
from evalaction.method.card import Card, CheckLimits, Limit
from evalaction.method.cards.parse import parse_card
from evalaction.method.counting.tally import UNREACHED, ArmTally, Tally
from evalaction.method.report import Report
from evalaction.method.series.entry import RECORDED, ArmEntry, Comparable, Entry, LimitEntry
from evalaction.method.series.latency import latency
from evalaction.method.series.places import MAX_TABLE, TABLE

_LONGEST = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """A run folder, read once."""

    manifest: Manifest
    card: Card
    report: Report
    tally: Tally


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """An entry, and what lies beside it."""

    entry: Entry
    table: bytes | None
    """`rows.csv`; None: the run has none, or it is over 24 MiB."""
    limits: tuple[str, ...]
    """Of the card, whether this run could judge them or not."""


def read_run(folder: Path, *, by_id: bool = False) -> Scored:
    """The tally holds the items in exam order, or by their ids. Raises as `score` does."""
    manifest = read_manifest(folder)
    card = parse_card(manifest.card_text.encode("utf-8", "surrogatepass"), file=manifest.card_path, schema=schemas.load("card"))
    arms = [arm.arm for arm in manifest.arms]
    ids = [item for item, _ in manifest.items]
    tally = Tally(sorted(ids) if by_id else ids, dict(manifest.items), arms, card.draws.count, card.seed)
    return Scored(manifest=manifest, card=card, report=score_rows(folder, manifest, tally.add), tally=tally)


def take(folder: Path, *, run: str | None = None, key: str = "", report: Report | None = None) -> Taken:
    """The entry of a finished run. `run` names it; None: by its time and rows. `report`, where it says more than the folder does.

    Raises UsageError for a rehearsal and for a run that was refused or not finished: neither is history. Else as `score` does.
    """
    scored = read_run(folder)
    manifest = scored.manifest
    told = report or scored.report
    outcome, rows = told.verdict.outcome, scored.report.provenance.rows_sha256
    if manifest.rehearsal or outcome not in RECORDED or rows is None:
        what = "A rehearsal" if manifest.rehearsal else f"An unsealed run, or one with the outcome {outcome.value},"
        raise UsageError(f"{what} is no history; it keeps sealed runs that were drawn.", code="history")
    table = _table(folder)
    entry = Entry(
        card=_short(manifest.card_path),
        name=_short(scored.card.name),
        key=_short(key),
        run=run or f"{_clock(manifest.started_at)}-{rows[:8]}",
        started_at=manifest.started_at,
        tool_version=_short(manifest.tool_version),
        commit=manifest.commit,
        run_url=told.provenance.run_url,
        question_digest=manifest.question_digest,
        rows_sha256=rows,
        table_sha256=None if table is None else sha256(table),
        outcome=outcome,
        titles=tuple(told.titles),
        breaks=_codes(told),
        limits=tuple(LimitEntry(key=_short(limit_key(result.limit)), state=result.state) for result in told.limits)[:_LONGEST],
        comparable=comparable(manifest, scored.card),
        items=len(manifest.items),
        counts=told.counts,
        arms=tuple(_arm(arm, scored.tally.sides[arm.arm], complete=bool(told.arms)) for arm in manifest.arms),
        runner={_short(name): _short(value) for name, value in manifest.runner.items()},
    )
    return Taken(entry=entry, table=table, limits=tuple(limit_key(limit) for limit in scored.card.limits))


def comparable(manifest: Manifest, card: Card) -> Comparable:
    """What a run must share with another one to be compared with it."""
    asked = [one for arm in manifest.arms for one in arm.asked.endpoints]
    return Comparable(
        exam_sha256=manifest.exam_sha256,
        ids_sha256=manifest.ids_sha256,
        checker_sha256=manifest.checker_sha256,
        items_sha256=digest([item for item, _ in manifest.items]),
        timeout_ms=card.draws.timeout_ms,
        draws=card.draws.count,
        checks_sha256=_checks(card.checks),
        arms=tuple(arm.arm for arm in manifest.arms),
        output=" and ".join(sorted({one.output for one in asked})),
        parameters_sha256=_parameters(manifest),
    )


def limit_key(limit: Limit) -> str:
    """`treatment:min_stable_pass`, with the counter and the tag it is about after it."""
    return ":".join(part for part in (limit.scope, limit.name, limit.counter, limit.tag) if part is not None)


def _checks(limits: CheckLimits) -> str:
    return digest({one.name: getattr(limits, one.name) for one in fields(limits)})


def _parameters(manifest: Manifest) -> str | None:
    """Each arm's parameters in the order of the exam, once each: who is asked may change, what is asked of them may not."""
    known: dict[str, Json] = {}
    for arm in manifest.arms:
        digests = list(dict.fromkeys(one.parameters for one in arm.asked.endpoints))
        if None in digests:
            return None
        known[arm.arm] = sorted(filter(None, digests))
    return digest(known)


def _arm(arm: ArmRecord, side: ArmTally, *, complete: bool) -> ArmEntry:
    arrived = Counter(ms for ms, letter in zip(side.ms, side.letters, strict=True) if letter and letter != UNREACHED)
    return ArmEntry(
        arm=arm.arm,
        endpoint=_short(arm.asked.endpoint),
        model=None if arm.asked.model is None else _short(arm.asked.model),
        requests_sha256=arm.requests_sha256,
        seeded=arm.asked.seeded,
        strips=bytes(side.letters) if complete else b"",
        latency=latency(arrived, len(side.letters) - arrived.total(), side.items),
    )


def _codes(report: Report) -> tuple[str, ...]:
    """The breaks as the action's output has them."""
    from evalaction.report.outputs import outputs

    return tuple(code[:200] for code in outputs(report)["breaks"].split(",") if code)[:_LONGEST]


def _table(folder: Path) -> bytes | None:
    path = folder / TABLE
    try:
        return path.read_bytes() if path.stat().st_size <= MAX_TABLE else None
    except OSError:
        return None


def _clock(started_at: str) -> str:
    """`093000Z` of an ISO time."""
    return started_at[11:19].replace(":", "") + "Z"


def _short(text: str) -> str:
    """What an entry has room for; half a character would not be read back."""
    return text[:_LONGEST].encode("utf-8", "replace").decode()
