"""The surface of `api: command`: one boxed process a draw, over a read-only export of the arm's commit."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path, PurePosixPath

from evalaction.endpoints.command import read
from evalaction.endpoints.keys import secrets_of, value_of
from evalaction.endpoints.reading import Malformed
from evalaction.endpoints.surface import Call, body_limit, from_reading, ms_since, now
from evalaction.errors import UsageError
from evalaction.method.canonical import sha256
from evalaction.method.card import Command, Endpoint
from evalaction.method.programs import program_of
from evalaction.method.records import Completion
from evalaction.redaction import Redactor
from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Bind, Ending, Limits, Rung, Spec, Task

INSIDE = "/program"
SETUP_MS = 600_000
"""A set-up that takes longer is ended."""
_SETUP = Limits(wall_ms=SETUP_MS, cpu_ms=SETUP_MS, memory_mb=16_384, processes=256, open_files=1_024, disk_mb=1_024)
_STDERR = 65_536
# The working folder is the program's: a path in `run` is read from the repository's root.
_IN_FOLDER = 'cd "$0" && exec "$@"'


class CommandSurface:
    """`async with` makes the export, runs the set-up once and opens the box; leaving it takes all of that away."""

    def __init__(
        self, endpoint: Endpoint, command: Command, program: Mapping[str, bytes], env: Mapping[str, str], rung: Rung
    ) -> None:
        self.endpoint = endpoint
        self._command = command
        self._program = program
        self._env = env
        self._rung = rung
        self._stack = AsyncExitStack()
        self._box: Box | None = None
        self._inside = INSIDE

    def expect(self, items: Iterable[str]) -> None:
        """A program answers whatever it is asked."""

    def slot(self) -> CommandSlot:
        return CommandSlot(self)

    async def __aenter__(self) -> CommandSurface:
        folder = Path(tempfile.mkdtemp(prefix="evalaction-program-"))
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            _export(folder, self._program)
            self._inside = INSIDE if self._rung.number in {1, 3} else str(folder)
            if self._command.setup:
                await self._set_up(folder)
            self._box = await self._stack.enter_async_context(Box(self._spec(folder, writable=False), self._rung))
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def _spec(self, folder: Path, *, writable: bool) -> Spec:
        return Spec(programs=True, network=True, readable=(Bind(source=folder, inside=self._inside, writable=writable),))

    async def _set_up(self, folder: Path) -> None:
        """Raises UsageError with the end of what the set-up said."""
        _open_up(folder)
        async with Box(self._spec(folder, writable=True), self._rung) as box:
            process = await box.start(self._task(self._command.setup, b"", _SETUP))
            ending = await process.wait()
        if ending.exit != 0 or ending.limit is not None:
            words = (ending.stderr or ending.stdout).decode("utf-8", "replace").strip()
            # A program holds the variables of the card, and its words end on a screen: redacted before they are cut.
            said = Redactor(secrets_of([self.endpoint], self._env)).redact(words)[-2_000:]
            raise UsageError(
                f"The set-up of endpoint {self.endpoint.name} failed ({_reason(ending) or 'over a limit'}); nothing was drawn. "
                f"Its last words: {said or 'none'}",
                code="setup_failed",
            )

    def _task(self, argv: tuple[str, ...], stdin: bytes, limits: Limits) -> Task:
        return Task(argv=("/bin/sh", "-c", _IN_FOLDER, self._inside, *argv), env=self._env, stdin=stdin, limits=limits)

    async def answer(self, call: Call) -> Completion:
        assert self._box is not None, "the surface has been opened"
        limit = body_limit(call)
        limits = Limits(
            wall_ms=call.timeout_ms,
            cpu_ms=call.timeout_ms,
            memory_mb=16_384,
            processes=64,
            open_files=512,
            disk_mb=256,
            output_bytes=limit + _STDERR,
        )
        started_at, start = now(), time.perf_counter()
        process = await self._box.start(self._task(self._command.run, call.request.body, limits))
        try:
            ending = await process.wait()
        finally:
            process.kill()
        return self._completed(ending, call, started_at=started_at, ms=ms_since(start))

    def _completed(self, ending: Ending, call: Call, *, started_at: str, ms: int) -> Completion:
        reason = _reason(ending) or ("oversize" if len(ending.stdout) > body_limit(call) else None)
        said = ending.stderr[:_STDERR].decode("utf-8", "replace") or None  # its head is kept, and must not begin inside a secret
        if reason is not None:
            return Completion(reason=reason, error=said, started_at=started_at, ms=ms)
        try:
            text = ending.stdout.decode("utf-8")
        except UnicodeDecodeError:
            return Completion(reason="malformed", error="the output is not UTF-8", started_at=started_at, ms=ms)
        try:
            reading = read(text, self.endpoint, call.request.output)
        except Malformed as error:
            return Completion(reason="malformed", error=str(error), started_at=started_at, ms=ms)
        # The digest of a body tells a cached reply by its response id, and a program gives none.
        return from_reading(reading, started_at=started_at, ms=ms, status=None, body_sha256=sha256(ending.stdout), cache_hit=None)


class CommandSlot:
    """Sends one call at a time; there is no connection to keep."""

    def __init__(self, surface: CommandSurface) -> None:
        self._surface = surface

    async def send(self, call: Call) -> Completion:
        return await self._surface.answer(call)

    async def aclose(self) -> None:
        """Nothing is held."""


def open_command(endpoint: Endpoint, environ: Mapping[str, str], files: Mapping[str, bytes], rung: Rung | None) -> CommandSurface:
    """Raises UsageError without a box to run it in or for a program without files, NotRunError for a variable that is not set."""
    command = endpoint.command
    assert command is not None, "api: command has a command"
    if rung is None:
        raise UsageError(f"Endpoint {endpoint.name} runs a program, and there is no box for it here.", code="no_isolation")
    program = program_of(command, files)
    if not program:
        raise UsageError(f"Endpoint {endpoint.name}: its `paths` hold no committed file.")
    env = {name: value_of(name, environ, endpoint) for name in command.env}
    return CommandSurface(endpoint, command, program, env, rung)


def _export(folder: Path, program: Mapping[str, bytes]) -> None:
    """Every file readable and executable by everybody, and writable by nobody."""
    for path, data in program.items():
        target = folder / PurePosixPath(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(0o555)
    for place in (folder, *(one for one in folder.rglob("*") if one.is_dir())):
        place.chmod(0o755)


def _open_up(folder: Path) -> None:
    """For the set-up, whose user inside is another."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777)


def _reason(ending: Ending) -> str | None:
    """The reach reason of a program that did not end well; None where it did."""
    if ending.limit in {"wall", "cpu"}:
        return "timeout"
    if ending.limit == "output":
        return "oversize"
    if ending.limit == "memory":
        return "memory"
    if ending.exit:
        return f"exit:{ending.exit}"
    if ending.exit is None:
        return f"died:{signal.Signals(ending.signal or signal.SIGKILL).name}"
    return None
