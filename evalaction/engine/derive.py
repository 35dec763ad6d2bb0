"""The derived files of a run: the same bytes right after the drawing and whenever they are derived again."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Protocol

from evalaction.engine.folder import DERIVED, write_files
from evalaction.engine.manifest import read_manifest
from evalaction.engine.score import score
from evalaction.method.records import Row
from evalaction.method.report import Report
from evalaction.report.markdown import comment, summary
from evalaction.report.results_json import results_json
from evalaction.report.rows_csv import COLUMNS, FIRST_PROTOCOL, first_protocol_line, heading, row_line


class Leaks(Protocol):
    def leaks_in(self, file: IO[bytes], /) -> list[str]: ...


def derive(folder: Path) -> Report:
    """Score a run, whose folder the caller has locked, and write results.json, rows.csv, comment.md, summary.md, SHA256SUMS.

    With one arm also `verdicts.csv`, the three columns of the first protocol. Raises as `score` does, before anything is
    replaced; UsageError when the disk refuses.
    """
    manifest = read_manifest(folder)
    with tempfile.TemporaryFile() as all_columns, tempfile.TemporaryFile() as three_columns:
        tables = [_Table(all_columns, manifest.planned)]
        if len(manifest.arms) == 1:
            tables.append(_Table(three_columns, manifest.planned))

        def each(row: Row) -> None:
            for table, line_of in zip(tables, (row_line, first_protocol_line), strict=False):
                table.add(row.index, line_of(row).encode())

        report = score(folder, each)
        files: dict[str, bytes | Iterable[bytes]] = {}
        if manifest.ended is None:
            for table, name, columns in zip(tables, ("rows.csv", "verdicts.csv"), (COLUMNS, FIRST_PROTOCOL), strict=False):
                files[name] = table.lines(heading(columns).encode())
        files |= {
            "comment.md": comment(report).encode(),
            "summary.md": summary(report).encode(),
            "results.json": results_json(report).encode(),
        }
        write_files(folder, files)
    return report


def find_leaks(folder: Path, redactor: Leaks) -> list[tuple[str, str]]:
    """(file, variable) for every configured secret that a file of the run still holds, in any encoding."""
    found = []
    for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
        with path.open("rb") as file:
            found += [(path.name, name) for name in redactor.leaks_in(file)]
    return found


def drop_derived(folder: Path) -> None:
    """Take away every derived file; the rows and the manifest stay."""
    for name in DERIVED:
        (folder / name).unlink(missing_ok=True)


class _Table:
    """CSV lines that come in any order and leave in planned order; they wait in a file, not in memory."""

    def __init__(self, file: IO[bytes], planned: int) -> None:
        self._file = file
        self._places = array("Q", [0]) * (2 * planned)
        self._end = 0

    def add(self, index: int, line: bytes) -> None:
        self._file.write(line)
        self._places[2 * index : 2 * index + 2] = array("Q", (self._end, len(line)))
        self._end += len(line)

    def lines(self, heading: bytes) -> Iterator[bytes]:
        yield heading
        self._file.flush()
        for index in range(0, len(self._places), 2):
            place, length = self._places[index : index + 2]
            if length:
                self._file.seek(place)
                yield self._file.read(length)
