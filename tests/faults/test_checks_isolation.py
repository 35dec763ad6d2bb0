"""What a worker inherits and leaves behind: no secret, no open file, no process."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.judging import item, reached

from evalaction.checks.pool import Judge
from evalaction.checks.validate import validate_items
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check

EXACT = item(Check(kind="exact", expected="yes"))
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
ROOT = Path(__file__).resolve().parents[2]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


@linux
def test_a_worker_inherits_no_secret_no_file_and_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVAL_KEY", "sk-very-secret-value")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    async def run() -> tuple[bytes, str, list[str], dict[str, str]]:
        with (tmp_path / "open.txt").open("w") as handle:
            os.set_inheritable(handle.fileno(), True)
            async with Judge([EXACT], CheckLimits(memory_mb=100), 1) as judge:
                assert (await judge(EXACT, reached("yes"))).columns.check
                process = Path(f"/proc/{judge._links[0].child.process.pid}")
                files = [str(entry.readlink()) for entry in (process / "fd").iterdir()]
                limits = {line[:26].strip(): line[26:].split()[0] for line in (process / "limits").read_text().splitlines()[1:]}
                return (process / "environ").read_bytes(), str((process / "cwd").readlink()), files, limits

    environ, folder, files, limits = asyncio.run(run())
    assert b"secret" not in environ and b"PYTHONPATH" not in environ and b"HOME" not in environ
    assert {entry.partition(b"=")[0] for entry in environ.split(b"\0") if entry} <= {b"LC_ALL", b"TZ", b"LD_LIBRARY_PATH"}
    assert folder == "/"
    assert not [name for name in files if "open.txt" in name]
    assert len(files) <= 6
    assert limits["Max core file size"] in {"0", "1"}  # a handler of core dumps is not started at 1, and at 0 it is
    assert limits["Max file size"] == "0"
    assert int(limits["Max address space"]) < 2**31
    assert int(limits["Max open files"]) <= 32


def test_the_parent_never_loads_the_schema_library() -> None:
    script = "import sys, evalaction.checks.pool, evalaction.checks.validate; sys.exit('jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False, cwd=ROOT, timeout=60).returncode == 0


@linux
def test_a_worker_has_a_session_of_its_own() -> None:
    async def run() -> bool:
        async with Judge([EXACT], CheckLimits(), 1) as judge:
            await judge(EXACT, reached("yes"))
            pid = judge._links[0].child.process.pid
            return os.getsid(pid) == pid != os.getsid(0)

    assert asyncio.run(run())


PARENT = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from support.judging import item, reached
from evalaction.checks.pool import Judge
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check

async def main():
    hang, idle = item(Check(kind="regex", expected="^(a+)+$")), item(Check(kind="exact", expected="a"), index=1)
    async with Judge([hang, idle], CheckLimits(cpu_ms=60_000, timeout_ms=60_000), 2) as judge:
        await judge(idle, reached("a"))
        hanging = asyncio.ensure_future(judge(hang, reached("a" * 40 + "!")))
        while len(judge._links) < 1 or not any(link.child.spot.read().phase == "check" for link in judge._links):
            await asyncio.sleep(0.01)
        judge._start()
        while not all(link.started for link in judge._links):
            await asyncio.sleep(0.01)
        print(*[link.child.process.pid for link in judge._links], flush=True)
        await hanging

asyncio.run(main())
"""


@linux
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_worker_outlives_its_parent(sent: signal.Signals) -> None:
    script = textwrap.dedent(PARENT).format(tests=str(ROOT / "tests"))
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)
    assert parent.stdout
    with parent.stdout:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2 and all(map(alive, pids))
        parent.send_signal(sent)
        parent.wait(20)
    assert all(map(gone, pids))


@linux
def test_validation_leaves_no_process_behind() -> None:
    before = children()
    validate_items([item(Check(kind="regex", expected="a")), item(Check(kind="exact", expected="a"), index=1, schema=True)])
    assert children() == before


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


@linux
def test_the_parents_own_limits_and_files_stay_as_they_were() -> None:
    gc.collect()  # what an earlier test left open is not counted
    before = (
        resource.getrlimit(resource.RLIMIT_NOFILE),
        resource.getrlimit(resource.RLIMIT_AS),
        len(list(Path("/proc/self/fd").iterdir())),
    )

    async def run() -> None:
        for _ in range(3):
            async with Judge([EXACT], CheckLimits(), 2) as judge:
                await asyncio.gather(*(judge(EXACT, reached("yes")) for _ in range(40)))

    asyncio.run(run())
    assert (
        resource.getrlimit(resource.RLIMIT_NOFILE),
        resource.getrlimit(resource.RLIMIT_AS),
        len(list(Path("/proc/self/fd").iterdir())),
    ) == before
