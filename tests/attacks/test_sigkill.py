"""Launcher and parent are killed without warning; what ran for them clings to life with all it has."""

from __future__ import annotations

import subprocess

import pytest
from attacks.rooms import KINDS, NAMES
from support import outer_box, process_tree
from support.machines import machine

CLINGING = """
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        continue
def cling():
    try:
        os.setsid()
    except OSError:
        pass
    libc.prctl(1, 0, 0, 0, 0)  # no signal when the parent dies
    libc.prctl(36, 1, 0, 0, 0)
cling()
if MAY_FORK and os.fork() == 0:
    cling()
    if os.fork() == 0:
        cling()
        for descriptor in range(3):
            os.close(descriptor)
        NOTE
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""
BOX = """
import asyncio, sys
from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Limits, Spec, Task
from evalaction.sandbox.rungs import probe
SCRIPT = "evalaction.sandbox.runtime.script"
async def whole():
    async with Box(Spec(modules=(SCRIPT,)), await asyncio.to_thread(probe, HOW, None)) as box:
        for may_fork in (False, True):
            limits = Limits(wall_ms=600_000, processes=8 if may_fork else 0)
            source = CLINGING.replace("MAY_FORK", str(may_fork)).replace("NOTE", "pass")
            await box.start(Task(entry=SCRIPT + ":run", argument=source.encode(), limits=limits))
        print("ready", flush=True)
        await asyncio.sleep(600)
asyncio.run(whole())
"""
NAIVE = """
import os, signal, subprocess, sys, time
runner = "import subprocess, sys; subprocess.run([sys.executable, 'clinging.py'])"
process = subprocess.Popen([sys.executable, "-c", runner], start_new_session=True)
ends = time.monotonic() + 20
while not os.path.exists("note") and time.monotonic() < ends:
    time.sleep(0.02)
os.killpg(process.pid, signal.SIGKILL)
process.wait()
time.sleep(0.1)
os.kill(int(open("note").read()), 0)
print("WORKED")
"""


def test_where_nothing_defends_it_survives() -> None:
    note = "open('part', 'w').write(str(os.getpid())); os.rename('part', 'note')"
    clinging = CLINGING.replace("MAY_FORK", "True").replace("NOTE", note)
    files = {"clinging.py": clinging, "naive.py": NAIVE}
    ran = outer_box.run([outer_box.PYTHON, "naive.py"], files=files, timeout_s=40)
    assert "WORKED" in ran.stdout, ran


@pytest.mark.parametrize("name", NAMES)
def test_on_every_rung_it_goes_with_the_one_who_started_it(name: str) -> None:
    kind = KINDS[name]
    if kind.how == "docker":
        pytest.skip("what ends with a container is docker's: see its own tests")
    source = f"HOW, CLINGING = {kind.how!r}, {CLINGING!r}\n{BOX}"
    with machine(kind.machine) as on:
        with subprocess.Popen(on.command(source), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None and process.stderr is not None
                if process.stdout.readline() != b"ready\n":
                    pytest.skip(f"this machine does not give {name}: {process.stderr.read().decode().strip().splitlines()[-1:]}")
                # Zygote, two keepers, two programs, a grandchild; with namespaces one more that waits for their first process.
                below = process_tree.wait_for(process.pid, 6 if kind.how == "landlock" else 7)
            finally:
                process.kill()
        assert process_tree.survivors(below) == []
