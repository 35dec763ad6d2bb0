"""Runs in an outer throwaway box: what people do without a defence, so that an attack can show that it works.

`python undefended.py` reads `job.json` beside it and prints one JSON object.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from scene import HONEST, Scene, program  # type: ignore[import-not-found, unused-ignore]  # beside this file inside

OUTPUT = 65_536
WORK = Path("/tmp/work")
LOOK_S = 2.0


class Run:
    """A program started as a runner starts a script: the runner's environment, its user, its open files."""

    def __init__(self, name: str, text: str) -> None:
        folder = WORK / "draws"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        self._out = folder / f"{name}.out"
        (WORK / "stdin").touch()
        with self._out.open("wb") as out, (WORK / "stdin").open("rb") as nothing:
            self.process = subprocess.Popen(
                [sys.executable, f"{name}.py"],
                cwd=folder,
                stdin=nothing,
                stdout=out,
                stderr=subprocess.STDOUT,
                close_fds=False,
                start_new_session=True,
            )

    def end(self, timeout_s: float) -> dict[str, Any]:
        """How it ended; its process group is killed at the timeout and afterwards."""
        try:
            code: int | None = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with self._out.open("rb") as out:
            text = out.read(4 * 2**20)
        return {"code": code, "stdout": text.decode("utf-8", "replace"), "bytes": self._out.stat().st_size}


def boxes(job: dict[str, Any]) -> dict[str, Any]:
    """Attacks one after another, each in a folder of its own, all in sight of one scene."""
    scene = Scene(WORK / "scene", undefended=True)
    found = {}
    for attack in job["attacks"]:
        shutil.rmtree(WORK / "draws", ignore_errors=True)
        (WORK / "draws").mkdir()
        (WORK / "draws" / "mine.txt").write_text(f"key-{'0' * 32}", encoding="utf-8")
        scene.restore()
        scene.heard.clear()
        scene.told["now"] = time.time()
        found[attack["name"]] = _attacked(attack, scene)
    return found


def _attacked(attack: dict[str, Any], scene: Scene) -> dict[str, Any]:
    others = {os.getpid(), 1, scene.told["victim"]}
    timeout_s = attack["timeout_s"]
    beside = Run("beside", program(HONEST, scene.told)) if attack["alone"] else None
    main = Run("main", program(attack["main"], scene.told)).end(timeout_s)
    done = {
        "main": main,
        "beside": beside.end(timeout_s) if beside else None,
        "survivors": _survivors(others, LOOK_S if attack["alone"] else 0.0),
    }
    if "then" in attack:
        done["then"] = Run("then", program(attack["then"], scene.told)).end(timeout_s)
    return done | {"heard": scene.heard[:]}


def _survivors(others: set[int], look_s: float) -> int:
    """How many are left. One that starts the next and ends is met by chance, so it is looked for again and again."""
    ends = time.monotonic() + look_s
    while not (found := _alive() - others) and time.monotonic() < ends:
        pass
    return len(found)


def _alive() -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def judge(job: dict[str, Any]) -> dict[str, Any]:
    # The output of one case must leave room for that of others.
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
    with ThreadPoolExecutor(4) as workers:
        said = workers.map(_judged, range(len(job["cases"])), job["cases"])
        return {case["name"]: word for case, word in zip(job["cases"], said, strict=True)}


def _judged(number: int, case: dict[str, Any]) -> str:
    folder = WORK / f"case-{number}"
    folder.mkdir()
    for name, text in {"_candidate.py": case["candidate"], "check.py": case["check"], **case["beside"]}.items():
        (folder / name).write_text(text, encoding="utf-8")
    judge = case["judge"]
    argv = [sys.executable, "check.py"] if judge in ("bare", "printed") else [sys.executable, str(WORK / f"{judge}.py")]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    try:
        process.wait(case["timeout_s"])
    except subprocess.TimeoutExpired:
        return "error: timeout"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    said, complained = (folder / "out").read_bytes(), (folder / "err").read_bytes()
    if judge == "printed":
        return "pass" if b"PASSED" in said else "fail"
    if len(said) + len(complained) > OUTPUT:
        return "error: output"
    return _word(process.returncode, complained.decode("utf-8", "replace"))


def _word(code: int, err: str) -> str:
    """Exit 0 is a pass, a failed assertion a fail, and everything else must be the infrastructure."""
    if code == 0:
        return "pass"
    last = err.strip().splitlines()[-1] if err.strip() else ""
    if code == 1 and last.startswith("AssertionError"):
        return "fail"
    return f"error: {code} {last[:80]}"


def main() -> None:
    job = json.loads((WORK / "job.json").read_text(encoding="utf-8"))
    sys.stdout.write(json.dumps(boxes(job) if job["mode"] == "boxes" else judge(job)) + "\n")


if __name__ == "__main__":
    main()
