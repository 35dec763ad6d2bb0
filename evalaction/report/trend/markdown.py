"""A trend for GitHub: a sentence, a small Mermaid chart of numbers and fixed words alone, and a table that says the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalaction.method.records import Quoted, Sentence
from evalaction.method.series.trend import Point, Trend
from evalaction.report.encode import cell, prose
from evalaction.report.trend.cells import HEAD, LEGEND, row, sentences, shape, share, titles

MOST_IN_CHART = 30
MOST_ROWS = 30
_COLOURS = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#d97706, #3b82f6"}}}}%%'
"""Of bars and line, for light and dark: a chart's own bars can hardly be seen on white."""


def trend_markdown(trend: Trend, *, heading: str = "###", rows: int = MOST_ROWS) -> str:
    """The section of one card. `rows` newest runs are listed."""
    parts = [f"{heading} {titles(trend)}Trend of {cell(trend.newest.name, 80)}: {prose(shape(trend))}"]
    parts += [f"- {inline(sentence)}" for sentence in sentences(trend)]
    text = parts[0] + "\n\n" + "\n".join(parts[1:])
    chart = mermaid(trend.points)
    if chart:
        bars = " Bars: flip." if trend.newest.draws > 1 else ""
        text += (
            f"\n\n{chart}\n\n<sub>Line: stable pass.{bars} Percent of items by run, as in the table; "
            "where lost draws leave a count open, its middle. Runs without valid data are in the table alone.</sub>"
        )
    shown = trend.points[-rows:]
    text += "\n\n" + table(HEAD, [row(point) for point in reversed(shown)])
    hidden = len(trend.points) - len(shown)
    legend = [*LEGEND, *([f"{hidden:,} older runs are in the history."] if hidden else [])]
    return text + "\n\n" + "".join(f"<sub>{prose(line)}</sub><br>\n" for line in legend)


def mermaid(points: Sequence[Point]) -> str:
    """Stable pass as a line, flip as bars (none at K = 1), at most 30 runs; empty with fewer than two runs of valid data.

    Numbers and words of ours alone: nothing that anybody else wrote comes in here.
    """
    shown = [(point.number, share(point.stable), share(point.flip)) for point in points[-MOST_IN_CHART:] if point.entry.valid]
    drawn = [(number, stable, flip) for number, stable, flip in shown if stable is not None]
    if len(drawn) < 2:
        return ""
    flips = [flip for _, _, flip in drawn if flip is not None]
    lines = [
        "```mermaid",
        _COLOURS,
        "xychart-beta",
        f'    title "stable pass{" (line) and flip (bars)" if flips else ""}, percent of items"',
        f'    x-axis "run" [{", ".join(str(number) for number, _, _ in drawn)}]',
        '    y-axis "percent" 0 --> 100',
        *([f"    bar [{', '.join(map(_percent, flips))}]"] if flips else []),
        f"    line [{', '.join(_percent(stable) for _, stable, _ in drawn)}]",
        "```",
    ]
    return "\n".join(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[Sentence]]) -> str:
    lines = [tuple(map(prose, head)), ("---",) * len(head), *(tuple(map(inline, cells)) for cells in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def inline(sentence: Sentence) -> str:
    return "".join(cell(part.text, 80) if isinstance(part, Quoted) else prose(part) for part in sentence)


def _percent(value: float) -> str:
    return f"{value * 100:.1f}"
