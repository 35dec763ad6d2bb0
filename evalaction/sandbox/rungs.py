"""Which kind of isolation this machine gives: each rung is started and a process in it tries what must fail."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace

from evalaction.errors import UsageError
from evalaction.sandbox import docker
from evalaction.sandbox.box import Box
from evalaction.sandbox.launch import runs_here
from evalaction.sandbox.records import How, Limits, Rung, SandboxError, Spec, Task
from evalaction.sandbox.runtime import landlock, numbers

NUMBERS: dict[How, int] = {"root": 1, "sudo": 1, "user_namespaces": 1, "landlock": 2, "docker": 3, "none": 4}
LEAST_LANDLOCK = 3
"""The first version that also guards truncation."""
_PATIENCE = Limits(wall_ms=30_000, cpu_ms=10_000)


def find_rung(*, allow_unsafe: bool, image: str | None) -> Rung:
    """The best rung of this machine. UsageError `no_isolation` where only the last is left and it is not allowed.

    `image` is a container image by digest, tried after the rungs that need none; UsageError `image` when it is not by digest.
    """
    if image is not None and not docker.by_digest(image):
        raise UsageError(
            f"Name the image by digest, as in python@sha256:…; {image!r} can change under the same name.", code="image"
        )
    if not runs_here():
        raise UsageError(
            "Code from a model runs only on Linux. Use a runner such as ubuntu-latest for this card.", code="no_isolation"
        )
    refused: list[str] = []
    for how in _tried(image):
        try:
            return probe(how, image)
        except SandboxError as error:
            refused.append(f"{WORDS[how]}: {error.sentence.removeprefix('The sandbox did not start: ').rstrip('.')}")
    if allow_unsafe:
        return probe("none", None)
    raise UsageError(
        "This machine cannot isolate code that a model wrote, so it is not run. Tried "
        + "; ".join(refused)
        + ". Use a hosted Ubuntu runner, give the card an image with a digest where docker runs,"
        + " or, if nothing on this machine is worth protecting, say --allow-unsafe-execution (as an input of the action"
        + " `allow-unsafe-execution: true`).",
        code="no_isolation",
    )


WORDS: dict[How, str] = {
    "root": "namespaces as root",
    "sudo": "namespaces through sudo",
    "user_namespaces": "user namespaces",
    "landlock": "Landlock with seccomp",
    "docker": "docker",
    "none": "no isolation",
}


def _tried(image: str | None) -> Iterator[How]:
    if os.geteuid() == 0:  # not user namespaces: processes of user 0 are never counted
        yield "root"
    else:
        if shutil.which("sudo"):
            yield "sudo"
        yield "user_namespaces"
    yield "landlock"
    if image is not None:
        yield "docker"


def probe(how: How, image: str | None) -> Rung:
    """This rung with what was found out about it. SandboxError with the reason when the machine does not give it."""
    architecture = numbers.here()
    if architecture is None and how != "none":
        raise SandboxError(f"no table of system calls for {os.uname().machine}.")
    if how == "landlock" and landlock.abi() < LEAST_LANDLOCK:
        raise SandboxError(f"this kernel has version {landlock.abi()} of Landlock, {LEAST_LANDLOCK} is needed.")
    if how == "docker" and not docker.available():
        raise SandboxError("there is no docker command.")
    rung = Rung(
        number=NUMBERS[how],
        how=how,
        architecture=architecture.name if architecture else os.uname().machine,
        seccomp=how != "none",
        image=image if how == "docker" else None,
    )
    return _in_a_thread(rung)


def _in_a_thread(rung: Rung) -> Rung:
    """Probing has an event loop of its own, so that callers need not be asynchronous nor may be."""
    found: list[Rung | BaseException] = []

    def work() -> None:
        try:
            found.append(asyncio.run(_try(rung)))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            found.append(error)

    thread = threading.Thread(target=work, name="sandbox-probe")
    thread.start()
    thread.join()
    (result,) = found
    if isinstance(result, BaseException):
        raise result
    return result


async def _try(rung: Rung) -> Rung:
    spec = Spec(modules=("evalaction.sandbox.runtime.probe",))
    async with Box(spec, rung) as box:
        ready = box.ready
        if rung.safe:
            task = Task(entry="evalaction.sandbox.runtime.probe:look", argument=os.fsencode(__file__), limits=_PATIENCE)
            ending = await (await box.start(task)).wait()
            if ending.exit != 0:
                said = ending.stderr.decode("utf-8", "replace").strip().splitlines()
                raise SandboxError(f"inside it was possible to {said[-1] if said else 'end early'}.")
    return replace(rung, landlock_abi=ready["landlock_abi"], own_uid=ready["own_uid"])
