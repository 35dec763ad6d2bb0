"""The third rung: one container for the whole exam, in which the zygote runs as nobody."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from evalaction.sandbox.records import Rung, Spec
from evalaction.sandbox.runtime.job import CONTROL_INSIDE, RUNTIME_INSIDE
from evalaction.sandbox.visible import runtime_folder

LABEL = "evalaction"
_BY_DIGEST = re.compile(r"[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}")
_COMMAND_S = 30
_MEMORY = "2048m"
_PROCESSES = 512


def by_digest(image: str) -> bool:
    """Whether the name says exactly which image: a tag can be moved."""
    return _BY_DIGEST.fullmatch(image) is not None


def available() -> bool:
    return shutil.which("docker") is not None


def run(spec: Spec, rung: Rung, *, name: str, control: Path, arguments: list[str]) -> list[str]:
    """The command line that starts the container; its image must be there already, nothing is pulled while secrets are around."""
    assert rung.image is not None
    return [
        "docker", "run", "--rm", "--pull", "never",
        "--name", name, "--label", f"{LABEL}={name}",
        "--network", "bridge" if spec.network else "none",
        "--read-only", "--user", "65534:65534", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
        "--ipc", "none", "--pids-limit", str(_PROCESSES), "--memory", _MEMORY, "--memory-swap", _MEMORY,
        "--cpus", str(os.cpu_count() or 1), "--ulimit", "nofile=4096", "--ulimit", "core=0",
        *(("--tmpfs", "/tmp:rw,nosuid,nodev,size=64m") if spec.programs else ()),  # noqa: S108 - inside the container
        "--mount", f"type=bind,src={runtime_folder()},dst={RUNTIME_INSIDE},ro",
        "--mount", f"type=bind,src={control},dst={CONTROL_INSIDE},ro",
        *_mounts(spec),
        "--env-file", "/dev/null", *(f"--env={key}={value}" for key, value in environment({"PYTHONHASHSEED": "0"}).items()),
        "--workdir", "/", "--entrypoint", "python3", rung.image, *arguments,
    ]  # fmt: skip


def _mounts(spec: Spec) -> list[str]:
    shown: list[str] = []
    for bind in spec.readable:
        shown += ["--mount", f"type=bind,src={bind.source},dst={bind.inside}{'' if bind.writable else ',ro'}"]
    return shown


def environment(fixed: Mapping[str, str]) -> dict[str, str]:
    """The fixed environment with the places of an image in place of ours."""
    kept = {name: value for name, value in fixed.items() if name != "LD_LIBRARY_PATH"}
    return kept | {"PATH": "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def remove(name: str) -> None:
    """Remove the container of this name's label, whatever state it is in."""
    listing = ["docker", "ps", "--all", "--quiet", "--filter", f"label={LABEL}={name}"]
    found = subprocess.run(listing, capture_output=True, text=True, timeout=_COMMAND_S, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    if identifiers := found.stdout.split():
        subprocess.run(  # noqa: S603 - our own container
            ["docker", "rm", "--force", *identifiers],  # noqa: S607 - the machine's docker
            capture_output=True,
            timeout=_COMMAND_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
