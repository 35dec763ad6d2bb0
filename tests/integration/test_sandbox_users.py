"""Which rung each kind of user gets on each kind of machine, and that it keeps what it promises there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import machines, process_tree, remapped
from support.machines import Machine, machine

FIND = """
import json, sys
from evalaction.errors import UsageError
from evalaction.sandbox.rungs import find_rung
try:
    print(json.dumps(find_rung(allow_unsafe=ALLOW, image=None).details))
except UsageError as error:
    print(json.dumps({"code": error.code, "sentence": error.sentence}))
"""
BOX = """
import asyncio, json, os, sys
from dataclasses import replace
from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Limits, Spec, Task
from evalaction.sandbox.rungs import find_rung
SCRIPT = "evalaction.sandbox.runtime.script"
def script(source, **limits):
    limits = Limits(**{"wall_ms": 60_000, "cpu_ms": 20_000} | limits)
    return Task(entry=SCRIPT + ":run", argument=source.encode(), limits=limits)
async def whole():
    async with Box(Spec(modules=(SCRIPT,)), find_rung(allow_unsafe=True, image=None)) as box:
        return await work(box)
"""
PROMISES = (
    BOX
    + '''
TRY = """
import os, socket
def attempt(action):
    try:
        action()
    except OSError:
        return False
    return True
"""
LOOK = TRY + """
import json
print(json.dumps([os.getuid(), [
    attempt(lambda: open('/etc/passwd')), attempt(lambda: open('/proc/self/environ')), attempt(lambda: open('/etc/x', 'w')),
    attempt(lambda: socket.socket()), attempt(lambda: os.setuid(0 if os.getuid() else 1)), attempt(lambda: os.kill(PARENT, 0)),
    attempt(lambda: os.listdir('/proc/1')), attempt(os.fork)]]))
""".replace("PARENT", str(os.getpid()))
async def work(box):
    limited = {
        "cpu": script("while True: pass", cpu_ms=300),
        "wall": script("import time; time.sleep(600)", wall_ms=800),
        "memory": script("bytearray(2**29)", memory_mb=128),
        "output": script("while True: print('x' * 100)", output_bytes=1000),
        "processes": script("import subprocess; subprocess.run(['true'])"),
    }
    filed = replace(script("print(open('a/b').read())"), files={"a/b": b"mine"})
    tasks = [script(LOOK), *limited.values(), filed, *(script(f"print({n})") for n in range(20))]
    processes = [await box.start(task) for task in tasks]
    endings = [await process.wait() for process in processes]
    uid, tried = json.loads(endings[0].stdout)
    return {
        "uid": uid,
        "tried": tried,
        "limits": {name: ending.limit for name, ending in zip(limited, endings[1:])},
        "filed": endings[1 + len(limited)].stdout.decode().strip(),
        "many": [ending.stdout.decode().strip() for ending in endings[2 + len(limited):]],
    }
print(json.dumps(asyncio.run(whole())))
'''
)
BOMB = (
    BOX
    + """
async def work(box):
    bomb = script("import os, time\\nwhile True:\\n    if os.fork() == 0: time.sleep(60)", processes=3)
    return (await (await box.start(bomb)).wait()).limit
print(json.dumps(asyncio.run(whole())))
"""
)
STAY = (
    BOX
    + """
async def work(box):
    for _ in range(3):
        await box.start(script("import time; time.sleep(600)"))
    print("ready", flush=True)
    await asyncio.sleep(600)
asyncio.run(whole())
"""
)


SECRET = (
    BOX
    + """
async def work(box):
    source = "print(b'SECRET' in open('/proc/%d/environ', 'rb').read())" % os.getpid()
    ending = await (await box.start(script(source))).wait()
    return (ending.stdout + ending.stderr).decode().split()[-1]
