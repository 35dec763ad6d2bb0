"""Starting a zygote on a rung: command line, private socket, a look at who answers, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalaction.sandbox import docker, visible
from evalaction.sandbox.records import Rung, SandboxError, Spec
from evalaction.sandbox.runtime import removal
from evalaction.sandbox.runtime.job import CONTROL_INSIDE, RUNTIME_INSIDE, Config, View
from evalaction.sandbox.visible import Interpreter

START_S = 60.0
END_S = 10.0
_LOOK_S = 0.004
MESSAGE_BYTES = 262_144
_ENDED = "it ended before it was ready"
_LONGEST_FOLDER = 60
"""A socket's path has 108 bytes at most."""
# The package around our runtime is replaced by empty modules: inside, it consists of nothing else.
_START = (
    "import sys, types\n"
    "for name, path in (('evalaction', []), ('evalaction.sandbox', [sys.argv[2]])):\n"
    "    module = sys.modules[name] = types.ModuleType(name)\n"
    "    module.__path__ = path\n"
    "from evalaction.sandbox.runtime.zygote import main\n"
    "main()\n"
)
_FLAGS = ("-s", "-S", "-P", "-B", "-X", "utf8", "-c", _START)


@dataclass(slots=True)
class Launched:
    """A zygote that said it is ready."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    folder: Path
    container: str | None
    ready: Mapping[str, Any]

    async def close(self) -> None:
        """End it and everything in it; returns when it is gone."""
        self.control.close()
        await _end(self.process, self.container)
        removal.remove(str(self.folder))


async def launch(spec: Spec, rung: Rung) -> Launched:
    """Start a zygote. SandboxError with what it said when it does not come up."""
    interpreter = Interpreter.ours()
    folder = Path(tempfile.mkdtemp(prefix="evalaction-", dir=None if len(tempfile.gettempdir()) < _LONGEST_FOLDER else "/tmp"))  # noqa: S108
    container = f"evalaction-{folder.name.rpartition('-')[2]}" if rung.how == "docker" else None
    process: subprocess.Popen[bytes] | None = None
    try:
        listener = _listen(folder, rung)
        with listener, (folder / "stderr").open("wb") as stderr:
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - returns at once; our own interpreter and our own text
                _command(spec, rung, interpreter, folder, container),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd="/",
                env=_environment(rung, interpreter),
                start_new_session=True,
            )
            control, ready = await _meet(listener, process, rung, _config(spec, rung, interpreter, folder))
    except BaseException as error:
        said = "" if isinstance(error, Stranger) else _last_line(folder)
        if process is not None:
            await _end(process, container)
        removal.remove(str(folder))
        if isinstance(error, OSError | TimeoutError | ValueError):
            raise SandboxError(f"The sandbox did not start: {said or error or type(error).__name__}.") from error
        raise
    if rung.number in {1, 3}:  # only a socket lay in it, and that is connected; nothing is left should we be killed
        removal.remove(str(folder))
    return Launched(process=process, control=control, folder=folder, container=container, ready=ready)


def _listen(folder: Path, rung: Rung) -> socket.socket:
    """The socket in a folder that only we and root can enter; on rung 2 as root other users pass through to their own folders."""
    control, work = folder / "control", folder / "work"
    for made in (control, work):
        made.mkdir()
    control.chmod(0o755)
    work.chmod(0o711)
    if rung.number == 2 and os.getuid() == 0:
        control.chmod(0o700)
        folder.chmod(0o711)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.setblocking(False)
    listener.bind(str(control / "socket"))
    if rung.how == "docker":
        (control / "socket").chmod(0o777)
    listener.listen(1)
    return listener


def _command(spec: Spec, rung: Rung, interpreter: Interpreter, folder: Path, container: str | None) -> list[str]:
    path, package = str(folder / "control" / "socket"), str(visible.runtime_folder().parent)
    python = [interpreter.executable, *_FLAGS, path, package]
    if rung.how == "sudo":
        variables = [f"{name}={value}" for name, value in visible.environment(interpreter).items()]
        return ["sudo", "-n", "--", "/usr/bin/env", "-i", *variables, *python]
    if container is not None:
        inside = [*_FLAGS, f"{CONTROL_INSIDE}/socket", str(Path(RUNTIME_INSIDE).parent)]
        return docker.run(spec, rung, name=container, control=folder / "control", arguments=inside)
    return python


def _environment(rung: Rung, interpreter: Interpreter) -> dict[str, str]:
    """Nothing of ours but, for the two programs in between, where they find what they need."""
    names = {"docker": ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT"), "sudo": ("PATH",)}.get(rung.how)
    if names is None:
        return dict(visible.environment(interpreter))
    return {name: os.environ[name] for name in names if name in os.environ}


def _config(spec: Spec, rung: Rung, interpreter: Interpreter, folder: Path) -> Config:
    namespaces, container = rung.number == 1, rung.how == "docker"
    work: str | None = str(folder / "work")
    views = visible.views(spec, interpreter, namespaces=namespaces)
    hidden = visible.hidden(spec, interpreter)
    environment = dict(visible.environment(interpreter))
    if container:
        views, hidden = (View(source="/", inside="/"),), ("/proc", "/sys", "/dev", CONTROL_INSIDE)
        environment = docker.environment(environment)
        work = "/tmp" if spec.programs else None  # noqa: S108 - inside the container
    return Config(
        namespaces=namespaces,
        user_namespace=rung.how == "user_namespaces",
        landlock=rung.number < 4,
        seccomp=rung.number < 4,
        views=views,
        hidden=hidden,
        modules=spec.modules,
        programs=spec.programs,
        network=spec.network,
        environment=environment,
        folder=work,
    )


async def _meet(
    listener: socket.socket, process: subprocess.Popen[bytes], rung: Rung, config: Config
) -> tuple[socket.socket, Mapping[str, Any]]:
    """Accept one connection, check its user, send the configuration and wait for "ready"."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(START_S):
        while (accepted := _accepted(listener)) is None:
            if process.poll() is not None:
                raise ConnectionError(f"it ended with code {process.returncode}")
            await asyncio.sleep(_LOOK_S)
        control = accepted
        try:
            control.setblocking(False)
            _check_peer(control, rung)
            with _as_an_end():
                await loop.sock_sendall(control, config.pack())
                received = await loop.sock_recv(control, MESSAGE_BYTES)
            message = json.loads(received or b"{}")
            if "ready" not in message:
                raise ConnectionError(message.get("trouble") or _ENDED)
        except BaseException:
            control.close()
            raise
    return control, message["ready"]


