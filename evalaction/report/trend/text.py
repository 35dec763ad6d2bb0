"""A trend for a terminal."""

from __future__ import annotations

from evalaction.method.records import Quoted, Sentence
from evalaction.method.series.trend import Trend
from evalaction.report.encode import term
from evalaction.report.trend.cells import HEAD, LEGEND, row, sentences, shape, titles


def trend_text(trend: Trend) -> str:
    """The newest run last, as in a log."""
    from tabulate import tabulate

    lines = [f"{titles(trend)}Trend of {term(trend.newest.name, 80)}: {shape(trend)}", ""]
    lines += [f"  {plain(sentence)}" for sentence in sentences(trend)]
    rows = [[plain(part, 30) for part in row(point)] for point in trend.points]
    lines += ["", tabulate(rows, headers=HEAD, tablefmt="plain", disable_numparse=True), ""]
    return "\n".join([*lines, *LEGEND]) + "\n"


def plain(sentence: Sentence, limit: int = 80) -> str:
    """What we did not write is cut to `limit` characters."""
    return "".join(term(part.text, limit) if isinstance(part, Quoted) else part for part in sentence)
