"""Going on with an unsealed run: only what is missing is drawn, and only if nothing that was frozen differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalaction.engine.folder import ROWS, TEXTS
from evalaction.engine.grid import Grid
from evalaction.engine.manifest import Manifest
from evalaction.engine.readback import cut_torn, tail_of
from evalaction.engine.reading import rows_of
from evalaction.errors import SourceError, UnregisteredError

_FROZEN = (
    "question_digest", "card_path", "card_sha256", "commit", "base", "exam_sha256", "ids_sha256", "checker_sha256", "items",
    "planned", "rehearsal", "synthetic", "tool_version", "isolation", "question", "question_changes", "base_missing", "unchanged",
    "left_out",
)  # fmt: skip
_MACHINE = ("image_os", "image_version", "arch", "python")


def refuse_changed(held: Manifest, now: Manifest) -> None:
    """Raise UnregisteredError (`resume_differs`) naming the first frozen field in which a run differs from the one on disk."""
    for name in _FROZEN:
        _compare(name, getattr(held, name), getattr(now, name))
    for before, after in zip(held.arms, now.arms, strict=False):
        for name in ("arm", "requests_sha256", "routes"):
            _compare(f"{name} of {before.arm}", getattr(before, name), getattr(after, name))
        for name in ("endpoint", "model", "endpoints", "commit"):
            _compare(f"{name} of {before.arm}", getattr(before.asked, name), getattr(after.asked, name))
    _compare("number of arms", len(held.arms), len(now.arms))
    for name in _MACHINE:
        _compare(f"runner.{name}", held.runner.get(name), now.runner.get(name))


def _compare(name: str, before: object, after: object) -> None:
    if before != after:
        shown = f": {str(before)[:80]} then, {str(after)[:80]} now" if isinstance(before, str | int | None) else ""
        raise UnregisteredError(
            f"This run cannot be resumed, its {name} differs{shown}. A changed input is a new run: name a new --run-dir.",
            code="resume_differs",
        )


def repair(folder: Path, grid: Grid) -> list[tuple[int, bool]]:
    """Cut what a killed process left unfinished and return (index, reached) of every row that is there.

    Raises UnregisteredError or InconclusiveError for a journal that is not of this grid.
    """
    tail = tail_of(folder)
    cut_torn(folder / ROWS, tail.torn)
    done = [(row.index, row.columns.reach) for row in rows_of(folder / ROWS, grid, end=tail.body)]
    _repair_texts(folder / TEXTS, {index for index, _ in done})
    return done


def _repair_texts(path: Path, done: set[int]) -> None:
    """A text is written before its row: the last ones may lack their rows, which will be drawn again, or be torn."""
    if not path.exists():
        return
    end, kept = 0, None
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            torn = not line.endswith(b"\n")
            index = None if torn else _index_of(line)
            if index in done and kept is None:
                pass
            elif torn or (isinstance(index, int) and index not in done):
                kept = end if kept is None else kept
            else:
                raise SourceError("This line is not a kept text of this run.", file=str(path), line=number)
            end += len(line)
    if kept is not None:
        cut_torn(path, end - kept)


def _index_of(line: bytes) -> Any:
    try:
        return json.loads(line)["index"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
