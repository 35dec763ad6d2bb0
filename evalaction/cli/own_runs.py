"""Where runs go that name no folder: a place that git ignores, since it holds what models said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

RUNS = "runs"


def default_folder(card: Path) -> Path:
    """`runs/<name of the card's file or folder>-<UTC time>`, a new one each time."""
    name = card.parent.name if card.stem == "card" else card.stem
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:60] or "run"
    return Path(RUNS) / f"{slug}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%S.%fZ')}"


@contextmanager
def ignored_by_git(cwd: Path) -> Iterator[None]:
    """A `runs` folder that this run makes gets a `.gitignore` of its own, so that `git add` takes no reply along.

    One that was there before is somebody's own affair.
    """
    folder = cwd / RUNS
    ours = not folder.exists()
    try:
        yield
    finally:
        if ours and folder.is_dir():
            with suppress(OSError):
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
