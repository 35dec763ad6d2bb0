"""The third rung: the command line, the life of the container, and what holds inside."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import fake_docker
from support.boxes import SCRIPT, TRY, script
from support.process_tree import Since

from evalaction.errors import UsageError
from evalaction.sandbox import docker
from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Bind, Ending, Rung, SandboxError, Spec, Task
from evalaction.sandbox.rungs import find_rung, probe

DIGEST = "docker.io/library/python@sha256:" + "0123456789abcdef" * 4


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A docker command on PATH that has one image; the folder in which it records its calls."""
    if os.geteuid() != 0:
        pytest.skip("only root can play the docker daemon")
    if not Path("/usr/bin/python3").exists():
        pytest.skip("the image of the stand-in is this machine's /usr, and there is no python3 in it")
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "docker"
    paths = [str(Path(fake_docker.__file__).parents[1]), str(Path(docker.__file__).parents[2])]
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH={":".join(paths)} exec {sys.executable} {fake_docker.__file__} "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    state = tmp_path / "daemon"
    state.mkdir()
    (state / "images").write_text(DIGEST)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("DOCKER_CONFIG", str(state))
    return state


def calls(state: Path) -> list[list[str]]:
    return [json.loads(line) for line in (state / "calls.jsonl").read_text().splitlines()]


def run_in(rung: Rung, source: str, **changes: Any) -> Ending:
    async def work() -> Ending:
        async with Box(Spec(modules=(SCRIPT,)), rung) as box:
            return await (await box.start(script(source, **changes))).wait()

    return asyncio.run(work())


def test_the_command_line(tmp_path: Path) -> None:
    rung = Rung(number=3, how="docker", image=DIGEST)
    words = docker.run(Spec(), rung, name="evalaction-x", control=tmp_path, arguments=["-c", "pass"])
    assert words[:2] == ["docker", "run"]
    options, image, arguments = fake_docker.parse(words[2:])
    assert (image, arguments) == (DIGEST, ["-c", "pass"])
    assert options["--network"] == ["none"]
    assert options["--user"] == ["65534:65534"]
    assert options["--cap-drop"] == ["ALL"]
    assert options["--security-opt"] == ["no-new-privileges"]
    assert options["--pull"] == ["never"]
    assert options["--label"] == ["evalaction=evalaction-x"]
    assert options["--memory"] == options["--memory-swap"]
    assert options["--env-file"] == ["/dev/null"]
    assert {"--rm", "--read-only", "--pids-limit", "--cpus"} <= set(options)
    assert options["--ipc"] == ["none"]
    assert "--tmpfs" not in options
    assert all(mount.endswith(",ro") for mount in options["--mount"])
    assert "seccomp" not in " ".join(words)  # docker's own filter stays


def test_programs_get_a_folder_and_binds_their_place(tmp_path: Path) -> None:
    rung = Rung(number=3, how="docker", image=DIGEST)
    binds = (Bind(source=tmp_path, inside="/work"), Bind(source=tmp_path, inside="/made", writable=True))
    words = docker.run(Spec(programs=True, network=True, readable=binds), rung, name="n", control=tmp_path, arguments=[])
    options, _, _ = fake_docker.parse(words[2:])
    assert options["--network"] == ["bridge"]
    assert options["--tmpfs"][0].startswith("/tmp:")
    assert f"type=bind,src={tmp_path},dst=/work,ro" in options["--mount"]
    assert f"type=bind,src={tmp_path},dst=/made" in options["--mount"]


@pytest.mark.parametrize(
    "image", ["python:3.12", "python", "python@sha256:12", "", "--privileged", DIGEST + "0", "a b@sha256:" + "0" * 64]
)
def test_an_image_without_a_digest_is_refused(image: str) -> None:
    with pytest.raises(UsageError, match="by digest"):
        find_rung(allow_unsafe=True, image=image)


