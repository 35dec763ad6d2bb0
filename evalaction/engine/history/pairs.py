"""One side of a comparison: a run folder, or an entry of a history with its table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalaction.engine.folder import MANIFEST
from evalaction.engine.history.entry import comparable, read_run
from evalaction.errors import UsageError
from evalaction.method.canonical import sha256
from evalaction.method.counting.halves import half_of
from evalaction.method.counting.tally import GridError, Tally
from evalaction.method.records import ARMS, ArmName, Columns, Row
from evalaction.method.series.entry import Comparable, Entry
from evalaction.method.series.entry_json import read_entry
from evalaction.method.series.places import ENTRY, MAX_ENTRY, MAX_TABLE, TABLE

_ARMS: Mapping[str, ArmName] = {arm: arm for arm in ARMS}
_FLAGS = {"": None, "true": True, "false": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    comparable: Comparable
    tally: Tally
    """Items by their ids."""
    name: str
    """Of the card (untrusted)."""
    started_at: str
    commit: str | None
    titles: tuple[str, ...]


def read_side(folder: Path) -> Side:
    """Raises UsageError for a folder that is neither, or whose grid is not complete; for a run's own faults as `score` does."""
    side = _of_run(folder) if (folder / MANIFEST).exists() or not (folder / ENTRY).exists() else _of_entry(folder)
    if not side.tally.complete:
        raise UsageError(f"The run in {folder} is not complete, so its items cannot be paired.", code="not_comparable")
    return side


def _of_run(folder: Path) -> Side:
    scored = read_run(folder, by_id=True)
    manifest = scored.manifest
    return Side(
        comparable=comparable(manifest, scored.card),
        tally=scored.tally,
        name=scored.card.name,
        started_at=manifest.started_at,
        commit=manifest.commit,
        titles=tuple(scored.report.titles),
    )


def _of_entry(folder: Path) -> Side:
    path = "/".join((*folder.resolve().parts[-4:], ENTRY))
    entry = read_entry(_bytes(folder / ENTRY, MAX_ENTRY), path=path)
    data = _bytes(folder / TABLE, MAX_TABLE)
    if entry.table_sha256 is None or sha256(data) != entry.table_sha256:
        raise UsageError(f"The {TABLE} in {folder} is not the one of its entry.", code="not_comparable")
    return Side(
        comparable=entry.comparable,
        tally=_tally(entry, data),
        name=entry.name,
        started_at=entry.started_at,
        commit=entry.commit,
        titles=entry.titles,
    )


def _bytes(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", code="not_comparable") from error
    if len(data) > limit:
        raise UsageError(f"{path} is larger than {limit >> 20} MiB.", code="not_comparable")
    return data


def _tally(entry: Entry, data: bytes) -> Tally:
    try:
        rows = list(_rows(data.decode()))
        tally = Tally(sorted({row.item for row in rows}), {}, entry.comparable.arms, entry.draws, "")
        for row in rows:
            tally.add(row)
    except (ValueError, KeyError, TypeError, csv.Error, GridError) as error:
        raise UsageError(
            f"The {TABLE} of the entry {entry.run} is not a table of ours: {error}.", code="not_comparable"
        ) from error
    return tally


def _rows(text: str) -> Iterator[Row]:
    return (_row(line) for line in csv.DictReader(io.StringIO(text, newline=""), strict=True))


def _row(line: Mapping[str, str]) -> Row:
    columns = Columns(
        _FLAGS[line["reach"]] is True,
        line["reach_reason"] or None,
        _FLAGS[line["contract"]],
        line["contract_reason"] or None,
        _FLAGS[line["check"]],
        line["check_reason"] or None,
    )
    return Row(
        index=0,
        item=line["task"],
        arm=_ARMS[line["arm"]],
        draw=int(line["draw"]),
        half=half_of(line["task"], ""),
        columns=columns,
        request_sha256=line["request_sha256"],
        endpoint=line["endpoint"],
        started_at="",
        ms=int(line["ms"]),
    )
