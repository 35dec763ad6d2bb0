"""Trends as one page that loads nothing: no script, no network, light and dark."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from evalaction.method.records import Quoted, Sentence
from evalaction.method.series.trend import Point, Trend
from evalaction.method.telling.words import count
from evalaction.report.encode import cut, html, one_line
from evalaction.report.html.palette import DARK, LIGHT, declarations
from evalaction.report.trend.cells import HEAD, LEGEND, row, sentences, shape, titles
from evalaction.report.trend.svg import trend_svg

MOST_IN_PICTURE = 120
MOST_ROWS = 1_000
_STYLE = """\
*{box-sizing:border-box}
body{background:var(--paper);color:var(--ink);margin:0;
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
header,main{margin-inline:auto;max-width:88rem;padding-inline:clamp(1rem,3vw,2rem)}
header{color:var(--quiet);font-weight:650;padding-block:1.1rem}
main{display:grid;gap:1rem;grid-template-columns:minmax(0,1fr);padding-block-end:2.5rem}
h1,h2,p{margin:0}
h1{font-size:clamp(1.25rem,1.05rem + 1vw,1.65rem);line-height:1.25;text-wrap:balance}
h2{font-size:1.2rem;line-height:1.3}
code{background:var(--soft);border-radius:.25rem;font:.9em ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;
overflow-wrap:anywhere;padding:.08em .3em}
section{background:var(--card);border:1px solid var(--line);border-radius:.75rem;display:grid;gap:.9rem;
grid-template-columns:minmax(0,1fr);padding:clamp(1rem,2.5vw,1.5rem)}
svg.trend{display:block;width:100%;min-width:40rem;max-width:72rem;height:auto}
.scroll{overflow-x:auto;background:
linear-gradient(to left,var(--card) 40%,transparent) right/2.5rem 100% no-repeat local,
linear-gradient(to left,var(--line),transparent) right/.9rem 100% no-repeat scroll}
:focus-visible{border-radius:.25rem;outline:2px solid var(--focus);outline-offset:2px}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;min-width:100%;white-space:nowrap}
th,td{text-align:start;padding:.4rem 1.1rem .4rem 0;border-block-end:1px solid var(--line)}
th{color:var(--quiet);font-weight:500}
td:first-child,.pass,.fail{font-weight:600}
.pass{color:var(--pass)}.fail{color:var(--check)}.inconclusive,.unreachable{color:var(--contract)}
.quiet{color:var(--quiet);font-size:.875rem}
.alarm{border-inline-start:.35rem solid var(--check);font-weight:600;padding-inline-start:.75rem}
@media (forced-colors:active){.scroll{background:none}}
@media print{.scroll{background:none;overflow:visible}svg.trend{min-width:0}table{white-space:normal}}
"""
_LINES = (
    "--trend-reach:var(--unreached);--trend-first:var(--quiet);--trend-stable:var(--treatment);"
    "--trend-flip:{};--trend-p95:var(--pass);"
)


def style() -> str:
    """The colours of the report's page; what a reader's system prefers decides between light and dark."""
    light, dark = (declarations(colours) + _LINES.format(flip) for colours, flip in ((LIGHT, "#c2410c"), (DARK, "#fb923c")))
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}\n" + _STYLE
    )


def trend_page(trends: Sequence[Trend]) -> str:
    """A whole page, a section a card."""
    allowed = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    title = f"<h1>Trends of {count(len(trends), 'card')}</h1>\n" if len(trends) != 1 else ""
    sections = "\n".join(_section(trend, heading="h2" if title else "h1") for trend in trends)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{allowed}'\">"
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>evalaction: trend</title>'
        f"<style>{style()}</style></head><body><header>evalaction</header><main>\n{title}{sections}\n</main></body></html>\n"
    )


def _section(trend: Trend, *, heading: str) -> str:
    """One card: heading, sentences, the chart of the newest runs and their table."""
    first, *others = sentences(trend)
    told = f'<p class="alarm">{inline(first)}</p>' if trend.alarm else f"<p>{inline(first)}</p>"
    name = html(cut(one_line(trend.newest.name), 80))
    hidden = len(trend.points) - MOST_ROWS
    legend = [*LEGEND, *([f"{hidden:,} older runs are in the history."] if hidden > 0 else [])]
    return (
        f"<section><{heading}>{titles(trend)}Trend of <code>{name}</code>: {html(shape(trend))}</{heading}>"
        + told + "".join(f"<p>{inline(sentence)}</p>" for sentence in others)
        + '<div class="scroll" tabindex="0" role="region" aria-label="Chart">'
        + trend_svg(trend.points[-MOST_IN_PICTURE:])
        + '</div><div class="scroll" tabindex="0" role="region" aria-label="Table of runs">'
        + _table(trend.points[-MOST_ROWS:])
        + "</div>" + "".join(f'<p class="quiet">{html(line)}</p>' for line in legend)
        + "</section>"
    )  # fmt: skip


def _table(points: Sequence[Point]) -> str:
    """The newest run first; how it ended is coloured as well as said."""
    head = "".join(f'<th scope="col">{html(name)}</th>' for name in HEAD)
    rows = []
    for point in reversed(points):
        run, day, outcome, *others = map(inline, row(point))
        cells = "".join(f"<td>{cell}</td>" for cell in others)
        rows.append(f'<tr><td>{run}</td><td>{day}</td><td class="{outcome}">{outcome}</td>{cells}</tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def inline(sentence: Sentence) -> str:
    return "".join(
        f"<code>{html(cut(one_line(part.text), 80))}</code>" if isinstance(part, Quoted) else html(part) for part in sentence
    )
