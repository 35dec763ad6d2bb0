"""What the box is asked to do and what it says afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from evalaction.errors import EvalactionError

How: TypeAlias = Literal["root", "sudo", "user_namespaces", "landlock", "docker", "none"]
LimitName: TypeAlias = Literal["cpu", "wall", "memory", "output", "disk", "processes", "files"]

NAMES: Mapping[int, str] = MappingProxyType({1: "namespaces", 2: "landlock", 3: "docker", 4: "unsafe"})


class SandboxError(EvalactionError):
    """The box itself failed; says nothing about the program that was in it."""

    default_code = "sandbox"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rung:
    """The kind of isolation that this machine gives, found by doing it."""

    number: int
    """1 namespaces, 2 Landlock and seccomp alone, 3 a container, 4 none."""
    how: How
    architecture: str = ""
    landlock_abi: int = 0
    """0 where Landlock is missing."""
    seccomp: bool = False
    own_uid: bool = False
    """Whether each process gets a user id that nothing else on the machine has."""
    image: str | None = None
    """Rung 3: the image, by digest."""

    @property
    def name(self) -> str:
        return NAMES[self.number]

    @property
    def safe(self) -> bool:
        return self.number < 4

    @property
    def details(self) -> dict[str, str | int | bool]:
        """The plain mapping that manifest and report keep."""
        kept: dict[str, str | int | bool] = {
            "rung": self.number,
            "name": self.name,
            "how": self.how,
            "architecture": self.architecture,
            "landlock_abi": self.landlock_abi,
            "seccomp": self.seccomp,
            "own_uid": self.own_uid,
        }
        return kept | ({"image": self.image} if self.image else {})


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one process in the box may use; each has its own word in `Ending.limit`."""

    wall_ms: int = 10_000
    cpu_ms: int = 5_000
    memory_mb: int = 512
    """Address space of each process."""
    processes: int = 0
    """Further processes it may have at a time; 0 forbids fork. Threads are counted apart, and bounded too."""
    open_files: int = 64
    disk_mb: int = 16
    """Everything in its /tmp together, where a /tmp can be given."""
    output_bytes: int = 1_048_576
    """Standard output and error together, where the box reads them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bind:
    """A file or folder of the machine, seen at `inside`. A writable one must let every user write: the user inside is another."""

    source: Path
    inside: str
    writable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """What all processes of a box have in common; one zygote serves one Spec."""

    modules: tuple[str, ...] = ()
    """Imported once, before the first process: of the standard library or of `evalaction.sandbox.runtime`."""
    readable: tuple[Bind, ...] = ()
    """More of the machine to see. Where there are no mounts (rungs 2 and 4) it is seen where it lies: `inside` must equal the
    source, or begin with /box/, where packages of ours are shown: /box/NAME is importable as evalaction.NAME."""
    programs: bool = False
    """Whether the system's programs, libraries, certificates and name resolution are visible (for `Task.argv`)."""
    network: bool = False
    """Whether TCP and UDP of the machine are reachable; everything else stays boxed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One process: `entry` or `argv`, not both. It starts in a fresh, empty, writable /tmp where the rung can give one.

    `entry` is "module:function": `function(argument: bytes) -> int | None` is called in a fork of the prepared
    interpreter and returns the exit code. `argv` is executed instead; argv[0] is a path, or a name looked up in PATH of `env`.
    """

    entry: str | None = None
    argument: bytes = b""
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the fixed environment (PATH, HOME=/tmp, LANG, LC_ALL, TZ=UTC, PYTHONHASHSEED=0); nothing of ours is inherited."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Relative path → content, put into its folder before it starts."""
    stdin: bytes = b""
    descriptors: Mapping[int, int] = field(default_factory=dict)
    """Number inside → a descriptor of ours, which the caller may close as soon as `start` has returned. 1 and 2 are read and
    capped by the box unless they are given here; 0 holds `stdin` unless given here. Numbers from 3 on without a gap."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if (self.entry is None) == (not self.argv):
            raise ValueError("a task has an entry or an argv")
        further = sorted(number for number in self.descriptors if number > 2)
        if further != list(range(3, 3 + len(further))) or any(number < 0 for number in self.descriptors):
            raise ValueError("descriptors from 3 on are numbered without a gap")
        for name in self.files:
            if not name or "\0" in name or any(part in {"", ".", ".."} for part in name.split("/")):
                raise ValueError(f"a file of a task lies in its folder: {name!r}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How a process ended: `exit` or `signal`, and the limit that ended it, if one did."""

    exit: int | None
    signal: int | None
    limit: LimitName | None
    cpu_ms: int
    """User and system time of the process and its descendants, from rusage."""
    wall_ms: int
    max_rss_kb: int
    run_delay_ms: int | None
    """Time it was ready to run and waited for a CPU; None where the kernel does not tell."""
    killed: bool = False
    """Whether the caller's `kill()` ended it."""
    stdout: bytes = b""
    stderr: bytes = b""
