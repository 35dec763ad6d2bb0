"""The checks of an exam that are programs: one box for all of them, so many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from evalaction.checks.boxed import runs
from evalaction.checks.boxed.blame import Checked
from evalaction.checks.boxed.runs import Given, Program
from evalaction.checks.contract import extracted
from evalaction.method.canonical import dumps
from evalaction.method.card import CheckLimits
from evalaction.method.records import Completion, Item
from evalaction.sandbox.records import Rung

if TYPE_CHECKING:
    from evalaction.sandbox.box import Box

CHECK = "check.py"


class Programs:
    """`async with Programs(files, limits, rung, at_once) as programs: await programs.check(item, completion)`.

    The box is started at once and waited for by the first check. `files` are `Exam.files`.
    """

    def __init__(self, files: Mapping[str, bytes], limits: CheckLimits, rung: Rung, at_once: int) -> None:
        self._files = files
        self._limits = limits
        self._rung = rung
        self._turns = asyncio.Semaphore(at_once)
        self._programs: dict[str, Program] = {}
        self._opening: asyncio.Task[Box] | None = None

    async def __aenter__(self) -> Programs:
        self._opening = asyncio.get_running_loop().create_task(self._open())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._opening is not None
        self._opening.cancel()
        results = await asyncio.gather(self._opening, return_exceptions=True)
        for box in results:
            if not isinstance(box, BaseException):
                await box.__aexit__(kind, error, traceback)

    async def check(self, item: Item, completion: Completion) -> Checked:
        """The verdict on an output that has kept its contract. Raises SandboxError where the box itself fails."""
        assert self._opening is not None and completion.output is not None
        async with self._turns:
            box = await asyncio.shield(self._opening)
            program = self._program(item)
            if item.check.kind == "python":
                return await runs.pure(box, program, _given(item, completion), self._limits)
            run = runs.together if self._limits.isolation == "in_process" else runs.split
            return await run(box, program, extracted(item.extract, completion.output), self._limits)

    async def _open(self) -> Box:
        from evalaction.sandbox.box import Box

        return await Box(runs.box_spec(self._rung), self._rung).__aenter__()

    def _program(self, item: Item) -> Program:
        path = item.check.file
        assert path is not None
        known = self._programs.get(path)
        if known is None:
            known = self._programs[path] = program_of(path, self._files)
        return known


def program_of(path: str, files: Mapping[str, bytes]) -> Program:
    """The file with what lies beside it: a `check.py` finds the files of its task's folder."""
    folder, _, name = path.rpartition("/")
    prefix = f"{folder}/"
    beside = {
        other.removeprefix(prefix): data
        for other, data in files.items()
        if folder and name == CHECK and other.startswith(prefix) and other != path
    }
    return Program(file=name, source=files[path].decode("utf-8"), beside=beside)


def _given(item: Item, completion: Completion) -> Given:
    fixture = dumps(item.check.fixture)
    if item.check.source == "trace":
        return Given(form="json", parsed=dumps(completion.trace), fixture=fixture)
    assert completion.output is not None
    text = extracted(item.extract, completion.output)
    if item.extract == "json" or item.schema is not None:
        return Given(form="json", parsed=text, fixture=fixture)
    return Given(form="text", parsed=text.strip(), fixture=fixture)