def test_one_container_is_started_and_removed(daemon: Path) -> None:
    rung = probe("docker", DIGEST)
    assert (rung.number, rung.name, rung.image) == (3, "docker", DIGEST)
    assert rung.details["image"] == DIGEST
    kinds = [words[0] for words in calls(daemon)]
    assert kinds[0] == "run"
    assert kinds.count("run") == 1
    assert "ps" in kinds
    assert sorted(file.name for file in daemon.iterdir()) == ["calls.jsonl", "images"]


def test_what_holds_inside(daemon: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    source = f"""{TRY}
import os, socket
print(os.getuid(), [attempt(action) for action in (
    lambda: open({str(secret)!r}), lambda: open('/proc/self/environ'), lambda: open('/tmp/x', 'w'), lambda: open('/box/x', 'w'),
    lambda: os.listdir('/box/control'), lambda: socket.socket(), os.fork, lambda: os.kill(1, 0))], sorted(os.environ))
"""
    ending = run_in(probe("docker", DIGEST), source)
    assert ending.exit == 0, ending.stderr
    uid, tried = ending.stdout.decode().split(" ", 1)
    assert uid == "65534"
    assert "done" not in tried
    assert "DOCKER_CONFIG" not in tried


@pytest.mark.parametrize(
    ("source", "changes", "limit"),
    [
        ("while True: pass", {"cpu_ms": 300}, "cpu"),
        ("import time; time.sleep(600)", {"wall_ms": 800}, "wall"),
        ("bytearray(2**29)", {"memory_mb": 128}, "memory"),
        ("import os; os.fork()", {}, "processes"),
    ],
)
def test_limits_hold_inside(daemon: Path, source: str, changes: dict[str, int], limit: str) -> None:
    rung = Rung(number=3, how="docker", image=DIGEST, seccomp=True)
    assert run_in(rung, source, **changes).limit == limit


def test_the_killed_command_takes_no_container_along_and_the_box_removes_it(daemon: Path) -> None:
    rung = Rung(number=3, how="docker", image=DIGEST, seccomp=True)
    new = Since(os.getpid())

    async def work() -> None:
        async with Box(Spec(modules=(SCRIPT,)), rung) as box:
            process = await box.start(script("import time; time.sleep(600)"))
            (command,) = [one for one in new.now() if one.name.startswith("python")][:1]
            os.kill(command.pid, signal.SIGKILL)
            again = await (await box.start(script("print('on')"))).wait()
            assert again.stdout == b"on\n"
            process.kill()
            assert (await process.wait()).killed

    asyncio.run(work())
    assert sorted(file.name for file in daemon.iterdir()) == ["calls.jsonl", "images"]


def test_a_missing_image_is_told(daemon: Path) -> None:
    (daemon / "images").write_text("other")
    with pytest.raises(SandboxError, match="No such image"):
        probe("docker", DIGEST)


def test_a_docker_without_a_daemon_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if shutil.which("docker") is None:
        pytest.skip("there is no docker command here")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(SandboxError, match="did not start"):
        probe("docker", DIGEST)


def local_images() -> list[str]:
    """Python images of a real daemon, by digest."""
    if shutil.which("docker") is None:
        return []
    words = ["docker", "image", "ls", "--digests", "--format", "{{.Repository}}@{{.Digest}}", "python"]
    listed = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    return [name for name in listed.stdout.split() if docker.by_digest(name)]


def test_a_real_daemon() -> None:
    """Where docker answers and has a Python image with a digest, the rung is the real one."""
    images = local_images()
    if not images:
        pytest.skip("no docker daemon here with a Python image known by digest")
    rung = probe("docker", images[0])
    assert run_in(rung, "import os; print(os.getuid())").stdout == b"65534\n"


def test_tasks_with_files_need_a_folder(daemon: Path) -> None:
    rung = Rung(number=3, how="docker", image=DIGEST, seccomp=True)

    async def work() -> None:
        async with Box(Spec(modules=(SCRIPT,)), rung) as box:
            process = await box.start(Task(entry=f"{SCRIPT}:run", argument=b"", files={"a": b""}))
            with pytest.raises(SandboxError, match="no folder"):
                await process.wait()

    asyncio.run(work())
