"""What a task is given: files, input, descriptors, programs; many at once; ends on request."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator

import pytest
from support.boxes import ALL, NAMESPACES, PATIENT, SCRIPT, in_box, run, run_all, rung, script, seen

from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Ending, How, Limits, SandboxError, Spec, Task

PYTHON = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@contextlib.contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        for descriptor in (reader, writer):
            with contextlib.suppress(OSError):
                os.close(descriptor)


@pytest.mark.parametrize("how", NAMESPACES)
def test_files_lie_in_its_folder(how: How) -> None:
    files = {"a.txt": b"one", "deep/er/b.bin": bytes(range(256))}
    found = seen(how, "found = [open('a.txt').read(), len(open('deep/er/b.bin', 'rb').read()), os.getcwd()]", files=files)
    assert found == ["one", 256, "/tmp"]


@pytest.mark.parametrize("how", ["landlock", "none"])
def test_files_can_be_read_where_nothing_can_be_mounted(how: How) -> None:
    found = seen(how, "found = open('a.txt').read()", files={"a.txt": b"one"})
    assert found == "one"


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "", "a//b", "a\0b", "./a"])
def test_files_stay_in_its_folder(name: str) -> None:
    with pytest.raises(ValueError, match="file"):
        script("pass", files={name: b""})


@pytest.mark.parametrize("how", ALL)
def test_standard_input_large_and_empty(how: How) -> None:
    source = "import sys\nprint(len(sys.stdin.buffer.read()))"
    assert run(how, source).stdout == b"0\n"
    assert run(how, source, stdin=b"x" * 3_000_000).stdout == b"3000000\n"


@pytest.mark.parametrize("how", ALL)
def test_a_large_argument_arrives_whole(how: How) -> None:
    source = "x = " + repr("y" * 4_000_000) + "\nprint(len(x))"
    assert run(how, source).stdout == b"4000000\n"


@pytest.mark.parametrize("how", ALL)
def test_descriptors_of_the_parent(how: How) -> None:
    with pipe() as (question, ask), pipe() as (answer, say):
        source = "import os\nos.write(4, os.read(3, 100) + b' to you')\nprint(sorted(n for n in range(300) if valid(n)))"
        valid = "def valid(n):\n    import os\n    try: os.fstat(n)\n    except OSError: return False\n    return True\n"
        task = script(valid + source, descriptors={3: question, 4: say})

        async def work(box: Box) -> Ending:
            process = await box.start(task)
            os.write(ask, b"hello")
            return await process.wait()

        ending = in_box(how, work)
        assert ending.exit == 0, ending.stderr
        assert os.read(answer, 100) == b"hello to you"
        assert ending.stdout == b"[0, 1, 2, 3, 4]\n"


@pytest.mark.parametrize("how", ALL)
def test_output_can_go_to_the_parents_descriptor(how: How) -> None:
    with pipe() as (reader, writer):
        ending = run(how, "import sys; print('out'); print('err', file=sys.stderr)", descriptors={1: writer})
        assert os.read(reader, 100) == b"out\n"
        assert (ending.stdout, ending.stderr) == (b"", b"err\n")


@pytest.mark.parametrize("how", ALL)
def test_a_program_is_executed(how: How) -> None:
    task = Task(argv=(PYTHON, "-c", "import sys; print(sys.argv[1], input())", "a b"), stdin=b"line\n", limits=PATIENT)
    ending = run_all(how, [task])[0]
    assert (ending.exit, ending.stdout) == (0, b"a b line\n"), ending.stderr


@pytest.mark.parametrize("how", ALL)
def test_a_program_that_does_not_exist(how: How) -> None:
    ending = run_all(how, [Task(argv=("no-such-program",), limits=PATIENT)])[0]
    assert (ending.exit, ending.stderr) == (127, b"cannot run 'no-such-program': No such file or directory\n")


@pytest.mark.parametrize("how", ALL)
def test_programs_with_children_of_their_own(how: How) -> None:
    limits = Limits(wall_ms=60_000, cpu_ms=20_000, memory_mb=2048, processes=8)
    argv = ("python3", "-c", "import subprocess; print(subprocess.check_output(['sh', '-c', 'echo $((6 * 7))'], text=True))")
    ending = run_all(how, [Task(argv=argv, limits=limits)], programs=True)[0]
    assert (ending.exit, ending.stdout) == (0, b"42\n\n"), ending.stderr


@pytest.mark.parametrize("how", ALL)
def test_programs_may_write_to_their_folder(how: How) -> None:
    argv = ("sh", "-c", "echo x > made && cat made && pwd")
    limits = Limits(wall_ms=60_000, cpu_ms=20_000, memory_mb=2048, processes=8)
    first, second = (run_all(how, [Task(argv=argv, limits=limits)], programs=True)[0] for _ in range(2))
    assert first.exit == 0, first.stderr
    assert first.stdout.startswith(b"x\n")
    assert second.exit == 0, second.stderr


@pytest.mark.parametrize("how", ALL)
def test_many_at_once_do_not_meet(how: How) -> None:
    writes = rung(how).number == 1
    source = (
        "import os, time\nplace = {n}\n" + ("open('f', 'x').write('{n}')\n" if writes else "") + "time.sleep(0.2)\nprint(place)"
    )
    endings = run_all(how, [script(source.format(n=n)) for n in range(20)])
    assert [(ending.exit, ending.stdout) for ending in endings] == [(0, f"{n}\n".encode()) for n in range(20)]


@pytest.mark.parametrize("how", ALL)
def test_a_process_is_killed_on_request(how: How) -> None:
    async def work(box: Box) -> tuple[Ending, Ending]:
        process = await box.start(script("import time; time.sleep(600)"))
        other = await box.start(script("import time; time.sleep(0.5)"))
        await asyncio.sleep(0.2)
        process.kill()
        process.kill()
        ended = await process.wait()
        process.kill()
        return ended, await other.wait()

    ending, other = in_box(how, work)
    assert (ending.killed, ending.limit, ending.exit) == (True, None, None)
    assert (other.killed, other.exit) == (False, 0)


@pytest.mark.parametrize("how", ALL)
def test_what_still_runs_when_the_box_closes_is_lost(how: How) -> None:
    async def work(box: Box) -> asyncio.Task[Ending]:
        process = await box.start(script("import time; time.sleep(600)"))
        return asyncio.ensure_future(process.wait())

    async def whole() -> None:
        async with Box(Spec(modules=(SCRIPT,)), rung(how)) as box:
            waiting = await work(box)
            await asyncio.sleep(0)
        with pytest.raises(SandboxError, match="closed"):
            await waiting
        with pytest.raises(SandboxError, match="closed"):
            await box.start(script("pass"))

    asyncio.run(whole())
