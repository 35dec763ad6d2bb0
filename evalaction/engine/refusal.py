"""What a run leaves behind that was refused before its first call: manifest, report files and sums, no rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from evalaction import __version__
from evalaction.engine.conduct import leave_refusal
from evalaction.engine.derive import derive, rendered
from evalaction.engine.folder import MANIFEST, clear, create, locked, write_files
from evalaction.engine.manifest import REFUSAL_FORMAT, Ended, Manifest
from evalaction.errors import EvalactionError
from evalaction.method.records import Break
from evalaction.method.report import Provenance, Report
from evalaction.method.telling.summary import refusal_report


def refuse_prepared(folder: Path, manifest: Manifest, ended: Ended, requests: Iterable[bytes] = ()) -> Report:
    """The folder of a question that could be read but not asked; `score` derives it again. Raises UsageError."""
    leave_refusal(folder, replace(manifest, ended=ended), requests)
    with locked(folder):
        return derive(folder)


def refuse_unread(
    folder: Path, error: EvalactionError, *, name: str, provenance: Provenance, breaks: tuple[Break, ...]
) -> Report:
    """The folder of a card that could not be read, or whose files are not those of the commit. Raises UsageError."""
    report = refusal_report(error, name=name, provenance=provenance, breaks=breaks)
    held = {"format": REFUSAL_FORMAT, "tool_version": __version__, "card": provenance.card_path, "code": error.code}
    create(folder)
    with locked(folder):
        clear(folder)
        write_files(
            folder,
            {MANIFEST: (json.dumps(held, indent=1) + "\n").encode()} | rendered(report),
        )
    return report
