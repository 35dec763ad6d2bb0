"""Report and draws → `junit.xml`, in the dialect that Jenkins, GitLab and the common parsers read.

A suite for the verdict (a case for the outcome, the claim and each limit), and a suite per arm with a case per item: `failure`
where a draw broke its contract or failed its check, `error` where draws have no verdict and none failed, `skipped` where nothing
was drawn. Words of others are attribute or element text for XML 1.0; there is no CDATA.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from evalaction.errors import Outcome
from evalaction.method.records import ArmName, Sentence
from evalaction.method.report import LimitResult, Report
from evalaction.report.cells import MISSING, Cells
from evalaction.report.encode import cut, xml
from evalaction.report.layout import mark_of, titles_of
from evalaction.report.markdown import STRIP_WORDS
from evalaction.report.results_json import sentence
from evalaction.report.tables import bound_text, limit_words, measured_text

Kind: TypeAlias = Literal["passed", "failure", "error", "skipped"]
_KINDS: Final[dict[str, Kind]] = {"pass": "passed", "fail": "failure", "neutral": "skipped"}
_LIMITS: Final[dict[str, Kind]] = {"held": "passed", "breached": "failure", "undecided": "error"}
_LONGEST = 400
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_COLUMN = {"k": "check", "c": "contract", "u": "reach", "e": "checker"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Case:
    name: str
    kind: Kind
    type: str = ""
    """A word for machines: the outcome, a column, the state of a limit."""
    message: str = ""
    lines: tuple[str, ...] = ()
    ms: int = 0


def junit(report: Report, cells: Cells | None = None) -> str:
    """The file's text; see `pieces`."""
    return "".join(pieces(report, cells))


def pieces(report: Report, cells: Cells | None = None) -> Iterator[str]:
    """The file, piece by piece; the counts of the arms stand before their cases."""
    verdict = list(_verdict(report))
    arms: tuple[ArmName, ...] = cells.arms if cells else ()
    counts = {arm: _counted_items(cells, arm) for arm in arms if cells}
    total = sum(counts.values(), start=_counted(verdict))
    name = " · ".join([*titles_of(report), report.name, *_weak(report)])
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="{_text(name)}"{_numbers(total, skipped=False)}>\n'
    yield from _suite(report, "verdict", _counted(verdict), verdict)
    for arm, counted in counts.items():
        if cells:
            yield from _suite(report, arm, counted, _items(cells, arm))
    yield "</testsuites>\n"


def _weak(report: Report) -> Iterator[str]:
    """How code of a model ran, where it could have forged its pass: a reader of this file alone must see it too."""
    isolation = report.provenance.runner.get("isolation", "")
    if "unsafe" in isolation or "forgeable" in isolation:
        yield f"isolation {isolation}"


def _suite(report: Report, name: str, counted: Counter[str], cases: Iterable[_Case]) -> Iterator[str]:
    started = (report.provenance.started_at or "")[:19]
    when = f' timestamp="{started}"' if _TIME.fullmatch(started) else ""
    yield f'  <testsuite name="{name}"{_numbers(counted, skipped=True)}{when}>\n'
    for case in cases:
        yield _written(case, f"{report.name}.{name}")
    yield "  </testsuite>\n"


