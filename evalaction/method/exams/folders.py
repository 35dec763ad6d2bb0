"""An exam that is a folder: one JSON file an item, or one folder a task with `task.json` and its `check.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from evalaction.errors import SourceError
from evalaction.method.exams.python_source import python_source
from evalaction.method.exams.sources import RawItem, read_file

TASK, CHECK, REFERENCE, CANDIDATE = "task.json", "check.py", "reference.py", "_candidate.py"


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """The files of a folder exam, by path as the card writes it."""

    items: Mapping[str, bytes]
    """The JSON files that are items."""
    others: Mapping[str, bytes]
    """Every other file: checks, references, helpers, whatever lies there."""
    tasks: bool
    """One folder a task; otherwise one file an item."""

    def at_hand(self) -> dict[str, bytes]:
        """What a check may find beside it. What a draw writes there, and what Python compiled, is not of the exam's making."""
        return {
            path: data for path, data in self.others.items() if path.rsplit("/", 1)[-1] != CANDIDATE and not path.endswith(".pyc")
        }


def read_tree(files: Mapping[str, bytes], tasks: str) -> Folder:
    """Which files below `tasks` are items. Raises SourceError where that cannot be told, or an item could get lost."""
    start = len(tasks) + 1
    flat = {path: data for path, data in files.items() if path.endswith(".json") and "/" not in path[start:]}
    nested = {path: data for path, data in files.items() if path.endswith(f"/{TASK}") and path not in flat}
    for path in sorted(nested):
        if path[start:].count("/") != 1:
            raise SourceError("a task folder lies directly below the folder of the exam; move it there", file=path)
    if nested and flat:
        sentence = "this folder has task folders, and this file beside them; an item is one or the other, so move it away"
        raise SourceError(sentence, file=min(flat))
    items = nested or flat
    for path in sorted(files):
        if nested and path.endswith(f"/{CHECK}") and path[start:].count("/") == 1:
            _expect_task(path, nested)
    others = {path: data for path, data in files.items() if path not in items}
    return Folder(items=items, others=others, tasks=bool(nested))


def read_tasks(folder: Folder) -> Iterator[RawItem]:
    """One item a task folder, in the byte order of the folders' names."""
    for file in sorted(folder.items, key=str.encode):
        parent = file.removesuffix(TASK)
        check, reference = f"{parent}{CHECK}", f"{parent}{REFERENCE}"
        yield replace(
            read_file(file, folder.items[file]),
            folder=parent.rstrip("/").rsplit("/", 1)[-1],
            check_file=None if _readable(folder.others, check) is None else check,
            reference=_readable(folder.others, reference),
        )


def _expect_task(check: str, tasks: Mapping[str, bytes]) -> None:
    if check.removesuffix(CHECK) + TASK not in tasks:
        raise SourceError(f"there is no `{TASK}` beside this file; add it, or remove the folder", file=check)


def _readable(files: Mapping[str, bytes], path: str) -> str | None:
    return python_source(files[path], file=path) if path in files else None
