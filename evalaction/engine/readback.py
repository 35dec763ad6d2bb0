"""Reading a journal back: its lines, its seal, and the repair of a last line that a killed process left torn."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evalaction.engine.folder import ROWS
from evalaction.errors import SourceError, UnregisteredError, UsageError
from evalaction.method.reading.strict_json import loads

MAX_LINE = 4 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Seal:
    """The last line of a finished run."""

    sha256: str
    planned: int
    sent: int
    written: int
    ended: Literal["complete", "unreachable"]
    ms: int
    """Wall time of the drawing, in milliseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tail:
    """How a journal ends: `body` bytes of whole rows, then a seal, or a torn line, or nothing."""

    body: int
    seal: Seal | None
    torn: int
    """Bytes of an unfinished last line."""


def lines_of(path: Path, *, end: int) -> Iterator[tuple[int, bytes]]:
    """(offset, line without newline) of the first `end` bytes. Raises SourceError for a line over 4 MiB."""
    offset = number = 0
    if not end:
        return
    with path.open("rb") as file:
        while offset < end:
            line = file.readline(MAX_LINE)
            number += 1
            if not line.endswith(b"\n"):
                raise SourceError("This line of the journal is longer than 4 MiB or unfinished.", file=str(path), line=number)
            yield offset, line[:-1]
            offset += len(line)


def tail_of(folder: Path, name: str = ROWS) -> Tail:
    """Read how the journal ends and check its seal against every byte before it.

    Raises UnregisteredError (`seal_broken`) when the seal does not fit, UsageError when there is no journal.
    """
    path = folder / name
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - MAX_LINE))
            block = file.read()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", code="run_dir") from error
    whole = block.rfind(b"\n") + 1
    torn = len(block) - whole
    if size > MAX_LINE and not whole:
        raise UsageError(f"{path} ends with a line longer than 4 MiB; it is no journal of this tool.", code="run_dir")
    start = block.rfind(b"\n", 0, whole - 1) + 1 if whole else 0
    last = block[start:whole]
    if torn or not last.startswith(b'{"seal":'):
        return Tail(body=size - torn, seal=None, torn=torn)
    body = size - len(last)
    seal = _seal(last, path)
    if seal.sha256 != _sha256(path, body):
        raise _broken(f"The seal of {path} does not fit the bytes before it: the rows were changed after the run.")
    return Tail(body=body, seal=seal, torn=0)


def cut_torn(path: Path, torn: int) -> None:
    """Take the unfinished last line of a killed process off an unsealed journal; whole lines stay byte for byte."""
    if torn:
        os.truncate(path, path.stat().st_size - torn)


def refuse_inner_seal(line: bytes, path: Path) -> None:
    """Raises UnregisteredError when a line before the end is a seal: something was appended to a finished run."""
    if line.startswith(b'{"seal":'):
        raise _broken(f"{path} goes on after its seal: rows were added after the run.")


def _seal(line: bytes, path: Path) -> Seal:
    try:
        held: Any = loads(line.decode())
        return Seal(**{key: _typed(key, value) for key, value in held["seal"].items()})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _broken(f"The last line of {path} is not a seal of this tool.") from error


def _typed(key: str, value: object) -> Any:
    if key == "ended" and value not in {"complete", "unreachable"}:
        raise ValueError(key)
    if not isinstance(value, str if key in {"sha256", "ended"} else int) or isinstance(value, bool):
        raise TypeError(key)
    return value


def _sha256(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0:
            chunk = file.read(min(size, _CHUNK))
            if not chunk:
                break
            digest.update(chunk)
            size -= len(chunk)
    return digest.hexdigest()


def _broken(sentence: str) -> UnregisteredError:
    return UnregisteredError(sentence, code="seal_broken")
