"""The derived files of a run: the same bytes right after the drawing and whenever they are derived again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Protocol, TypeAlias

from evalaction.engine.folder import DERIVED, write_files
from evalaction.engine.harvest import Harvest, harvest
from evalaction.engine.manifest import read_manifest
from evalaction.engine.score import score_rows
from evalaction.method.report import Report
from evalaction.report import junit
from evalaction.report.badge import badge_json
from evalaction.report.html import page
from evalaction.report.markdown import comment, summary
from evalaction.report.results_json import results_json
from evalaction.report.rows_csv import COLUMNS, FIRST_PROTOCOL, heading

Files: TypeAlias = "dict[str, bytes | Iterable[bytes]]"


class Leaks(Protocol):
    def leaks_in(self, file: IO[bytes], /) -> list[str]: ...


def derive(folder: Path) -> Report:
    """Score a run, whose folder the caller has locked, and write everything that follows from its rows.

    That is results.json, rows.csv, comment.md, summary.md, report.html, junit.xml, badge.json and SHA256SUMS; with one arm also
    `verdicts.csv`, the three columns of the first protocol. Raises as `score` does, before anything is replaced; UsageError when
    the disk refuses.
    """
    manifest = read_manifest(folder)
    with harvest(folder, manifest) as draws:
        report = score_rows(folder, manifest, draws.add)
        files: Files = {}
        if manifest.ended is None:
            files["rows.csv"] = _table(draws, "rows.csv", COLUMNS)
            if len(manifest.arms) == 1:
                files["verdicts.csv"] = _table(draws, "verdicts.csv", FIRST_PROTOCOL)
        write_files(folder, files | rendered(report, draws))
    return report


def rendered(report: Report, draws: Harvest | None = None) -> Files:
    """The files that show a report; those of a run whose card could not be read have no draws."""
    drawn = draws.drawn() if draws else None
    return {
        "comment.md": comment(report).encode(),
        "summary.md": summary(report).encode(),
        "results.json": results_json(report).encode(),
        "badge.json": badge_json(report).encode(),
        "junit.xml": _encoded(junit.pieces(report, draws.asked() if draws else None)),
        "report.html": _encoded(page.pieces(report, drawn)),
    }


def page_of(folder: Path) -> Iterator[str]:
    """The page of a run, piece by piece, without writing anything. Raises as `score` does."""
    manifest = read_manifest(folder)
    with harvest(folder, manifest) as draws:
        report = score_rows(folder, manifest, draws.add)
        yield from page.pieces(report, draws.drawn())


def junit_of(folder: Path) -> Iterator[str]:
    """The same for `junit.xml`."""
    manifest = read_manifest(folder)
    with harvest(folder, manifest) as draws:
        report = score_rows(folder, manifest, draws.add)
        yield from junit.pieces(report, draws.asked())


def _encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    return (piece.encode() for piece in pieces)


def _table(draws: Harvest, name: str, columns: tuple[str, ...]) -> Iterator[bytes]:
    yield heading(columns).encode()
    yield from draws.lines(name)


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