print(json.dumps([find_rung(allow_unsafe=True, image=None).number, asyncio.run(whole())]))
"""
)


class Expected(NamedTuple):
    kind: str
    rung: int
    how: str
    own_uid: bool


CASES = [
    Expected("ordinary user", 1, "user_namespaces", False),
    Expected("user with sudo", 1, "sudo", True),
    Expected("ordinary user without namespaces", 2, "landlock", False),
    Expected("job container", 2, "landlock", True),
    Expected("job container without capabilities", 2, "landlock", False),
]


def found(on: Machine, *, allow_unsafe: bool = False) -> Any:
    return on.run(FIND.replace("ALLOW", str(allow_unsafe)))


@pytest.mark.parametrize("expected", CASES, ids=lambda case: case.kind)
def test_the_rung_and_its_promises(expected: Expected) -> None:
    with machine(expected.kind) as on:
        rung = found(on)
        if "code" in rung or rung["rung"] > expected.rung:
            pytest.skip(f"this machine gives less: {rung}")
        assert (rung["rung"], rung["how"], rung["own_uid"]) == expected[1:]
        kept = on.run(PROMISES)
    assert kept["tried"] == [False] * 8
    assert kept["limits"] == {name: name for name in kept["limits"]}
    assert kept["filed"] == "mine"
    assert kept["many"] == [str(number) for number in range(20)]
    if expected.own_uid:
        assert kept["uid"] >= 2**30


@pytest.mark.parametrize("kind", ["ordinary user", "user with sudo"])
def test_processes_are_counted_for_each_task(kind: str) -> None:
    with machine(kind) as on:
        if found(on).get("rung") != 1:
            pytest.skip("this machine gives no namespaces")
        assert on.run(BOMB) == "processes"


@pytest.mark.parametrize("expected", CASES, ids=lambda case: case.kind)
def test_nobody_outlives_the_killed_parent(expected: Expected) -> None:
    with machine(expected.kind) as on, subprocess.Popen(on.command(STAY), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            below = process_tree.wait_for(process.pid, 7)
        finally:
            process.kill()
        process.wait()
        assert process_tree.survivors(below) == []


def test_a_machine_with_nothing_refuses_and_says_what_to_do() -> None:
    with machine("nothing") as on:
        refused = found(on)
        allowed = found(on, allow_unsafe=True)
    assert refused["code"] == "no_isolation"
    sentence = refused["sentence"]
    for part in ("user namespaces: ", "Landlock with seccomp: ", "allow-unsafe-execution: true", "hosted Ubuntu runner"):
        assert part in sentence
    assert "\n" not in sentence
    assert (allowed["rung"], allowed["name"], allowed["how"]) == (4, "unsafe", "none")


def test_even_without_isolation_our_own_environment_is_closed() -> None:
    """A last line, not a wall: who shares our user may still do much, but does not find our keys in /proc."""
    with machine("nothing") as on:
        number, said = replace(on, env={"MY_SECRET": "SECRET"}).run(SECRET)
    assert number == 4
    assert said.endswith("environ'")
    assert said != "True"


def test_a_strict_umask_changes_nothing() -> None:
    before = os.umask(0o077)
    try:
        for kind in ("job container", "user with sudo"):
            with machine(kind) as on:
                if found(on).get("own_uid"):
                    assert on.run(PROMISES)["filed"] == "mine"
    finally:
        os.umask(before)


def test_the_root_of_a_container_with_remapped_users() -> None:
    """Its users end at 65,535, so the users of processes are taken from the end of that range."""
    if os.geteuid() != 0:
        pytest.skip("only root can map users")
    with machines._package() as package:

        def run(source: str) -> Any:
            argv = [sys.executable, str(Path(remapped.__file__)), machines._python(), "-c", source]
            env = {"PYTHONPATH": str(package), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=300, check=False)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        rung = run(FIND.replace("ALLOW", "False"))
        if rung.get("rung") != 1:
            pytest.skip(f"this machine gives less: {rung}")
        kept = run(PROMISES)
    assert rung["own_uid"]
    assert remapped.COUNT - 1_024 <= kept["uid"] < remapped.COUNT
    assert kept["tried"] == [False] * 8
    assert kept["limits"] == {name: name for name in kept["limits"]}
