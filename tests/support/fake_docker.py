"""A stand-in for the docker command and its daemon: containers are real namespaces, images are this machine's own programs.

Every call is recorded. As with a daemon, a container is no child of the command that started it: killing that leaves it alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from evalaction.sandbox.runtime import kernel, root
from evalaction.sandbox.runtime.job import View

_IMAGE = ("/usr", "/lib", "/lib64", "/bin", "/etc/hostname")
_VALUED = {
    "--pull", "--name", "--label", "--network", "--user", "--cap-drop", "--security-opt", "--ipc", "--pids-limit", "--memory",
    "--memory-swap", "--cpus", "--ulimit", "--tmpfs", "--mount", "--env-file", "--workdir", "--entrypoint",
}  # fmt: skip


def main(state: Path, words: list[str]) -> int:
    with (state / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    if words[:1] == ["run"]:
        return _run(state, words[1:])
    if words[:2] == ["ps", "--all"]:
        name = words[-1].rpartition("=")[2]
        if (state / name).exists():
            sys.stdout.write(f"{name}\n")
        return 0
    if words[:2] == ["rm", "--force"]:
        for name in words[2:]:
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                os.kill(int((state / name).read_text()), signal.SIGKILL)
            (state / name).unlink(missing_ok=True)
        return 0
    sys.stderr.write(f"docker: unknown command {words}\n")
    return 1


def parse(words: list[str]) -> tuple[dict[str, list[str]], str, list[str]]:
    """Options, image and arguments of `docker run`."""
    options: dict[str, list[str]] = {}
    place = 0
    while words[place].startswith("-"):
        name, equals, value = words[place].partition("=")
        if not equals and name in _VALUED:
            place += 1
            value = words[place]
        options.setdefault(name, []).append(value)
        place += 1
    return options, words[place], words[place + 1 :]


def _run(state: Path, words: list[str]) -> int:
    options, image, arguments = parse(words)
    if (state / "images").read_text().strip() != image:
        sys.stderr.write(f"docker: Error response from daemon: No such image: {image}.\n")
        return 125
    over, alive = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(over)
        _daemon(state / options["--name"][0], options, arguments, alive)
    os.close(alive)
    os.read(over, 1)  # until the daemon's end closes
    return 0


def _daemon(file: Path, options: dict[str, list[str]], arguments: list[str], alive: int) -> NoReturn:
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS)
    wait, go = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(alive)
        os.read(wait, 1)
        _container(options, arguments)
    file.write_text(str(first))
    os.write(go, b"1")
    os.waitpid(first, 0)
    file.unlink(missing_ok=True)
    os._exit(0)


def _container(options: dict[str, list[str]], arguments: list[str]) -> NoReturn:
    views = [View(source=path, inside=path) for path in _IMAGE]
    for mount in options["--mount"]:
        fields: dict[str, Any] = dict(part.partition("=")[::2] for part in mount.split(","))
        views.append(View(source=fields["src"], inside=fields["dst"], writable="ro" not in fields))
    root.build([*views, View(source="/proc", inside="/proc", device=True)], ())
    kernel.mount("proc", "/proc", "proc", 0)
    uid, _, gid = options["--user"][0].partition(":")
    os.setgroups([])
    os.setresgid(int(gid), int(gid), int(gid))
    kernel.drop_bounding_set()
    os.setresuid(int(uid), int(uid), int(uid))
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    environment = dict(one.partition("=")[::2] for one in options.get("--env", []))
    os.chdir(options["--workdir"][0])
    os.execve(f"/usr/bin/{options['--entrypoint'][0]}", [options["--entrypoint"][0], *arguments], environment)


if __name__ == "__main__":
    sys.exit(main(Path(os.environ["DOCKER_CONFIG"]), sys.argv[1:]))