@contextlib.contextmanager
def _as_an_end() -> Iterator[None]:
    """A zygote that ends shows as an empty message, a broken pipe or a reset, by what it had read until then."""
    try:
        yield
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ConnectionError(_ENDED) from error


class Stranger(ConnectionError):
    """Somebody else than the zygote; what that one says of its end is not the reason."""


def _accepted(listener: socket.socket) -> socket.socket | None:
    """A connection that has come; asked for and not awaited, as an event loop trips over a listener closed while it waits."""
    with contextlib.suppress(BlockingIOError):
        return listener.accept()[0]
    return None


def _check_peer(control: socket.socket, rung: Rung) -> None:
    """Who connected must be the user that we started it as. In a container its number is the daemon's affair."""
    if rung.how == "docker":
        return
    _, uid, _ = struct.unpack("3i", control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    if uid != (0 if rung.how == "sudo" else os.getuid()):
        raise Stranger(f"user {uid} connected instead of the zygote")


def _last_line(folder: Path) -> str:
    with contextlib.suppress(OSError):
        lines = (folder / "stderr").read_bytes()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""
    return ""


async def _end(process: subprocess.Popen[bytes], container: str | None) -> None:
    """It ends by itself when its socket closes; what does not is killed."""
    if container is not None:
        await asyncio.to_thread(docker.remove, container)
    waiting = asyncio.to_thread(_wait_or_kill, process)
    await asyncio.shield(asyncio.ensure_future(waiting))


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def runs_here() -> bool:
    """Whether this is a system on which a zygote can live at all."""
    return sys.platform.startswith("linux")
