"""What an attacker hopes to find, built for one run: secrets, files, sockets, processes. Standard library only.

The program that builds it was started with the secret in `EVAL_KEY`, as a runner is.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

LINK_LOCAL = "169.254.169.254"
"""Where clouds answer with the identity of a machine."""
HEARD = 100
PRELUDE = """
import json, os, re, sys
scene = json.loads(SCENE)
def worked(what=""):
    print("WORKED", what, flush=True)
def refused(error):
    print("refused", error if isinstance(error, str) else type(error).__name__, flush=True)
def unable(why):
    print("UNABLE", why, flush=True)
    os._exit(0)
def attempt(action):
    try:
        return action()
    except BaseException as error:
        refused(error)
def found(data):
    if re.search(rb"key-[0-9a-f]{32}", data.encode("utf-8", "replace") if isinstance(data, str) else data or b""):
        worked("read the secret")
def call(number, *arguments):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(*(one if isinstance(one, bytes) else ctypes.c_long(one) for one in (number, *arguments)))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""
HONEST = """
import time
ends = time.monotonic() + 0.15
while time.monotonic() < ends:
    time.sleep(0.01)
print("HONEST", flush=True)
"""


class Scene:
    """`told` is what an attacking program knows of it; `heard` is what arrived at the sockets of the machine."""

    def __init__(self, place: Path, *, undefended: bool = False) -> None:
        self.heard: list[str] = []
        self._place = place
        key = os.environ["EVAL_KEY"]
        self._victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], stdin=subprocess.DEVNULL)
        self.told: dict[str, Any] = {
            "undefended": undefended,
            "runner": os.getpid(),
            "victim": self._victim.pid,
            "files": _files(place, key),
            "workspace": str(place / "workspace"),
            "command_file": str(place / "runner" / "github_env"),
            **self._listeners(place, key),
        }
        leaked = os.open(place / "runner" / "token", os.O_RDONLY)
        os.set_inheritable(leaked, True)

    def restore(self) -> None:
        """The files as they were."""
        _files(self._place, os.environ["EVAL_KEY"])

    def close(self) -> None:
        self._victim.kill()
        self._victim.wait()

    def _listeners(self, place: Path, key: str) -> dict[str, Any]:
        stream, datagram = str(place / "docker.sock"), str(place / "log.sock")
        abstract = f"attacks-{secrets.token_hex(8)}"
        self._answer(socket.AF_UNIX, socket.SOCK_STREAM, stream, key)
        self._answer(socket.AF_UNIX, socket.SOCK_DGRAM, datagram, key)
        self._answer(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}", key)
        self._answer(socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{abstract}-log", key)
        told = {"socket": stream, "log": datagram, "abstract": abstract, "port": 0, "udp": 0, "link_local": 0}
        with contextlib.suppress(OSError):
            told["port"] = self._answer(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0), key)[1]
            told["udp"] = self._answer(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0), key)[1]
            told["link_local"] = self._answer(socket.AF_INET, socket.SOCK_STREAM, (LINK_LOCAL, 0), key)[1]
        for path in (stream, datagram):
            Path(path).chmod(0o777)
        return told

    def _answer(self, family: int, kind: int, address: Any, key: str) -> Any:
        server = socket.socket(family, kind)
        server.bind(address)
        stream = kind == socket.SOCK_STREAM
        if stream:
            server.listen(8)
        threading.Thread(target=self._serve, args=(server, stream, key), daemon=True).start()
        return server.getsockname()

    def _serve(self, server: socket.socket, stream: bool, key: str) -> None:
        while True:
            with contextlib.suppress(OSError):
                if stream:
                    connection, _ = server.accept()
                    self.heard.append("a connection")
                    with connection:
                        connection.sendall(key.encode())
                else:
                    self.heard.append(server.recv(HEARD).decode("utf-8", "replace"))


def _files(place: Path, key: str) -> list[str]:
    """Files as a checkout and a runner leave them; every user may read them, so that only the box keeps them from being read."""
    texts = {
        "home/.git-credentials": f"https://x:{key}@github.com\n",
        "home/.gitconfig": f"[http]\n\textraheader = AUTHORIZATION: basic {key}\n",
        "workspace/.git/config": f"[http]\n\textraheader = AUTHORIZATION: basic {key}\n",
        "workspace/tasks/one/check.py": f"# {key}\n",
        "workspace/tasks/one/cases.json": json.dumps([key]),
        "workspace/tasks/two/check.py": f"# {key}\n",
        "runner/git-credentials-1.config": key,
        "runner/github_env": "",
        "runner/token": key,
    }
    for name, text in texts.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o666)
        with contextlib.suppress(OSError):  # where the file system keeps attributes
            os.setxattr(path, "user.origin", key.encode())
    for folder in (place, *(one for one in place.rglob("*") if one.is_dir())):
        folder.chmod(0o777)
    return [str(place / name) for name in texts if name != "runner/github_env"]


def program(text: str, told: dict[str, Any]) -> str:
    """A whole attacking program."""
    return f"SCENE = {json.dumps(told)!r}\n{PRELUDE}\n{text}"
