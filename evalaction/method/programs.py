"""The committed program of an endpoint, as the files of its commit hold it."""

from __future__ import annotations

from collections.abc import Mapping

from evalaction.method.canonical import digest, sha256
from evalaction.method.card import Command


def program_of(command: Command, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Path from the repository's root to content, of the declared paths alone; sorted."""
    declared = [path.removesuffix("/") for path in command.paths]
    inside = {name[1:]: data for name, data in files.items() if name.startswith("/")}
    return {path: inside[path] for path in sorted(inside) if any(path == one or path.startswith(f"{one}/") for one in declared)}


def program_sha256(command: Command, files: Mapping[str, bytes]) -> str:
    """One digest over paths and contents: a moved, changed or added file is another program."""
    return digest([[path, sha256(data)] for path, data in program_of(command, files).items()])
