"""A verdict from many rows: time a row and memory a row, beside a bare json.loads of the same lines.

    python -m benchmarks.deriving [rows …]

Rows are written once by the run's own journal; each measurement is a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.made_runs import DIGEST, STARTED, write_run
from benchmarks.measuring import PYTHON, Figure
from evalaction.engine.grid import Planned
from evalaction.engine.score import score
from evalaction.method.records import Columns, Row, Usage

ITEMS = 10_000
CARD = {
    "protocol": "evalaction/1",
    "name": "benchmark",
    "exam": {"tasks": "tasks.jsonl", "data": "synthetic"},
    "endpoints": {"main": {"api": "openai", "url": "http://127.0.0.1:9", "model": "m"}},
    "arms": {"treatment": {"endpoint": "main"}},
    "limits": {"min_stable_pass": 0.8},
}
_WORDS = [hashlib.sha256(word).hexdigest() for word in (b"billing", b"account")]


def _columns(planned: Planned) -> Columns:
    """Of a hundred draws two time out, three break their contract, ten are wrong."""
    lot = (planned.item * 7 + planned.draw * 31) % 100
    if lot < 2:
        return Columns(False, "timeout")
    if lot < 5:
        return Columns(True, None, False, "not_json")
    return Columns(True, None, True, None, lot >= 15, None if lot >= 15 else "differs")


def _row(planned: Planned, item: str, half: int) -> Row:
    columns = _columns(planned)
    reached = columns.reach
    return Row(
        index=planned.index,
        item=item,
        arm=planned.arm,
        draw=planned.draw,
        half=half,
        columns=columns,
        request_sha256=DIGEST,
        endpoint="main",
        started_at=STARTED,
        ms=300 + planned.index % 700,
        status=200 if reached else None,
        text_sha256=_WORDS[planned.index % 50 == 0] if reached else None,
        parsed_sha256=_WORDS[planned.index % 50 == 0] if reached else None,
        usage=Usage(input=80, output=9) if reached else Usage(),
        served_model="m-2026-01-01" if reached else None,
        response_id=f"chatcmpl-{planned.index:012}" if reached else None,
        body_sha256=hashlib.sha256(b"%d" % planned.index).hexdigest() if reached else None,
    )


def write_rows(folder: Path, rows: int) -> None:
    """A sealed run of `rows` draws in a new folder; `rows` is a multiple of the 10,000 items, or small."""
    items = min(ITEMS, rows // 5)
    ids: dict[str, tuple[str, ...]] = {f"item-{number:06}": () for number in range(items)}
    write_run(folder, CARD, ids, arms=("treatment",), draws=rows // items, row=_row)


def _parse(folder: Path) -> None:
    with (folder / "rows.jsonl").open("rb") as file:
        for line in file:
            json.loads(line)


def _verdict(folder: Path) -> None:
    assert score(folder).counts.written


WORK: dict[str, Callable[[Path], None]] = {"parse": _parse, "verdict": _verdict}


@dataclass(frozen=True, slots=True)
class Spent:
    cpu_s: float
    peak_bytes: int


def _in_a_process(work: str, folder: Path) -> Spent:
    command = [PYTHON, "-m", "benchmarks.deriving", "--work", work, "--folder", str(folder)]
    root = Path(__file__).parent.parent
    said = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return Spent(float(said[0]), int(said[1]))


def figures(folder: Path, sizes: Sequence[int]) -> Iterator[Figure]:
    """Time a row beside json.loads at each size, then whether time and memory a row stay what they were."""
    spent: list[Spent] = []
    for rows in sizes:
        run = folder / f"rows-{rows}"
        write_rows(run, rows)
        parsed, scored = _in_a_process("parse", run), _in_a_process("verdict", run)
        spent.append(scored)
        yield Figure(
            what=f"a verdict from {rows:,} rows: CPU a row ÷ json.loads of its line",
            measured=f"{scored.cpu_s / rows * 1e6:.1f} µs",
            beside=f"{parsed.cpu_s / rows * 1e6:.1f} µs",
            ratio=scored.cpu_s / parsed.cpu_s,
        )
    less, more = sizes[0], sizes[-1]
    each = [one.cpu_s / rows * 1e6 for one, rows in zip(spent, sizes, strict=True)]
    yield Figure(
        what=f"CPU a row: {more:,} rows ÷ {less:,} rows (1: linear)",
        measured=f"{each[-1]:.1f} µs",
        beside=f"{each[0]:.1f} µs",
        ratio=each[-1] / each[0],
        goal=1.2,
    )
    grown = (spent[-1].peak_bytes - spent[0].peak_bytes) / (more - less)
    line = (folder / f"rows-{more}" / "rows.jsonl").stat().st_size / more
    yield Figure(
        what="peak memory that each further row adds ÷ bytes of its line",
        measured=f"{grown:.0f} bytes",
        beside=f"{line:.0f} bytes",
        ratio=grown / line,
        goal=0.1,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="*", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--work", choices=WORK)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.work:
        start = time.process_time()
        WORK[options.work](options.folder)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(time.process_time() - start, peak)
        return
    from benchmarks.table import show

    with tempfile.TemporaryDirectory() as folder:
        show(figures(Path(folder), options.rows))


if __name__ == "__main__":
    main()
