"""Draws for pages and test reports, written as strips of letters, with texts of replies beside them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from support import reports, runs
from support.runs import Strips, names

from evalaction.method.records import ARMS, ArmName, Row
from evalaction.method.report import Report
from evalaction.report.cells import Cells
from evalaction.report.html.page import Drawn, pieces

Place = tuple[ArmName, int]


def render_html(report: Report, drawn: Drawn | None = None) -> str:
    """The page as one string."""
    return "".join(pieces(report, drawn))


class Held:
    """Texts by arm and place, as a run folder would hold them. `asked` counts how often each was read."""

    def __init__(self, texts: Mapping[Place, str] | None = None) -> None:
        self.texts = dict(texts or {})
        self.asked: list[Place] = []

    def size(self, arm: ArmName, cell: int, /) -> int:
        return len(self.texts.get((arm, cell), "").encode("utf-8", "surrogatepass"))

    def text(self, arm: ArmName, cell: int, /) -> str | None:
        self.asked.append((arm, cell))
        return self.texts.get((arm, cell))


def cells(
    strips: Strips, ids: Sequence[str] | None = None, tags: Mapping[str, Sequence[str]] | None = None, **more: Any
) -> Cells:
    """The cells of strips; a `.` in a strip is a draw that is not there."""
    ids = ids or names(len(strips["treatment"]))
    made = Cells(
        [(one, (tags or {}).get(one, ())) for one in ids],
        [arm for arm in ARMS if arm in strips],
        len(strips["treatment"][0]),
        **more,
    )
    for arm in (arm for arm in ARMS if arm in strips):
        for item, strip in zip(ids, strips[arm], strict=True):
            for draw, letter in enumerate(strip):
                if letter != ".":
                    made.add(row(arm=arm, draw=draw, letter=letter, item=item))
    return made


def row(item: str = "t0000", arm: ArmName = "treatment", draw: int = 0, letter: str = "p", **changes: Any) -> Row:
    """A row whatever its id is; the id of an exam holds no half character, but nothing here relies on it."""
    return replace(runs.row(arm=arm, draw=draw, letter=letter), item=item, **changes)


SMALL: Strips = {
    "control": ["ppppp", "ppppp", "ppkpp", "kkkkk"],
    "treatment": ["kkkkk", "kpkkp", "ckkkk", "ppupe"],
}
SMALL_IDS = ("t0014", "t0031", "t0052", "t0007")


def small() -> tuple[Report, Drawn]:
    """Four items of two arms, with a text for every draw that reached."""
    made = cells(SMALL, SMALL_IDS, {"t0014": ["billing"], "t0031": ["billing", "outage"]})
    for draw, ms in enumerate((310, 420, 1250, 700, 9000)):
        made.add(row("t0007", "control", draw, "k", ms=ms, finish_reason="stop", status=200))
    texts: dict[Place, str] = {
        (arm, item * 5 + draw): f'{{"label": "refund", "draw": {draw}}}'
        for arm in ARMS
        for item, strip in enumerate(SMALL[arm])
        for draw, letter in enumerate(strip)
        if letter != "u"
    }
    texts["treatment", 3 * 5 + 2] = '{"error": "overloaded"}'
    return reports.behind(), Drawn(made, Held(texts))


def hostile() -> tuple[Report, Drawn]:
    """Every hostile text as id, tag, reason, finish reason, endpoint and reply."""
    ids = [
        *reports.HOSTILE,
        "<script>alert(1)</script>",
        "x" * 200,
        "</script><script>alert(2)</script>",
        "\u2028\u2029",
        "עברית",
    ]
    ids = list(dict.fromkeys(ids))
    made = cells({"control": ["p"] * len(ids), "treatment": ["k"] * len(ids)}, ids, {one: [one] for one in ids})
    texts: dict[Place, str] = {}
    for number, one in enumerate(ids):
        bad = row(one, "treatment", 0, "k", finish_reason=one, endpoint=one)
        made.add(replace(bad, columns=replace(bad.columns, check_reason=one)))
        texts["treatment", number] = one + "\n" + "".join(ids)
    return reports.hostile(), Drawn(made, Held(texts))


def refused() -> tuple[Report, None]:
    return reports.hash_mismatch(), None


def data_of(page: str) -> dict[str, Any]:
    """The block of data of a page, as the page's script reads it."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    held: dict[str, Any] = json.loads(found[1])
    return held


def shown(page: str) -> str:
    """What a reader without script sees, as one line of text."""
    bare = re.sub(r"<(script|style|noscript)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", bare)))
