"""The page of a large run in a real browser: opening it beside opening an empty page, and scrolling its list.

    python -m benchmarks.html_page [--items 10000] [--draws 10] [--keep FOLDER]

Needs a Chromium: on the path, or named in the variable CHROMIUM.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.made_runs import DIGEST, STARTED, write_run
from benchmarks.measuring import Figure, median, spread
from evalaction.engine.derive import derive
from evalaction.engine.grid import Planned
from evalaction.method.records import ARMS, Columns, Row, Usage

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.browser import Page, chromium, opened, started

CARD: dict[str, Any] = {
    "protocol": "evalaction/1",
    "name": "benchmark",
    "exam": {"tasks": "tasks.jsonl", "data": "synthetic"},
    "endpoints": {"main": {"api": "openai", "url": "http://127.0.0.1:9", "model": "m"}},
    "arms": {"treatment": {"endpoint": "main", "system": "b.md"}, "control": {"endpoint": "main", "system": "a.md"}},
    "sign": {"claim": "not_behind", "margin": 0.1, "seed": "benchmark", "metric": "mean"},
    "limits": {"between": {"max_flip_gain": 0.1}},
}
EMPTY = "<!doctype html><title>empty</title><p>Nothing."
_TAGS = ("billing", "outage", "account", "other")
_WORDS = ("the", "customer", "asks", "for", "a", "refund", "since", "export", "of", "invoice", "never", "finished")


def _lot(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4])


def _columns(planned: Planned) -> Columns:
    """Items differ in how often they fail; the treatment fails a little more often than the control."""
    hard = _lot("item", planned.item) % 100
    lot = _lot(planned.item, planned.arm, planned.draw) % 100
    if lot == 0:
        return Columns(False, "status:503")
    if lot < 3:
        return Columns(True, None, False, "not_json: Expecting value, at the beginning")
    if lot < 4:
        return Columns(True, None, True, None, None, "checker:timeout")
    wrong = hard < 8 or (hard < 20 and lot < (55 if planned.arm == "treatment" else 30))
    return Columns(True, None, True, None, not wrong, "differs: expected “refund”, got “rebate”" if wrong else None)


def _row(planned: Planned, item: str, half: int) -> Row:
    columns = _columns(planned)
    lot = _lot("ms", planned.index)
    slow = 1 if planned.arm == "control" else 1.25
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
        ms=int(slow * (300 + 40_000 / (20 + lot % 500) + lot % 97)),
        status=200 if columns.reach else 503,
        text_sha256=DIGEST if columns.reach else None,
        error_head=None if columns.reach else '{"error": "overloaded"}',
        finish_reason="stop" if columns.reach else None,
        usage=Usage(input=80 + planned.item % 60, output=20 + lot % 120) if columns.reach else Usage(),
        served_model="m-2026-01-01" if columns.reach else None,
    )


def _text(planned: Planned) -> str:
    words = (_WORDS[_lot(planned.index, number) % len(_WORDS)] for number in range(20))
    return json.dumps({"label": "refund", "why": " ".join(words)})


def write_texts(folder: Path, items: int, draws: int) -> None:
    """A sealed run of two arms with all its texts, in a new folder."""
    ids = {f"ticket-{number:05}": (_TAGS[number % len(_TAGS)],) for number in range(items)}
    write_run(folder, CARD, ids, arms=ARMS, draws=draws, row=_row, text=_text)


@dataclass(frozen=True, slots=True)
class Opened:
    """Seconds from the navigation until two frames after loading, on the clock and of the page's own thread."""

    wall_s: float
    cpu_s: float


def _cpu_s(page: Page) -> float:
    found = page.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in found if one["name"] == "ThreadTime"))


def _opening(program: str, path: Path, rounds: int) -> list[Opened]:
    """Each in a browser of its own."""
    spent = []
    for _ in range(rounds):
        with started(program) as browser, opened(browser, path.parent / "empty.html") as page:
            page.send("Performance.enable", timeDomain="threadTicks")
            start, before = time.perf_counter(), _cpu_s(page)
            page.open(path)
            page.settle()
            spent.append(Opened(time.perf_counter() - start, _cpu_s(page) - before))
            assert not page.complaints, page.complaints
    return spent


_FRAMES = 120
_SCROLL = """new Promise((done) => {
  const view = document.querySelector('.view');
  let left = FRAMES;
  const step = () => { view.scrollTop += 120; left -= 1; if (left) requestAnimationFrame(step); else done(0); };
  requestAnimationFrame(step);
})""".replace("FRAMES", str(_FRAMES))


def _frame_ms(program: str, path: Path) -> float:
    """CPU of the page's thread for a frame in which the list moves by four rows."""
    with started(program) as browser, opened(browser, path) as page:
        page.send("Performance.enable", timeDomain="threadTicks")
        before = _cpu_s(page)
        page.run(_SCROLL)
        return (_cpu_s(page) - before) / _FRAMES * 1000


def figures(folder: Path, *, items: int, draws: int, rounds: int) -> Iterator[Figure]:
    """Nothing where there is no browser."""
    program = chromium()
    if program is None:
        print("There is no Chromium here: install it, or name it in the variable CHROMIUM.")
        return
    run = folder / "run"
    write_texts(run, items, draws)
    start = time.process_time()
    derive(run)
    derived = time.process_time() - start
    path = run / "report.html"
    (run / "empty.html").write_text(EMPTY)
    empty, whole = _opening(program, run / "empty.html", rounds), _opening(program, path, rounds)
    walls, cpus = [one.wall_s for one in whole], [one.cpu_s for one in whole]
    bare = [one.wall_s for one in empty]
    yield Figure(
        what=f"opening {items:,} items × {draws} draws × 2 arms ({path.stat().st_size / 2**20:.1f} MiB) ÷ an empty page",
        measured=spread(walls, "s"),
        beside=spread(bare, "s"),
        ratio=median(walls) / median(bare),
    )
    yield Figure(what="opening it ÷ two seconds", measured=spread(walls, "s"), beside="2 s", ratio=median(walls) / 2, goal=1)
    yield Figure(
        what="CPU of its thread until it is there ÷ two seconds (whatever else the machine does)",
        measured=spread(cpus, "s"),
        beside="2 s",
        ratio=median(cpus) / 2,
        goal=0.5,
    )
    frame = _frame_ms(program, path)
    yield Figure(
        what="CPU of its thread for a frame that scrolls four rows ÷ a sixtieth of a second",
        measured=f"{frame:.1f} ms",
        beside="16.7 ms",
        ratio=frame / (1000 / 60),
        goal=1,
    )
    each = derived / (items * draws * 2)
    yield Figure(
        what="CPU a draw to derive every file of the run ÷ a millisecond",
        measured=f"{each * 1e6:.0f} µs",
        beside="1000 µs",
        ratio=each * 1000,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.html_page", description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="leave the run in this new folder")
    options = parser.parse_args()
    from benchmarks.table import show

    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        show(figures(folder, items=options.items, draws=options.draws, rounds=options.rounds))


if __name__ == "__main__":
    main()
