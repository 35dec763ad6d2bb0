"""The attacks: texts in `programs/`, a file each, never imported. A head of `# name: value` lines, parts under `#--- name`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAMS = Path(__file__).with_name("programs")


@dataclass(frozen=True, kw_only=True, slots=True)
class Attack:
    name: str
    head: Mapping[str, str]
    parts: Mapping[str, str]
    """`main`, and what else the attack needs: `then`, `beside`, `check`, files."""

    @property
    def row(self) -> str:
        return self.head["row"]

    def limits(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.head.get("limits", "{}"))
        return found


def attacks(group: str) -> list[Attack]:
    return [_read(path) for path in sorted((_PROGRAMS / group).glob("*.txt"))]


def _read(path: Path) -> Attack:
    lines = path.read_text(encoding="utf-8").splitlines()
    head: dict[str, str] = {}
    while lines and lines[0].startswith("# "):
        name, _, value = lines.pop(0)[2:].partition(": ")
        head[name] = value
    parts: dict[str, list[str]] = {"main": []}
    current = "main"
    for line in lines:
        if line.startswith("#--- "):
            current = line[5:].strip()
            parts[current] = []
        else:
            parts[current].append(line)
    assert {"tries", "row"} <= head.keys(), path
    return Attack(name=path.stem, head=head, parts={name: "\n".join(body) + "\n" for name, body in parts.items()})
