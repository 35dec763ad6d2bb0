"""One check in the box: its processes started, watched and ended; nothing of it is left when its verdict is known."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from evalaction.checks import inside
from evalaction.checks.boxed import blame
from evalaction.checks.boxed.blame import Checked, Said
from evalaction.checks.boxed.descriptors import Descriptors
from evalaction.checks.inside.board import SIZE, Note, read_note
from evalaction.checks.inside.job import texts
from evalaction.method.card import CheckLimits
from evalaction.sandbox.records import Bind, Ending, Limits, Rung, SandboxError, Spec, Task

if TYPE_CHECKING:
    from collections.abc import Coroutine

INSIDE = "evalaction.checks.inside"
_MODULES = tuple(f"{INSIDE}.{name}" for name in ("candidate", "checker", "together", "pure"))
_SHOWN = "/box/checks/inside"
GRACE_MS = 1_000
"""The check's side may run so much longer than the candidate: whoever waits in vain can still say so."""
LEAVE_S = 1.0
"""How long a candidate may take to end when its check is done."""


class Lost(Exception):
    """The box has lost a process; the text is the reason of a checker error."""


class Process(Protocol):
    """One process in the box."""

    async def wait(self) -> Ending: ...

    def kill(self) -> None: ...


class Sandbox(Protocol):
    """An open box."""

    async def start(self, task: Task) -> Process: ...


def box_spec(rung: Rung) -> Spec:
    """What the box of an exam shows: our side of the wire, imported once."""
    folder = Path(inside.__file__).resolve().parent
    return Spec(modules=_MODULES, readable=(Bind(source=folder, inside=_SHOWN if rung.number in (1, 3) else str(folder)),))


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A check that is a file: its text, and what lies beside it in its folder."""

    file: str
    source: str
    beside: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What a Python checker is called with."""

    form: Literal["json", "text"]
    parsed: str
    """JSON text, or the text itself."""
    fixture: str
    """JSON text."""


async def split(box: Sandbox, program: Program, candidate: str, limits: CheckLimits) -> Checked:
    """Candidate and check in two processes with plain data between them."""
    nonce = secrets.token_hex(16)
    with Descriptors() as own:
        requests, replies = own.pipe(), own.pipe()
        board, verdict = own.file(bytes(SIZE)), own.file(b"")
        to_candidate = {3: own.file(texts(candidate)), 4: requests[0], 5: replies[1]}
        to_check = {
            3: own.file(texts(nonce, program.file, program.source, candidate)),
            4: replies[0],
            5: requests[1],
            6: verdict,
            7: board,
        }
        processes: list[Process] = []
        try:
            processes.append(await box.start(_task("candidate", to_candidate, limits)))
            processes.append(await box.start(_task("checker", to_check, limits, program.beside, extra_ms=GRACE_MS)))
            own.close({*to_candidate.values(), *to_check.values()} - {board, verdict})
            ends = await _both(*processes, board=board)
        except Lost as lost:
            return Checked(None, str(lost))
        finally:
            for process in processes:
                process.kill()
        try:
            said = blame.read_said(own.said(verdict), nonce)
        except ValueError:
            return Checked(None, "checker:protocol: what it said is no verdict")
        return blame.split(*ends, said, _note(board), limits)


async def together(box: Sandbox, program: Program, candidate: str, limits: CheckLimits) -> Checked:
    """Candidate and check in one process."""
    nonce = secrets.token_hex(16)
    job = texts(nonce, program.file, program.source, candidate)
    files = {**program.beside, "_candidate.py": candidate.encode("utf-8", "replace")}
    try:
        ending, said = await _alone(box, job, nonce, _Start("together", files, limits))
    except ValueError:
        return Checked(False, "candidate:protocol: what was said is no verdict")
    except Lost as lost:
        return Checked(None, str(lost))
    return blame.together(ending, said, limits)


async def pure(box: Sandbox, program: Program, given: Given, limits: CheckLimits) -> Checked:
    """`checker(parsed, fixture)` in a process of its own."""
    nonce = secrets.token_hex(16)
    job = texts(nonce, program.file, program.source, given.form, given.parsed, given.fixture)
    try:
        ending, said = await _alone(box, job, nonce, _Start("pure", program.beside, limits))
    except ValueError:
        return Checked(None, "checker:protocol: what it said is no verdict")
    except Lost as lost:
        return Checked(None, str(lost))
    return blame.alone(ending, said, limits, len(given.parsed))


class _Start(NamedTuple):
    entry: str
    files: Mapping[str, bytes]
    limits: CheckLimits


async def _alone(box: Sandbox, job: bytes, nonce: str, start: _Start) -> tuple[Ending, Said | None]:
    """Raises ValueError where something else than a verdict was said."""
    with Descriptors() as own:
        verdict = own.file(b"")
        handed = {3: own.file(job), 4: verdict}
        process = await box.start(_task(start.entry, handed, start.limits, start.files))
        try:
            own.close([handed[3]])
            ending = await _ended(process)
        finally:
            process.kill()
        return ending, blame.read_said(own.said(verdict), nonce)


async def _both(candidate: Process, checker: Process, *, board: int) -> tuple[Ending, Ending]:
    """Both endings. Time that ran out while the check was busy with itself is not waited for any longer."""
    ours, theirs = _soon(_ended(checker)), _soon(_ended(candidate))
    try:
        await asyncio.wait((ours, theirs), return_when=asyncio.FIRST_COMPLETED)
        if not ours.done() and theirs.result().limit == "wall" and _note(board).phase in ("starting", "own"):
            checker.kill()
        ending = await ours
        await asyncio.wait((theirs,), timeout=LEAVE_S)
        if not theirs.done():
            candidate.kill()
        return await theirs, ending
    finally:
        ours.cancel()
        theirs.cancel()


async def _ended(process: Process) -> Ending:
    """Raises Lost: one check has no verdict then, and the run goes on. A box that does not start again ends the run."""
    try:
        return await process.wait()
    except SandboxError as error:
        raise Lost(f"checker:crash: {error.sentence}") from error


def _soon(waiting: Coroutine[None, None, Ending]) -> asyncio.Task[Ending]:
    return asyncio.get_running_loop().create_task(waiting)


def _note(board: int) -> Note:
    return read_note(os.pread(board, SIZE, 0))


def _task(
    entry: str,
    descriptors: Mapping[int, int],
    limits: CheckLimits,
    files: Mapping[str, bytes] | None = None,
    *,
    extra_ms: int = 0,
) -> Task:
    return Task(
        entry=f"{INSIDE}.{entry}:main",
        descriptors=descriptors,
        files=files or {},
        limits=Limits(
            wall_ms=limits.timeout_ms + extra_ms,
            cpu_ms=limits.cpu_ms,
            memory_mb=limits.memory_mb,
            output_bytes=limits.output_bytes,
        ),
    )
