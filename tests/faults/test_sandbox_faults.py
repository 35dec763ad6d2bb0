"""Whoever is killed, nobody is left behind, and what was under way is an error of the box, never a verdict."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import boxes, process_tree
from support.boxes import ALL, NAMESPACES, SCRIPT, in_box, rung, script
from support.process_tree import Seen, Since

from evalaction.sandbox import launch
from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Ending, How, Rung, SandboxError, Spec

# a zygote (and its launcher where there are namespaces), 2 keepers, 2 candidates, 2 that cling
EXPECTED = 7


@pytest.fixture
def new() -> Since:
    """What this test has started; the worker that runs it may keep rooms of other tests."""
    return Since(os.getpid())


@contextlib.contextmanager
def parent(how: How) -> Iterator[tuple[subprocess.Popen[bytes], list[Seen]]]:
    """A process that keeps a box with programs which try to stay, and everything below it."""
    rung(how)
    program = Path(boxes.__file__).with_name("box_parent.py")
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, str(program), how], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(root)}
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()
        yield process, process_tree.wait_for(process.pid, EXPECTED + (how in NAMESPACES))
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@pytest.mark.parametrize("how", ALL)
def test_nobody_and_nothing_outlives_the_killed_parent(how: How, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(tempfile.mkdtemp(prefix="t"))
    monkeypatch.setenv("TMPDIR", str(folder))
    try:
        with parent(how) as (process, below):
            process.kill()
            process.wait()
            assert process_tree.survivors(below) == []
        assert list(folder.iterdir()) == []
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("how", ALL)
def test_nobody_outlives_the_killed_zygote(how: How) -> None:
    with parent(how) as (_, below):
        os.kill(below[0].pid, signal.SIGKILL)
        assert process_tree.survivors(below) == []


@pytest.mark.parametrize("how", NAMESPACES)
def test_nobody_outlives_the_first_process_of_the_namespace(how: How) -> None:
    with parent(how) as (_, below):
        os.kill(below[1].pid, signal.SIGKILL)
        assert process_tree.survivors(below) == []


@pytest.mark.parametrize("how", ALL)
def test_nobody_outlives_everybody_killed_together(how: How) -> None:
    """Parent and zygote at the same moment: nobody is left who could clean up but the kernel and the keepers."""
    with parent(how) as (process, below):
        os.kill(below[0].pid, signal.SIGKILL)
        process.kill()
        process.wait()
        assert process_tree.survivors(below) == []


@pytest.mark.parametrize("how", ALL)
def test_an_interrupted_parent_leaves_nobody(how: How) -> None:
    with parent(how) as (process, below):
        process.send_signal(signal.SIGINT)
        process.wait(60)
        assert process_tree.survivors(below) == []


@pytest.mark.parametrize("how", ALL)
def test_a_process_leaves_no_daemon_behind(how: How, new: Since) -> None:
    """Daemons of a candidate end with it, while the box goes on."""
    leave = "def leave():\n    try: os.setsid()\n    except PermissionError: pass"
    daemon = "if os.fork() == 0:\n    leave()\n    if os.fork() == 0: leave()\n    time.sleep(600)"
    source = f"import os, time\n{leave}\n{daemon}\ntime.sleep(0.5)"

    async def work(box: Box) -> tuple[Ending, list[Seen], list[Seen], Ending]:
        process = await box.start(script(source, processes=4))
        below = await asyncio.to_thread(new.wait_for, 5 + (how in NAMESPACES))
        zygotes = {one.pid for one in below[: 1 + (how in NAMESPACES)]}
        ending = await process.wait()
        left = await asyncio.to_thread(process_tree.survivors, [one for one in below if one.pid not in zygotes])
        again = await (await box.start(script("print('still here')"))).wait()
        return ending, below, left, again

    ending, below, left, again = in_box(how, work)
    assert (ending.exit, ending.limit) == (0, None)
    assert len(below) >= 5
    assert left == []
    assert again.stdout == b"still here\n"


@pytest.mark.parametrize("how", ALL)
def test_a_killed_zygote_is_replaced_and_its_work_is_an_error(how: How, new: Since) -> None:
    async def work(box: Box) -> Ending:
        processes = [await box.start(script("import time; time.sleep(600)")) for _ in range(3)]
        (zygote, *_) = new.now()
        os.kill(zygote.pid, signal.SIGKILL)
        for process in processes:
            with pytest.raises(SandboxError, match="ended while it was at work"):
                await process.wait()
        return await (await box.start(script("print('again')"))).wait()

    assert in_box(how, work).stdout == b"again\n"


@pytest.mark.parametrize("how", ALL)
def test_a_zygote_that_never_stays_is_given_up(how: How, new: Since) -> None:
    async def work(box: Box) -> int:
        for round_ in range(10):
            try:
                process = await box.start(script("import time; time.sleep(600)"))
            except SandboxError as error:
                assert "again and again" in error.sentence
                return round_
            (zygote, *_) = new.now()
            os.kill(zygote.pid, signal.SIGKILL)
            with pytest.raises(SandboxError):
                await process.wait()
        return -1

    assert in_box(how, work) > 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("how", ALL)
def test_a_killed_keeper_costs_its_own_process_only(how: How, number: signal.Signals, new: Since) -> None:
    async def work(box: Box) -> Ending:
        lost = await box.start(script("import time; time.sleep(600)"))
        count = 3 + (how in NAMESPACES)
        below = await asyncio.to_thread(new.wait_for, count)
        os.kill(below[count - 2].pid, number)
        with pytest.raises(SandboxError, match="lost a process"):
            await lost.wait()
        assert await asyncio.to_thread(process_tree.survivors, below[count - 2 :]) == []
        return await (await box.start(script("print('on')"))).wait()

    assert in_box(how, work).stdout == b"on\n"


def test_a_stopped_keeper_is_late_and_its_process_hits_the_wall(new: Since) -> None:
    async def work(box: Box) -> Ending:
        process = await box.start(script("import time; time.sleep(600)", wall_ms=500))
        below = await asyncio.to_thread(new.wait_for, 4)
        os.kill(below[2].pid, signal.SIGSTOP)
        return await process.wait()

    ending = in_box("root", work)
    assert (ending.limit, ending.exit, ending.signal) == ("wall", None, 9)


def test_a_module_that_does_not_import_is_told() -> None:
    async def work() -> None:
        async with Box(Spec(modules=("no_such_module",)), rung("root")):
            pass

    with pytest.raises(SandboxError, match="No module named 'no_such_module'"):
        asyncio.run(work())


def test_a_stranger_on_the_socket_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = rung("root")
    uid = os.getuid()
    monkeypatch.setattr("evalaction.sandbox.launch.os.getuid", lambda: uid + 1)

    async def work() -> None:
        async with Box(Spec(modules=(SCRIPT,)), expected):
            pass

    with pytest.raises(SandboxError, match=f"user {uid} connected instead of the zygote"):
        asyncio.run(work())


def test_a_zygote_takes_no_orders_from_a_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the socket belongs to another user than the one who listens."""
    expected = rung("root")
    real = launch._listen

    def elsewhere(folder: Path, of: Rung) -> socket.socket:
        listener = real(folder, of)
        os.chown(folder / "control", os.getuid() + 1, -1)
        return listener

    monkeypatch.setattr(launch, "_listen", elsewhere)

    async def work() -> None:
        async with Box(Spec(modules=(SCRIPT,)), expected):
            pass

    with pytest.raises(SandboxError, match="ended before it was ready"):
        asyncio.run(work())
