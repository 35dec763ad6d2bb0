"""Trends as one page that loads nothing: no script, no network, light and dark."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from evalaction.method.records import Quoted, Sentence
from evalaction.method.series.trend import Trend
from evalaction.report.encode import cut, html, one_line
from evalaction.report.trend.cells import HEAD, LEGEND, row, sentences, shape, titles
from evalaction.report.trend.svg import trend_svg

STYLE = """\
:root{color-scheme:light dark;
--trend-reach:#7e22ce;--trend-first:#6b7280;--trend-stable:#1d4ed8;--trend-flip:#c2410c;--trend-p95:#0f766e}
@media(prefers-color-scheme:dark){:root{
--trend-reach:#c084fc;--trend-first:#9ca3af;--trend-stable:#60a5fa;--trend-flip:#fb923c;--trend-p95:#2dd4bf}}
body{background:Canvas;color:CanvasText;font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:90rem;padding:1rem}
svg.trend{display:block;width:100%;min-width:40rem;max-width:72rem;height:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;white-space:nowrap}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}
small{opacity:.8}
.alarm{border-left:.3rem solid #c2410c;padding-left:.7rem}
"""


def trend_page(trends: Sequence[Trend]) -> str:
    """A whole page, a section a card."""
    allowed = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{allowed}'\">"
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>evalaction: trend</title>'
        f"<style>{STYLE}</style></head><body><main>\n" + "\n".join(map(trend_section, trends)) + "\n</main></body></html>\n"
    )


def trend_section(trend: Trend) -> str:
    """The section of one card, to stand in any page: heading, sentences, chart and table."""
    head = "".join(f'<th scope="col">{html(name)}</th>' for name in HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{inline(part)}</td>" for part in row(point)) + "</tr>" for point in reversed(trend.points)
    )
    first, *others = sentences(trend)
    told = f'<p class="alarm"><strong>{inline(first)}</strong></p>' if trend.alarm else f"<p>{inline(first)}</p>"
    name = html(cut(one_line(trend.newest.name), 80))
    return (
        f"<section><h2>{titles(trend)}Trend of <code>{name}</code>: {html(shape(trend))}</h2>"
        + told + "".join(f"<p>{inline(sentence)}</p>" for sentence in others)
        + f'<div class="scroll" tabindex="0" role="region" aria-label="Chart">{trend_svg(trend.points)}</div>'
        + '<div class="scroll" tabindex="0" role="region" aria-label="Table of runs">'
        + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        + "".join(f"<p><small>{html(line)}</small></p>" for line in LEGEND)
        + "</section>"
    )  # fmt: skip


def inline(sentence: Sentence) -> str:
    return "".join(
        f"<code>{html(cut(one_line(part.text), 80))}</code>" if isinstance(part, Quoted) else html(part) for part in sentence
    )
