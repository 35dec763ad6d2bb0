"""What the parent tells the zygote once, and again for each process."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

RUNTIME_INSIDE = "/box/runtime"
CONTROL_INSIDE = "/box/control"
MESSAGE_BYTES = 65_536
DESCRIPTORS = 64
"""How many descriptors one message carries at most."""
_PREFIX = struct.Struct(">I")


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A file or folder of the machine and where it is seen inside."""

    source: str
    inside: str
    writable: bool = False
    device: bool = False
    needed: bool = False
    """Whether Python does not run without it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """What holds for all processes of one zygote."""

    namespaces: bool
    user_namespace: bool
    """Whether the namespaces are made by an ordinary user, inside a user namespace."""
    landlock: bool
    seccomp: bool
    views: tuple[View, ...]
    hidden: tuple[str, ...]
    """Folders inside that are covered, although a view above them shows them."""
    modules: tuple[str, ...]
    programs: bool
    network: bool
    environment: Mapping[str, str]
    folder: str | None
    """Without namespaces: where each process gets a folder of its own; None where nothing may be written at all."""

    def pack(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Config:
        fields = json.loads(data)
        fields["views"] = tuple(View(**view) for view in fields["views"])
        return cls(**fields | {name: tuple(fields[name]) for name in ("hidden", "modules")})


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """The limits of one process. What it is given travels apart, so that the zygote's memory never holds it."""

    number: int
    wall_ms: int
    cpu_ms: int
    memory_mb: int
    processes: int
    open_files: int
    disk_mb: int

    def pack(self) -> bytes:
        return json.dumps(asdict(self)).encode()


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What one process is given: read from a descriptor by the process that keeps it."""

    entry: str | None
    argument: bytes
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, bytes]

    def pack(self) -> bytes:
        """A JSON head behind its length, then argument and files one after another."""
        head = {
            "entry": self.entry,
            "argv": self.argv,
            "env": dict(self.env),
            "argument": len(self.argument),
            "files": [(name, len(content)) for name, content in self.files.items()],
        }
        text = json.dumps(head).encode()
        return b"".join((_PREFIX.pack(len(text)), text, self.argument, *self.files.values()))

    @classmethod
    def read(cls, descriptor: int) -> Load:
        data = memoryview(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        (size,) = _PREFIX.unpack(data[: _PREFIX.size])
        place = _PREFIX.size + size
        head: dict[str, Any] = json.loads(bytes(data[_PREFIX.size : place]))
        argument = bytes(data[place : place + head["argument"]])
        place += head["argument"]
        files = {}
        for name, length in head["files"]:
            files[name] = bytes(data[place : place + length])
            place += length
        return cls(entry=head["entry"], argument=argument, argv=tuple(head["argv"]), env=head["env"], files=files)
