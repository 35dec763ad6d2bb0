"""A room: one box on one rung in a process of its own, to which attacks are sent as lines of JSON.

`python -m attacks.defended HOW SHIELDED IMAGE` says its rung in a first line, then answers each line with one.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from attacks.scene import HONEST, Scene, program

from evalaction.checks.boxed import runs
from evalaction.checks.boxed.runs import Given, Program
from evalaction.method.card import CheckLimits
from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Ending, Limits, SandboxError, Task
from evalaction.sandbox.rungs import probe

SCRIPT = "evalaction.sandbox.runtime.script"
MINE = {"mine.txt": f"key-{'0' * 32}".encode()}
PATIENT = Limits(wall_ms=60_000, cpu_ms=20_000)
HONEST_CHECK = ("import _candidate\nassert _candidate.f() == 1", "def f():\n    return 1")


class Room:
    def __init__(self, box: Box, scene: Scene, shielded: bool) -> None:
        self._box = box
        self._scene = scene
        self._shielded = shielded
        self._known = self._alive()
        self._zygote = box.ready["pid"]

    async def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            told = await (self._judged(request) if request["do"] == "judge" else self._boxed(request))
        except SandboxError as error:
            told = {"trouble": error.sentence}
        healthy = await self._healthy() if request["do"] == "box" else self._box.ready["pid"] == self._zygote
        return told | {"healthy": healthy, "survivors": await self._survivors()}

    async def _boxed(self, request: dict[str, Any]) -> dict[str, Any]:
        self._scene.heard.clear()
        self._scene.told["now"] = time.time()
        limits = replace(PATIENT, **request["limits"])
        beside = await self._box.start(self._task(HONEST, PATIENT, files=MINE)) if request["beside"] else None
        main = await self._box.start(self._task(request["main"], limits))
        told: dict[str, Any] = {"main": _told(await main.wait()), "heard": self._scene.heard[:]}
        if beside is not None:
            told["beside"] = _told(await beside.wait())
        if "then" in request:
            told["then"] = _told(await (await self._box.start(self._task(request["then"], PATIENT))).wait())
        return told

    def _task(self, text: str, limits: Limits, files: dict[str, bytes] | None = None) -> Task:
        source = program(text, self._scene.told).encode("utf-8", "surrogatepass")
        return Task(entry=f"{SCRIPT}:run", argument=source, limits=limits, files=files or {})

    async def _judged(self, request: dict[str, Any]) -> dict[str, Any]:
        limits = CheckLimits(**{"timeout_ms": 60_000, "cpu_ms": 5_000, "memory_mb": 256, **request["limits"]})
        beside = {name: text.encode() for name, text in request["beside"].items()}
        check = Program(file="check.py", source=request["check"], beside=beside)
        if request["how"] == "python":
            given = Given(form="json", parsed=request["candidate"], fixture="null")
            passed, reason = await runs.pure(self._box, check, given, limits)
        else:
            run = runs.together if request["how"] == "in_process" else runs.split
            passed, reason = await run(self._box, check, request["candidate"], limits)
        return {"passed": passed, "reason": reason}

    async def _healthy(self) -> bool:
        """Whether this is the box that it was, and an honest candidate passes in it."""
        check, candidate = HONEST_CHECK
        try:
            passed, _ = await runs.split(self._box, Program(file="check.py", source=check), candidate, CheckLimits())
        except SandboxError:
            return False
        return passed is True and self._box.ready["pid"] == self._zygote

    def _alive(self) -> set[int]:
        """Processes of the namespace that is ours alone; without one nobody knows whose a process is."""
        return {int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()} if self._shielded else set()

    async def _survivors(self) -> int:
        for _ in range(250):
            if not (left := self._alive() - self._known):
                break
            await asyncio.sleep(0.02)
        return len(left)


def _told(ending: Ending) -> dict[str, Any]:
    return {
        "exit": ending.exit,
        "signal": ending.signal,
        "limit": ending.limit,
        "cpu_ms": ending.cpu_ms,
        "stdout": ending.stdout[:100_000].decode("utf-8", "replace"),
        "stderr": ending.stderr[-2_000:].decode("utf-8", "replace"),
    }


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def _serve(how: Any, shielded: bool, image: str | None, place: Path) -> None:
    rung = await asyncio.to_thread(probe, how, image)
    spec = runs.box_spec(rung)
    scene = Scene(place)
    try:
        async with Box(replace(spec, modules=(*spec.modules, SCRIPT)), rung) as box:
            room = Room(box, scene, shielded)
            _say(rung.details)
            while line := await asyncio.to_thread(sys.stdin.readline):
                _say(await room.answer(json.loads(line)))
    finally:
        scene.close()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        Path(folder).chmod(0o755)
        try:
            asyncio.run(_serve(sys.argv[1], sys.argv[2] == "shielded", sys.argv[3] or None, Path(folder)))
        except SandboxError as error:
            _say({"missing": error.sentence})


if __name__ == "__main__":
    main()
