"""Report and draws → `report.html`, in pieces, so that no page is ever whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evalaction.method.report import ArmReport, Report
from evalaction.report import figures, tables
from evalaction.report.blocks import Document
from evalaction.report.cells import Cells
from evalaction.report.encode import one_line, visible
from evalaction.report.html import inline, pictures, spread
from evalaction.report.html.assets import environment, policy, script, style
from evalaction.report.html.data import chunks, detailed
from evalaction.report.html.kept import Kept, NoTexts, Source, choose
from evalaction.report.layout import document
from evalaction.report.markdown import STRIP_WORDS
from evalaction.report.moved import kinds

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_ROWS = 200
"""Rows of a table that are shown; the list of draws has every item."""
_PIECE = 1 << 16
_OPEN = frozenset({"moved", "limits"})
_VERDICT = frozenset({"breaks", "todo"})
_LAST = frozenset({"reasons", "costs", "diffs"})
"""Below the list of draws."""
_SHAPES = {"columns": "turned", "draws": "turned", "halves": "turned", "moved": "listed", "limits": "listed"}
"""Tables that are turned on their side, or written item by item, where the screen is narrow."""
_TITLES = {"columns": "Columns", "draws": "Draws", "halves": "Halves"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """The draws of a run, and where the texts of its replies are."""

    cells: Cells
    texts: Source


def pieces(report: Report, drawn: Drawn | None = None) -> Iterator[str]:
    """The page, piece by piece. Without draws it has no grid and no distributions."""
    rendered = environment().get_template("page.html").generate(**_context(report, document(report), drawn))
    held: list[str] = []
    size = 0
    for part in rendered:
        held.append(part)
        size += len(part)
        if size > _PIECE:
            yield _writable("".join(held))
            held, size = [], 0
    yield _writable("".join(held))


def _writable(text: str) -> str:
    """Half characters never come this far as such; a page is valid UTF-8 whatever was missed."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _context(report: Report, doc: Document, drawn: Drawn | None) -> dict[str, Any]:
    moved = kinds(report)
    context: dict[str, Any] = {
        "doc": doc,
        "verdict": [section for section in doc.sections if section.name in _VERDICT],
        "before": [section for section in doc.sections if section.name not in _VERDICT | _LAST],
        "after": [section for section in doc.sections if section.name in _LAST],
        "titles": _TITLES,
        "shapes": _SHAPES,
        "opened": _OPEN,
        "name": one_line(doc.name, inline.LONGEST_NAME) or "–",
        "shares": [(arm.arm, pictures.shares(arm)) for arm in report.arms],
        "words": STRIP_WORDS,
        "halves": pictures.halves(report),
        "bound": pictures.margin(report.verdict.bound) if report.verdict.bound else None,
        "digests": _digests(report),
        "line": inline.line,
        "cell": inline.cell,
        "visible": partial(visible, keep="\t"),
        "most_rows": MOST_ROWS,
        "style": _trusted(style()),
        "script": _trusted(script()),
        "policy": policy(),
        "grid": None,
        "latency": None,
        "tokens": [],
        "spread": spread,
    }
    if drawn and any(set(side.letters) != {ord(".")} for side in drawn.cells.sides.values()):
        kept = choose(drawn.cells, drawn.texts if detailed(drawn.cells) else NoTexts(), moved)
        context["grid"] = _grid(drawn.cells, kept)
        context["data"] = map(_trusted, chunks(report, drawn.cells, drawn.texts, kept, moved))
        if report.arms:
            context["latency"] = spread.latency(drawn.cells)
            context["arrived"] = {arm.arm: _arrived(arm) for arm in report.arms}
            counted = (spread.tokens(drawn.cells, out=True), spread.tokens(drawn.cells, out=False))
            context["tokens"] = [one for one in counted if one]
    return context


def _arrived(arm: ArmReport) -> str:
    """What a curve of latency comes to, in the figures of the tables."""
    p50, p95 = map(tables.milliseconds, (arm.p50_ms, arm.p95_ms))
    parts = (f"{figures.rate(arm.columns.reach)} arrived", f"p50 {p50}", f"p95 {p95}")
    return ", ".join(part.replace(" ", "\u00a0") for part in parts)


def _trusted(text: str) -> Markup:
    """Our own style and script, and JSON that is escaped already."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  nothing untrusted comes here unescaped


def _grid(cells: Cells, kept: Kept) -> dict[str, Any]:
    notes = []
    if not detailed(cells):
        notes.append(f"{len(cells):,} draws are too many for one page: their marks are here, their details in rows.csv.")
    elif kept.heads or kept.left_out:
        notes.append(
            f"For size, {figures.count(len(kept.whole), 'text')} are whole here, {len(kept.heads):,} by their beginning and "
            f"{kept.left_out:,} not at all; those of draws that did not pass go first. texts.jsonl has every one."
        )
    elif not kept.whole and not kept.left_out:
        notes.append("No texts of replies were kept in this run.")
    counted = ((len(cells.ids), "item"), (cells.draws, "draw"), (len(cells.arms), "arm"))
    return {"notes": notes, "size": " × ".join(figures.count(number, word) for number, word in counted)}


def _digests(report: Report) -> list[tuple[str, str]]:
    """What the footer shows shortened, whole."""
    source = report.provenance
    pairs = (
        ("commit", source.commit),
        ("base", source.base),
        ("card sha256", source.card_sha256),
        ("question", source.question_digest),
        ("exam", source.exam_id),
        ("rows sha256", source.rows_sha256),
        ("started", source.started_at),
    )
    return [(label, one_line(value)) for label, value in pairs if value]
