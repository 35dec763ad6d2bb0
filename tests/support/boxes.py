"""The rungs of this machine, and small programs run in a box on them."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Ending, How, Limits, Rung, SandboxError, Spec, Task
from evalaction.sandbox.rungs import probe

SCRIPT = "evalaction.sandbox.runtime.script"
NAMESPACES: tuple[How, ...] = ("root", "user_namespaces")
SAFE: tuple[How, ...] = (*NAMESPACES, "landlock")
ALL: tuple[How, ...] = (*SAFE, "none")
PATIENT = Limits(wall_ms=60_000, cpu_ms=20_000)
_T = TypeVar("_T")


@functools.cache
def _probed(how: How) -> Rung | str:
    try:
        return probe(how, None)
    except SandboxError as error:
        return error.sentence


def rung(how: How) -> Rung:
    """This rung of this machine; skips the test where the machine does not give it."""
    found = _probed(how)
    if isinstance(found, str):
        pytest.skip(f"this machine does not give {how}: {found}")
    return found


def script(source: str, **changes: Any) -> Task:
    """A Python program for the box; `changes` are fields of Task or of Limits."""
    limits = {name: changes.pop(name) for name in list(changes) if name in Limits.__dataclass_fields__}
    task = Task(entry=f"{SCRIPT}:run", argument=source.encode(), limits=replace(PATIENT, **limits))
    return replace(task, **changes)


def in_box(how: How, work: Callable[[Box], Awaitable[_T]], **spec: Any) -> _T:
    """Await `work(box)` in an event loop of its own."""

    async def whole() -> _T:
        async with Box(Spec(modules=(SCRIPT,), **spec), rung(how)) as box:
            return await work(box)

    return asyncio.run(whole())


def run_all(how: How, tasks: Iterable[Task], **spec: Any) -> list[Ending]:
    """All at once."""

    async def work(box: Box) -> list[Ending]:
        processes = [await box.start(task) for task in tasks]
        return list(await asyncio.gather(*(process.wait() for process in processes)))

    return in_box(how, work, **spec)


def run(how: How, source: str, *, spec: dict[str, Any] | None = None, **changes: Any) -> Ending:
    return run_all(how, [script(source, **changes)], **(spec or {}))[0]


def seen(how: How, source: str, **changes: Any) -> Any:
    """What a program in the box put into `found`, by way of JSON; it must end well."""
    ending = run(how, f"import json, os, sys\n{source}\nprint(json.dumps(found))", **changes)
    assert ending.exit == 0, ending.stderr.decode()
    return json.loads(ending.stdout)


TRY = """
def attempt(action):
    try:
        action()
    except BaseException as error:
        return type(error).__name__
    return "done"
"""
"""For programs: `attempt(f)` is "done" or the name of the exception."""
