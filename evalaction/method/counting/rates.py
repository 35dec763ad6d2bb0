"""Columns, first, stable and flip of one arm, counted from the letters of its draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from evalaction.method.counting.tally import CHECKER_ERROR, OFF_CONTRACT, PASS, UNREACHED, WRONG, ArmTally
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.report import ColumnRates, DrawRates, TagReport


def column_rates(letters: bytes | bytearray) -> ColumnRates:
    """Each column over its own denominator, `end_to_end` over all draws; `letters` in any order."""
    passed, wrong = letters.count(PASS), letters.count(WRONG)
    off, errors = letters.count(OFF_CONTRACT), letters.count(CHECKER_ERROR)
    contracted = passed + wrong + errors
    reached = contracted + off
    return ColumnRates(
        reach=Rate(reached, reached + letters.count(UNREACHED)),
        contract=Rate(contracted, reached),
        check=Rate(passed, passed + wrong),
        end_to_end=Rate(passed, len(letters)),
        checker_errors=errors,
    )


def draw_rates(strips: Iterable[bytes], draws: int) -> DrawRates:
    """First, stable and flip over items, with the bounds that draws without a verdict leave open."""
    items = first = first_open = stable = stable_open = flip = flip_open = lost = 0
    for strip in strips:
        items += 1
        passes = strip.count(PASS)
        fails = strip.count(WRONG) + strip.count(OFF_CONTRACT)
        first += strip[0] == PASS
        first_open += strip[0] in {UNREACHED, CHECKER_ERROR}
        stable += passes == draws
        flip += passes > 0 and fails > 0
        if passes + fails < draws:
            lost += 1
            stable_open += fails == 0
            flip_open += not (passes and fails)
    return DrawRates(
        first=Bounded(first, first + first_open, items),
        stable=Bounded(stable, stable + stable_open, items),
        flip=Bounded(flip, flip + flip_open, items) if draws > 1 else None,
        runner_error_items=lost,
    )


def rates_of(side: ArmTally, items: Sequence[int]) -> tuple[ColumnRates, DrawRates]:
    """Both tables over some items of an arm."""
    return column_rates(b"".join(side.strips(items))), draw_rates(side.strips(items), side.draws)


def tag_reports(side: ArmTally, tagged: dict[str, list[int]]) -> tuple[TagReport, ...]:
    """The same two tables per tag, tags in alphabetical order."""
    found = []
    for tag in sorted(tagged):
        columns, draws = rates_of(side, tagged[tag])
        found.append(TagReport(tag=tag, columns=columns, draws=draws))
    return tuple(found)


_NEVER = -1


def percentile_ms(side: ArmTally, items: Sequence[int], percent: int, *, unreached_ms: int | None) -> int | None:
    """Nearest-rank percentile of the wall times, over all draws of the items.

    A draw that never arrived took `unreached_ms`; None means for ever, and the percentile is None when it falls among those.
    """
    counted: Counter[int] = Counter()  # few distinct times, however many draws
    for item in items:
        start = item * side.draws
        times = side.ms[start : start + side.draws]
        counted.update(_NEVER if letter == UNREACHED else ms for letter, ms in zip(side.strip(item), times, strict=True))
    total = counted.total()
    missing = counted.pop(_NEVER, 0)
    if unreached_ms is not None:
        counted[unreached_ms] += missing
    rank, seen = -(-total * percent // 100), 0
    for ms in sorted(counted):
        seen += counted[ms]
        if 0 < rank <= seen:
            return ms
    return None
