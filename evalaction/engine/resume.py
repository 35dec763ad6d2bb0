"""Going on with an unsealed run: only what is missing is drawn, and only if nothing that was frozen differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
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
    "planned", "rehearsal", "synthetic", "tool_version", "judged_apart", "isolation", "question", "question_changes",
    "base_missing", "unchanged", "left_out",
)  # fmt: skip
_MACHINE = ("image_os", "image_version", "arch", "python")


def refuse_changed(held: Manifest, now: Manifest) -> None:
    """Raise UnregisteredError (`resume_differs`) naming the first frozen field in which a run differs from the one on disk."""
    machine = ((f"runner.{name}", held.runner.get(name), now.runner.get(name)) for name in _MACHINE)
    found = _first_difference(chain(_frozen(held, now), machine))
    if found:
        raise UnregisteredError(
            f"This run cannot be resumed, its {found}. A changed input is a new run: name a new --run-dir.", code="resume_differs"
        )


def refuse_other(held: Manifest, now: Manifest) -> None:
    """Raise UnregisteredError (`not_the_drawn`) where what is checked out is not what was drawn. The machine may be another."""
    found = _first_difference(pair for pair in _frozen(held, now) if pair[0] != "isolation")
    if found:
        raise UnregisteredError(
            f"This run cannot be judged here, its {found}. Judge it in a checkout of the commit that was drawn, by the same "
            "version of evalaction.",
            code="not_the_drawn",
        )


def _frozen(held: Manifest, now: Manifest) -> Iterator[tuple[str, object, object]]:
    """Name, then and now of everything that was frozen."""
    yield from ((name, getattr(held, name), getattr(now, name)) for name in _FROZEN)
    for before, after in zip(held.arms, now.arms, strict=False):
        for name in ("arm", "requests_sha256", "routes"):
            yield f"{name} of {before.arm}", getattr(before, name), getattr(after, name)
        for name in ("endpoint", "model", "endpoints", "commit"):
            yield f"{name} of {before.arm}", getattr(before.asked, name), getattr(after.asked, name)
    yield "number of arms", len(held.arms), len(now.arms)


def _first_difference(pairs: Iterable[tuple[str, object, object]]) -> str | None:
    for name, before, after in pairs:
        if before != after:
            shown = f": {str(before)[:80]} then, {str(after)[:80]} now" if isinstance(before, str | int | None) else ""
            return f"{name} differs{shown}"
    return None


def repair(folder: Path, grid: Grid, name: str = ROWS) -> list[tuple[int, bool]]:
    """Cut what a killed process left unfinished and return (index, reached) of every draw that is in the journal `name`.

    Raises UnregisteredError or InconclusiveError for a journal that is not of this grid.
    """
    tail = tail_of(folder, name)
    cut_torn(folder / name, tail.torn)
    done = [(row.index, row.columns.reach) for row in rows_of(folder / name, grid, end=tail.body)]
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