def _counted(cases: Iterable[_Case]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for case in cases:
        counted[case.kind] += 1
        counted["ms"] += case.ms
    return counted


def _numbers(counted: Counter[str], *, skipped: bool) -> str:
    tests = sum(number for kind, number in counted.items() if kind != "ms")
    more = f' skipped="{counted["skipped"]}"' if skipped else ""
    failed = f'failures="{counted["failure"]}" errors="{counted["error"]}"'
    return f' tests="{tests}" {failed}{more} time="{_seconds(counted["ms"])}"'


def _seconds(ms: int) -> str:
    return f"{ms // 1000}.{ms % 1000:03d}"


def _text(text: str) -> str:
    return xml(cut(text, _LONGEST)) or "–"


def _written(case: _Case, group: str) -> str:
    opened = f'    <testcase classname="{_text(group)}" name="{_text(case.name)}" time="{_seconds(case.ms)}"'
    if case.kind == "passed":
        return f"{opened}/>\n"
    said = f'<{case.kind} type="{_text(case.type)}" message="{_text(case.message)}"'
    inside = f"{said}>{xml(chr(10).join(case.lines))}</{case.kind}>" if case.lines else f"{said}/>"
    return f"{opened}>\n      {inside}\n    </testcase>\n"


def _verdict(report: Report) -> Iterator[_Case]:
    """What a green run is: one that was judged, gated, and found good. Anything else is no pass here either."""
    outcome = report.verdict.outcome
    lines = [f"{entry.code}: {sentence(entry.sentence)}" for entry in report.verdict.breaks]
    lines += [f"What to do: {sentence(report.todo)}"] if report.todo else []
    yield _Case(
        name="outcome",
        kind=_KINDS.get(mark_of(report), "error"),
        type=outcome.value,
        message=_one_line(report.heading),
        lines=tuple(lines),
    )
    if report.claim not in {None, "none"} and report.verdict.claim_met is not None:
        met: Kind = "passed" if report.verdict.claim_met else "failure" if outcome is Outcome.FAIL else "error"
        yield _Case(name=f"claim: {report.claim}", kind=met, type=outcome.value, message=_one_line(report.heading))
    yield from map(_limit, report.limits)


def _limit(result: LimitResult) -> _Case:
    tag = f" for {result.limit.tag}" if result.limit.tag is not None else ""
    return _Case(
        name=f"limit: {limit_words(result)}{tag} {bound_text(result)}",
        kind=_LIMITS[result.state],
        type=result.state,
        message=f"measured {measured_text(result)}",
        lines=(sentence(result.sentence),),
    )


def _one_line(text: Sentence) -> str:
    return " ".join(sentence(text).split())


def _items(cells: Cells, arm: ArmName) -> Iterator[_Case]:
    for item, name in enumerate(cells.ids):
        yield _item(cells, arm, item, name)
    for name in cells.left_out:
        yield _Case(name=name, kind="skipped", type="unchanged", message="not drawn: nothing changes for this item")


def _counted_items(cells: Cells, arm: ArmName) -> Counter[str]:
    """What `_counted` finds in the cases of an arm, before any of them is written."""
    counted = Counter[str](_kind(cells.strip(arm, item)) for item in range(len(cells.ids)))
    counted["skipped"] += len(cells.left_out)
    counted["ms"] = sum(cells.sides[arm].ms)
    return counted


def _kind(strip: str) -> Kind:
    if "k" in strip or "c" in strip:
        return "failure"
    if "u" in strip or "e" in strip:
        return "error"
    return "skipped" if MISSING in strip else "passed"


def _item(cells: Cells, arm: ArmName, item: int, name: str) -> _Case:
    strip = cells.strip(arm, item)
    kind, spent = _kind(strip), cells.spent_ms(arm, item)
    if kind == "passed":
        return _Case(name=name, kind=kind, ms=spent)
    if kind == "skipped":
        missing = strip.count(MISSING)
        message = "nothing was drawn" if missing == len(strip) else f"{missing} of {len(strip)} draws are missing"
        return _Case(name=name, kind=kind, type="not_drawn", message=message, ms=spent)
    letters, what = ("kc", "failed") if kind == "failure" else ("ue", "have no verdict")
    bad = [draw for draw, letter in enumerate(strip) if letter in letters]
    said, reason = f"{len(bad)} of {len(strip)} draws {what}", cells.reason(arm, item, bad[0])
    return _Case(
        name=name,
        kind=kind,
        type=_COLUMN[strip[bad[0]]],
        message=f"{said}: {reason}" if reason else said,
        lines=tuple(_draw_lines(cells, arm, item, strip)),
        ms=spent,
    )


def _draw_lines(cells: Cells, arm: ArmName, item: int, strip: str) -> Iterator[str]:
    for draw, letter in enumerate(strip):
        reason = cells.reason(arm, item, draw)
        yield f"draw {draw}: {STRIP_WORDS.get(letter, 'not drawn')}" + (f": {cut(reason, _LONGEST)}" if reason else "")
