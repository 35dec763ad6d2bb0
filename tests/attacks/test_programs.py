"""Teams' programs, which may start others and write: what they leave must neither stay nor break the box."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support import outer_box
from support.boxes import NAMESPACES, SAFE, SCRIPT, rung

from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Ending, How, Limits, Spec, Task

ABYSS = """
import os
for depth in range(3000):
    os.mkdir("down")
    os.chdir("down")
print("WORKED", flush=True)
"""
CLOSED = """
import os
os.mkdir("closed")
open("closed/secret", "w").write("x")
os.symlink("/etc", "closed/etc")
try:
    os.chmod("closed", 0)
except PermissionError:  # without namespaces modes stay as they are
    pass
print("WORKED", flush=True)
"""
CLEAN = "import shutil\nshutil.rmtree('work')"
SIGNALS = """
import os, signal, resource
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT):
    for pid in {1, os.getppid()} - {0, os.getpid()}:
        try:
            os.kill(pid, number)
        except OSError:
            pass
for pid in {1, os.getppid()} - {0, os.getpid()}:
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_DATA):
        try:
            resource.prlimit(pid, kind, (0, 0))
            print("WORKED")
        except OSError:
            pass
print("done")
"""
LIMITS = Limits(wall_ms=60_000, cpu_ms=20_000, processes=8, disk_mb=64)


def run_in(how: How, *sources: str) -> tuple[list[Ending], Path]:
    """One after another in one box with programs; also the folder of the box, for a look when it is closed."""

    async def whole() -> tuple[list[Ending], Path]:
        async with Box(Spec(modules=(SCRIPT,), programs=True), rung(how)) as box:
            assert box._launched is not None
            folder, pid, endings = box._launched.folder, box.ready["pid"], []
            for source in (*sources, "print('honest')"):
                task = Task(entry=f"{SCRIPT}:run", argument=source.encode(), limits=LIMITS)
                endings.append(await (await box.start(task)).wait())
            left = list((folder / "work").glob("[0-9]*"))
            assert left == [] and box.ready["pid"] == pid
        return endings, folder

    return asyncio.run(whole())


def test_a_folder_too_deep_to_remove_works_where_nothing_defends() -> None:
    outer = f"import os\nos.mkdir('work')\nos.chdir('work')\n{ABYSS}os.chdir('/tmp/work')\n{CLEAN}"
    ran = outer_box.run([outer_box.PYTHON, "-c", outer])
    assert "WORKED" in ran.stdout and "RecursionError" in ran.stderr, ran


@pytest.mark.parametrize("how", [*SAFE, "none"])
def test_a_folder_too_deep_or_closed_goes_and_the_box_stays(how: How) -> None:
    endings, folder = run_in(how, ABYSS, CLOSED)
    assert [ending.stdout for ending in endings] == [b"WORKED\n", b"WORKED\n", b"honest\n"], endings
    assert not folder.exists()


@pytest.mark.parametrize("how", SAFE)
def test_a_program_reaches_neither_its_keeper_nor_the_box(how: How) -> None:
    endings, _ = run_in(how, SIGNALS)
    assert [ending.stdout for ending in endings] == [b"done\n", b"honest\n"], endings


@pytest.mark.parametrize("how", NAMESPACES)
def test_programs_of_one_box_see_nothing_of_each_other(how: How) -> None:
    leave = "open('note', 'w').write('x')\nprint('left')"
    look = "import os\nprint([n for n in ('/tmp/note', '/dev/shm/note', 'note') if os.path.exists(n)], os.listdir('.'))"
    endings, _ = run_in(how, leave, look)
    assert endings[1].stdout == b"[] []\n"
