"""`paused.json`: why a sitting left its run unsealed, for the next one and for the report. A killed one leaves none."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from evalaction.engine.folder import write_whole
from evalaction.errors import SourceError, UsageError
from evalaction.method.judging.facts import Ended
from evalaction.method.reading.fields import Fields
from evalaction.method.reading.strict_json import loads

NAME = "paused.json"
_ENDED: dict[str, Ended] = {"deadline": "deadline", "interrupted": "interrupted", "disk": "disk"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    ended: Ended
    sent: int
    """Requests sent so far, dropped ones included."""
    ms: int
    """Time spent drawing so far, in milliseconds."""


def write_pause(folder: Path, pause: Pause, *, strict: bool = True) -> None:
    """Raises UsageError when the disk refuses, unless `strict` is off: on a full disk the rows matter, not this note."""
    value = {"ended": pause.ended, "sent": pause.sent, "ms": pause.ms}
    with contextlib.nullcontext() if strict else contextlib.suppress(UsageError):
        write_whole(folder / NAME, json.dumps(value).encode() + b"\n")


def read_pause(folder: Path) -> Pause | None:
    """Raises SourceError when the note is not one of ours."""
    path = folder / NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        held = Fields(loads(data.decode()), file=str(path))
    except ValueError as error:
        raise SourceError(f"This note is not strict JSON: {error}.", file=str(path)) from error
    return Pause(ended=_ENDED[held.one_of("ended", list(_ENDED))], sent=held.count("sent"), ms=held.count("ms"))


def remove_pause(folder: Path) -> None:
    (folder / NAME).unlink(missing_ok=True)
