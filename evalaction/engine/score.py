"""Everything that is shown, derived from a run folder alone: manifest and rows in, report out. Offline; rows are streamed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypedDict

from evalaction import schemas
from evalaction.endpoints.headers import retry_after_ms
from evalaction.engine.apart import judged_rows, sealed_rows
from evalaction.engine.folder import ROWS
from evalaction.engine.grid import Grid
from evalaction.engine.judging import Judging, read_judging
from evalaction.engine.manifest import SKIPPED, Ended, Manifest, read_manifest
from evalaction.engine.pause import read_pause
from evalaction.engine.readback import Seal, Tail, tail_of
from evalaction.engine.reading import placed_rows, read_row
from evalaction.errors import EvalactionError, InconclusiveError, NotRunError, Outcome, Settled, UnregisteredError, UsageError
from evalaction.method.card import AtCommit, Card
from evalaction.method.cards.parse import parse_card
from evalaction.method.counting.tally import GridError, Tally
from evalaction.method.judging.facts import AskedBy, RunFacts
from evalaction.method.judging.facts import Ended as RunEnd
from evalaction.method.records import ArmName, Row
from evalaction.method.report import Change, Provenance, QuestionChange, Report
from evalaction.method.telling.callouts import refusal_callouts
from evalaction.method.telling.summary import build_report, refusal_report

_ERRORS: dict[Outcome, type[EvalactionError]] = {
    kind.outcome: kind for kind in (UsageError, UnregisteredError, InconclusiveError, NotRunError)
}


def score(folder: Path) -> Report:
    """The report of a run. Raises UsageError for a folder that is no run, and as `score_rows` does."""
    return score_rows(folder, read_manifest(folder))


def score_rows(folder: Path, manifest: Manifest, each: Callable[[Row], None] | None = None) -> Report:
    """The same where the manifest has been read; `each` is handed every row on the way.

    Raises UnregisteredError (`seal_broken`) for rows changed after the run, InconclusiveError (GridError) for rows that the grid
    has no place for or that are there twice.
    """
    card = parse_card(manifest.card_text.encode("utf-8", "surrogatepass"), file=manifest.card_path, schema=schemas.load("card"))
    if manifest.ended:
        return _refusal(manifest, manifest.ended, card)
    run = _Run(folder, manifest, card)
    for row in run.rows():
        run.add(row)
        if each:
            each(row)
    return run.report()


def planned_rows(folder: Path) -> Iterator[Row]:
    """The rows of a run in planned order, read one at a time. Raises as `score` does."""
    manifest = read_manifest(folder)
    card = parse_card(manifest.card_text.encode("utf-8", "surrogatepass"), file=manifest.card_path, schema=schemas.load("card"))
    if manifest.ended or not (manifest.judged_apart or (folder / ROWS).exists()):
        return
    grid = _grid(manifest, card)
    places = array("Q", [0]) * len(grid)
    for offset, row in _rows(folder, manifest, grid, _tail(folder, manifest)):
        places[row.index] = offset + 1
    with (folder / ROWS).open("rb") as file:
        for place in filter(None, places):
            file.seek(place - 1)
            yield read_row(file.readline())


@dataclass(slots=True)
class _Waits:
    """Replies that asked for a longer wait than the card allows."""

    max_ms: int
    count: int = 0
    longest_ms: int = 0
    longest: str | None = None

    def add(self, row: Row) -> None:
        try:
            arrived = datetime.fromisoformat(row.started_at) + timedelta(milliseconds=row.ms)
            asked = retry_after_ms(row.retry_after or "", arrived)
        except (ValueError, OverflowError, TypeError):
            return
        if asked is not None and asked > self.max_ms and not row.columns.reach:
            self.count += 1
            if asked > self.longest_ms:
                self.longest_ms, self.longest = asked, row.retry_after


class _Run:
    """The counters of one run folder."""

    def __init__(self, folder: Path, manifest: Manifest, card: Card) -> None:
        self._folder = folder
        self._manifest = manifest
        self._card = card
        self._tail = _tail(folder, manifest)
        self._judging = read_judging(folder) if manifest.judged_apart else None
        self._grid = _grid(manifest, card)
        counters = {arm.arm: arm.asked.counters for arm in manifest.arms}
        self._tally = Tally(self._grid.ids, dict(manifest.items), self._grid.arms, self._grid.draws, card.seed, counters=counters)
        self._asked: dict[tuple[ArmName, str], str] = {}
        self._waits = _Waits(card.pace.max_wait_ms)
        self._redacted = 0

    def rows(self) -> Iterator[Row]:
        return (row for _, row in _rows(self._folder, self._manifest, self._grid, self._tail))

    def add(self, row: Row) -> None:
        if self._asked.setdefault((row.arm, row.item), row.request_sha256) != row.request_sha256:
            raise GridError(f"the draws of item {row.item!r} in {row.arm} did not ask the same", code="wrong_request")
        if row.retry_after is not None:
            self._waits.add(row)
        self._redacted += row.redacted is True
        self._tally.add(row)

    def report(self) -> Report:
        seal = self._tail.seal
        if seal and (seal.planned, seal.written) != (len(self._grid), self._tally.rows):
            raise UnregisteredError(
                f"The seal of {self._folder / ROWS} counts {seal.written} of {seal.planned} draws, "
                f"and there are {self._tally.rows} of {len(self._grid)}.",
                code="seal_broken",
            )
        return build_report(self._card, self._tally, self._facts(seal))

    def _facts(self, seal: Seal | None) -> RunFacts:
        pause = None if seal else read_pause(self._folder)
        rows = self._tally.rows
        unsealed: RunEnd = "complete" if self._tally.complete else "interrupted"
        return RunFacts(
            planned=len(self._grid),
            sent=seal.sent if seal else max(rows, pause.sent if pause else 0),
            written=rows,
            sealed=seal is not None,
            ended=seal.ended if seal else pause.ended if pause else unsealed,
            provenance=provenance_of(self._manifest, seal=seal, ms=pause.ms if pause else None, judging=self._judging),
            arms={arm.arm: arm.asked for arm in self._manifest.arms},
            redacted=self._redacted,
            isolation=_isolation(self._manifest, self._judging),
            **_compared(self._manifest),
            synthetic_allowed=self._manifest.synthetic,
            rehearsal=self._manifest.rehearsal,
            long_waits=self._waits.count,
            longest_wait=self._waits.longest,
        )


class _Compared(TypedDict):
    levers: tuple[str, ...]
    changes: tuple[Change, ...]
    unchanged: frozenset[int]
    left_out: tuple[str, ...]
    routes: Mapping[ArmName, tuple[str | None, ...]]
    question: AskedBy | None
    question_changes: tuple[QuestionChange, ...]
    base_missing: bool


def _compared(manifest: Manifest) -> _Compared:
    """What a manifest says of the two commits and of what differs between the arms."""
    return {
        "levers": manifest.levers,
        "changes": manifest.changes,
        "unchanged": frozenset(manifest.unchanged),
        "left_out": manifest.left_out,
        "routes": {arm.arm: arm.routes for arm in manifest.arms if arm.routes},
        "question": manifest.question,
        "question_changes": manifest.question_changes,
        "base_missing": manifest.base_missing,
    }


def provenance_of(
    manifest: Manifest, *, seal: Seal | None = None, ms: int | None = None, judging: Judging | None = None
) -> Provenance:
    """What a manifest, and the note of a judging that took place elsewhere, say of where the numbers come from."""
    isolated = _isolated(_isolation(manifest, judging))
    return Provenance(
        tool_version=manifest.tool_version,
        commit=manifest.commit,
        base=manifest.base,
        card_path=manifest.card_path,
        card_sha256=manifest.card_sha256,
        exam_id=manifest.exam_sha256,
        question_digest=manifest.question_digest,
        rows_sha256=seal.sha256 if seal else None,
        started_at=manifest.started_at,
        duration_ms=seal.ms if seal else ms,
        runner={**manifest.runner, **(judging.told if judging else {}), **isolated},
        inputs=manifest.inputs,
        record=manifest.record,
        run_url=manifest.run_url,
    )


def _isolation(manifest: Manifest, judging: Judging | None) -> Mapping[str, str]:
    return judging.beside(manifest.isolation) if judging else manifest.isolation


def _isolated(isolation: Mapping[str, str]) -> dict[str, str]:
    """What the footer says beside the machine."""
    if not isolation:
        return {}
    checks = isolation.get("checks")
    said = f", {checks}{', forgeable' if checks == 'in_process' else ''}" if checks else ""
    return {"isolation": f"{isolation.get('name', '?')} ({isolation.get('how', '?')}){said}"}


def _refusal(manifest: Manifest, ended: Ended, card: Card) -> Report:
    facts = RunFacts(
        planned=0,
        sent=0,
        written=0,
        sealed=False,
        ended="complete",
        provenance=provenance_of(manifest),
        arms={arm.arm: arm.asked for arm in manifest.arms},
        rehearsal=manifest.rehearsal,
        **_compared(manifest),
    )
    error = _error(ended)
    if isinstance(error, Settled) and not _may_settle(manifest, card, error):
        raise UnregisteredError(
            f"The manifest says {ended.outcome.value}, which a run of its card does not end with.", code="manifest_differs"
        )
    return refusal_report(
        error,
        name=card.name,
        provenance=facts.provenance,
        card=card,
        items=len(manifest.items),
        scripted=facts.scripted,
        callouts=refusal_callouts(facts),
        facts=facts,
    )


def _may_settle(manifest: Manifest, card: Card, end: Settled) -> bool:
    """Whether a card can end so without a draw: against a base that is named, or with arms of two commits."""
    if end.outcome is Outcome.REGISTERED:
        return card.control == AtCommit() and manifest.base is not None and len(manifest.arms) == 1
    return manifest.base is not None if end.code == SKIPPED else card.elsewhere is not None


def _error(ended: Ended) -> EvalactionError:
    if ended.outcome.exit_code == 0:
        return Settled(ended.sentence, outcome=ended.outcome, code=ended.code)
    return _ERRORS.get(ended.outcome, EvalactionError)(ended.sentence, code=ended.code)


def _rows(folder: Path, manifest: Manifest, grid: Grid, tail: Tail) -> Iterator[tuple[int, Row]]:
    """Offset and row; those of a run that was judged apart are compared with their draws on the way."""
    if manifest.judged_apart:
        return judged_rows(folder, grid, tail)
    return placed_rows(folder / ROWS, grid, end=tail.body)


def _tail(folder: Path, manifest: Manifest) -> Tail:
    """A run that was killed before its first row has no journal yet."""
    if manifest.judged_apart:
        return sealed_rows(folder)
    return tail_of(folder) if (folder / ROWS).exists() else Tail(body=0, seal=None, torn=0)


def _arms_of(card: Card, manifest: Manifest) -> tuple[ArmName, ...]:
    """The arms of a run of the card; where there is no base, one that is judged against it has its treatment alone."""
    both: tuple[ArmName, ...] = ("treatment", "control")
    alone = card.control is None or (manifest.base_missing and card.elsewhere is not None)
    return both[:1] if alone else both


def _grid(manifest: Manifest, card: Card) -> Grid:
    """Raises UnregisteredError when the manifest's counts and arms are not those of its card."""
    arms = tuple(arm.arm for arm in manifest.arms)
    grid = Grid([item for item, _ in manifest.items], arms=arms, draws=card.draws.count, seed=card.seed)
    wanted = _arms_of(card, manifest)
    if arms != wanted or manifest.planned != len(grid):
        raise UnregisteredError(
            f"The manifest plans {manifest.planned} draws for {' and '.join(arms)}, and its card asks for "
            f"{len(manifest.items) * len(wanted) * card.draws.count} for {' and '.join(wanted)}.",
            code="manifest_differs",
        )
    return grid
