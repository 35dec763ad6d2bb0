"""`judging.json`: where and how the draws of a run were judged that another job drew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalaction.engine.folder import JUDGING, ROWS, write_whole
from evalaction.errors import SourceError, UsageError
from evalaction.method.reading.fields import Fields
from evalaction.method.reading.strict_json import loads

FORMAT = "evalaction/judging/1"
MAX_BYTES = 1 << 20
_SHOWN = ("platform", "python")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judging:
    """Said by the job that judged, and believed of it as its columns are."""

    tool_version: str
    runner: Mapping[str, str]
    isolation: Mapping[str, str] = field(default_factory=dict)
    """As in a manifest: how the programs of the exam were kept apart; empty without any."""

    def beside(self, drawn: Mapping[str, str]) -> Mapping[str, str]:
        """The isolation to report where programs ran while it was drawn, too: the weaker one is told."""
        if not self.isolation or drawn.get("name") == "unsafe":
            return {**drawn, **({"checks": self.isolation["checks"]} if "checks" in self.isolation else {})}
        return self.isolation

    @property
    def told(self) -> dict[str, str]:
        """What the report says beside the machine that drew."""
        return {f"judged_{name}": self.runner[name] for name in _SHOWN if name in self.runner}


def write_judging(folder: Path, judging: Judging) -> None:
    """Raises UsageError when the disk refuses."""
    value = {"format": FORMAT, "tool_version": judging.tool_version, "runner": dict(judging.runner)}
    text = json.dumps(value | {"isolation": dict(judging.isolation)}, indent=1) + "\n"
    write_whole(folder / JUDGING, text.encode())


def read_judging(folder: Path) -> Judging:
    """Raises UsageError when there is none, SourceError when it is not one of ours."""
    path = folder / JUDGING
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}; take {ROWS} away and judge the run again.", code="run_dir"
        ) from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than 1 MiB; it is no note of this tool.", code="run_dir")
    try:
        top = Fields(loads(data.decode()), file=str(path))
    except ValueError as error:
        raise SourceError(f"This note is not strict JSON: {error}.", file=str(path)) from error
    top.one_of("format", (FORMAT,))
    judging = Judging(tool_version=top.text("tool_version"), runner=top.mapping("runner"), isolation=top.mapping("isolation"))
    top.nothing_else()
    return judging
