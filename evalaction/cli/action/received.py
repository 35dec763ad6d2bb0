"""`report` mode: runs that another job drew, taken as hostile. Bounded, copied, scored again offline and rendered by us.

Of the artifact only `cards.json` and each card's manifest and rows are read. What they say about outcomes, Markdown or addresses
counts for nothing.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.cli.action.judge import judged_of, refused, reused
from evalaction.cli.action.judged import Judged
from evalaction.cli.action.results import CARDS, FORMAT, rows_digest
from evalaction.cli.action.thread import Thread, record_of
from evalaction.engine.folder import MANIFEST, ROWS, create, locked, write_whole
from evalaction.engine.manifest import REFUSAL_FORMAT
from evalaction.errors import EvalactionError, Outcome, UnregisteredError, UsageError
from evalaction.github.answer import Reuse, decide
from evalaction.github.hidden import Memory
from evalaction.github.shown import restore_lines
from evalaction.method.canonical import sha256
from evalaction.method.reading.strict_json import loads
from evalaction.method.records import Sentence
from evalaction.method.report import CALIBRATION

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage
    from evalaction.method.report import Report

UNVERIFIED = "Reported by the pull request's own run, not verified."
MOST_ENTRIES = 5_000
MOST_CARDS = 100
TOTAL_BYTES = 1 << 30
_LIMITS = {CARDS: 4 << 20, MANIFEST: 64 << 20, ROWS: 512 << 20}
_TOLD = "The drawing job refused this card before anything was drawn; its summary says why."
_REFUSALS: dict[Outcome, type[EvalactionError]] = {
    Outcome.USAGE: UsageError,
    Outcome.UNREGISTERED: UnregisteredError,
    Outcome.INTERNAL: EvalactionError,
}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,119}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DRAWN = {Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.UNREACHABLE}


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """One card of an artifact, by what it says of itself."""

    card: str
    folder: Path | None
    """Of ours, with the copies of manifest and rows."""
    question_digest: str | None
    refused: Outcome | None = None
    """The drawing job says that it refused the card before it could be read."""
    said: tuple[Sentence, ...] = ()
    """What the drawing job found out beside the run; shown only where its digest vouches for it."""


def receive(stage: Stage) -> tuple[tuple[Received, ...], bool]:
    """The cards of the artifact, and whether their rows are those that the drawing job handed over.

    Raises UsageError for an artifact that is not of this form, UnregisteredError (`rows_digest`) where the digest differs.
    """
    if stage.settings.run_dir is None:
        raise UsageError("mode: report needs the input run-dir, the folder of the downloaded artifact.", code="run_dir")
    source = stage.world.cwd / stage.settings.run_dir
    _check_entries(source)
    listed = _read(source / CARDS, CARDS)
    cards = tuple(_cards(stage, source, listed))
    found = rows_digest(sha256(listed), {card.folder.name: card.folder for card in cards if card.folder})
    if stage.asked_digest is not None and found != stage.asked_digest:
        raise UnregisteredError(
            "The rows of the artifact are not those that the drawing job handed over; nothing of them is shown. Run it again.",
            code="rows_digest",
        )
    return cards, stage.asked_digest is not None and stage.context.kind != "workflow_run"


def judge_received(stage: Stage, received: Received, thread: Thread, *, verified: bool) -> Judged:
    """Score a received card again. What was answered before in our comment stays the answer."""
    try:
        if received.refused is not None:
            raise _REFUSALS[received.refused](_TOLD)
        if received.folder is None:
            return _earlier(received, thread)
        report = _scored(stage, received.folder)
        return _answered(stage, received, report, thread, verified=verified)
    except EvalactionError as error:
        return refused(stage, received.card, error, None, None)
    except Exception as error:  # noqa: BLE001  whatever an artifact does to us, the other cards have their say
        bug = EvalactionError(f"The run of this card could not be read ({type(error).__name__}).", code="artifact")
        return refused(stage, received.card, bug, None, None)


def _scored(stage: Stage, folder: Path) -> Report:
    from evalaction.engine.derive import derive

    with locked(folder):
        report = derive(folder)
    if report.verdict.outcome is Outcome.INTERRUPTED:
        raise UsageError("The run was interrupted; run it again.", code="artifact")
    if CALIBRATION in report.provenance.inputs:
        raise UsageError("A calibration draws one arm against itself and is never posted; hand over a run.", code="artifact")
    other = stage.context.other_run
    url = stage.context.run_url
    if stage.context.kind == "workflow_run":
        number = other.id if other else None
        url = f"{stage.context.server_url}/{stage.context.repository}/actions/runs/{number}" if number else None
    return replace(report, provenance=replace(report.provenance, run_url=url))


def _answered(stage: Stage, received: Received, report: Report, thread: Thread, *, verified: bool) -> Judged:
    path = received.card
    record = None
    judged = judged_of(report, path=path, folder=received.folder)
    if report.verdict.outcome in _DRAWN and report.provenance.question_digest and report.counts.planned:
        answer = decide(
            report.provenance.question_digest,
            card=path,
            event=stage.context.event,
            pull_request=thread.pull is not None,
            memory=thread.memory,
        )
        if isinstance(answer, Reuse):
            return replace(reused(answer, path=path, name=report.name), folder=received.folder)
        said = received.said if verified else ()
        judged = judged_of(report, path=path, folder=received.folder, callouts=said, attempt=answer.sentence)
        if verified:
            sealed = report.provenance.rows_sha256 is not None
            record = record_of(stage, report, judged.document, answer, path=path, sealed=sealed, outputs=judged.outputs)
    return replace(judged, record=record)


def _earlier(received: Received, thread: Thread) -> Judged:
    """The drawing job answered from our comment; so do we, and not from what it says."""
    question = received.question_digest or ""
    held = thread.answered(question)
    if held is None and isinstance(thread.memory, Memory):
        held = thread.memory.of(received.card, question)
    if held is None or not held.final:
        raise UsageError(
            "The drawing job left no rows and our comment holds no answer to its question; run it again.", code="artifact"
        )
    sentence = f"Nothing was drawn: this question was answered before, on {held.day} at commit {held.commit[:12]}."
    return reused(Reuse(held, sentence), path=received.card, name=received.card)


def _check_entries(source: Path) -> None:
    """Names, kinds, number and sizes of all entries, before any is opened. Links are not followed."""
    entries = total = 0
    try:
        for entry in _walk(source, depth=0):
            entries += 1
            mode = entry.stat(follow_symlinks=False)
            total += mode.st_size if stat.S_ISREG(mode.st_mode) else 0
            if not (stat.S_ISREG(mode.st_mode) or stat.S_ISDIR(mode.st_mode)) or not _NAME.fullmatch(entry.name):
                raise _odd("it holds a link, or a name that no file of ours has")
            if entries > MOST_ENTRIES or total > TOTAL_BYTES:
                raise _odd(f"it has over {MOST_ENTRIES:,} entries or over 1 GiB")
    except OSError as error:
        raise UsageError(
            f"The run folder cannot be read: {error.strerror}; download the artifact first.", code="run_dir"
        ) from error


def _walk(folder: Path, *, depth: int) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                if depth > 0:
                    raise _odd("it has folders within folders")
                yield from _walk(Path(entry.path), depth=depth + 1)


def _cards(stage: Stage, source: Path, data: bytes) -> Iterator[Received]:
    try:
        listed = loads(data.decode())
    except (ValueError, RecursionError):
        raise _odd(f"its {CARDS} is not strict JSON") from None
    cards = listed.get("cards") if isinstance(listed, dict) and listed.get("format") == FORMAT else None
    if not isinstance(cards, list) or not 0 < len(cards) <= MOST_CARDS:
        raise _odd(f"its {CARDS} is not in the form {FORMAT}")
    seen = set()
    for card in cards:
        entry = card if isinstance(card, dict) else {}
        path, name, held = entry.get("card"), entry.get("folder"), entry.get("question_digest")
        if not isinstance(path, str) or not 0 < len(path) <= 300 or not path.isprintable() or path in seen:
            raise _odd("a card in it has no path, or the path of another")
        seen.add(path)
        question = held if isinstance(held, str) and _DIGEST.fullmatch(held) else None
        folder = None if name is None else _copied(stage, source, name)
        outcome = _refusal(entry.get("outcome"), folder)
        said = restore_lines(entry.get("said", []))
        yield Received(card=path, folder=folder, question_digest=question, refused=outcome, said=said)


def _refusal(outcome: object, folder: Path | None) -> Outcome | None:
    """A refusal is believed, since it always fails the job; a verdict is not, it is derived."""
    said = next((one for one in _REFUSALS if one.value == outcome), None)
    if folder is None:
        return said
    head = (folder / MANIFEST).read_bytes()[:4096]
    return (said or Outcome.USAGE) if REFUSAL_FORMAT.encode() in head else None


def _copied(stage: Stage, source: Path, name: object) -> Path:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not (source / name).is_dir():
        raise _odd("a card in it names a folder that is not there")
    target = stage.folder / name
    if target.exists():
        raise _odd("two cards in it name one folder")
    create(target)
    write_whole(target / MANIFEST, _read(source / name / MANIFEST, MANIFEST))
    if (source / name / ROWS).exists():
        write_whole(target / ROWS, _read(source / name / ROWS, ROWS))
    return target


def _read(path: Path, kind: str) -> bytes:
    """A regular file's bytes, within its bound."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _odd(f"{kind} cannot be read ({error.strerror})") from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _odd(f"{kind} is no file")
        data = file.read(_LIMITS[kind] + 1)
    if len(data) > _LIMITS[kind]:
        raise _odd(f"{kind} has over {_LIMITS[kind]:,} bytes")
    return data


def _odd(why: str) -> UsageError:
    return UsageError(f"The artifact is not one of this action: {why}.", code="artifact")
