"""Cells and texts → the page's one block of data: JSON that no HTML parser can end early, columns in place of records.

`runs` are values with how often each follows itself: `[7, 3, 0, 1]` is 7, 7, 7, 0.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from evalaction.method.records import ArmName
from evalaction.method.report import Report
from evalaction.report.cells import Cells, Side, Words
from evalaction.report.html.kept import HEAD, Kept, Source
from evalaction.report.moved import KINDS

FORMAT = "evalaction-page/1"
_PLURAL = {"reason": "reasons", "finish": "finishes", "endpoint": "endpoints", "behind": "behinds"}
MOST_DETAILED = 400_000
"""Draws up to which the page holds more of each than its mark."""
_ACTIVE = re.compile("[<>&\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encoded(value: object) -> str:
    """JSON inert in any place of a page: `<`, `>`, `&`, line separators, half characters and what turns text around or hides
    in it are escapes."""
    return _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", _encode(value))


def runs(values: Iterable[int]) -> list[int]:
    return [number for value, same in groupby(values) for number in (value, sum(1 for _ in same))]


def detailed(cells: Cells) -> bool:
    return len(cells) <= MOST_DETAILED


def chunks(report: Report, cells: Cells, source: Source, kept: Kept, moved: Mapping[str, set[str]]) -> Iterator[str]:
    """The text of the block, piece by piece."""
    head: dict[str, Any] = {
        "format": FORMAT,
        "draws": cells.draws,
        "arms": cells.arms,
        "judged": bool(report.arms),
        "ids": cells.ids,
        "halves": "".join(map(str, cells.halves)) if report.halves else "",
        "kinds": [_bits(moved.get(item, ())) for item in cells.ids] if moved else [],
        "tags": _tagged(cells),
        "unchanged": cells.unchanged,
        "routes": [_routes(cells.routes.get(arm, ())) for arm in cells.arms] if cells.routes else [],
        "detailed": detailed(cells),
    }
    numbers: dict[str, list[int]] = {}
    if detailed(cells):
        for column, words in _words(cells):
            head[_PLURAL[column]], numbers[column] = _in_order(words, [getattr(side, column) for side in cells.sides.values()])
    yield encoded(head)[:-1]
    yield ',"sides":['
    for number, arm in enumerate(cells.arms):
        yield "," * bool(number) + encoded(_side(cells.sides[arm], numbers))
    yield "]"
    for name, places, limit in (("whole", kept.whole, None), ("heads", kept.heads, HEAD)):
        yield f',"{name}":{{'
        yield from _texts(cells, source, places, limit)
        yield "}"
    yield "}"


def _words(cells: Cells) -> tuple[tuple[str, Words], ...]:
    return (("reason", cells.reasons), ("finish", cells.finishes), ("endpoint", cells.endpoints), ("behind", cells.behind))


def _bits(kinds: Iterable[str]) -> int:
    return sum(1 << KINDS.index(kind) for kind in kinds)


def _routes(rules: Sequence[str | None]) -> list[Any]:
    """The rules of one arm, and the number of its rule for each item; 0 is none."""
    words = Words()
    numbers = [words.number(rule) for rule in rules]
    return [words.names, runs(numbers)]


def _tagged(cells: Cells) -> list[list[Any]]:
    """Each tag with the indices of its items."""
    found: dict[str, list[int]] = {}
    for index, tags in enumerate(cells.tags):
        for tag in tags:
            found.setdefault(tag, []).append(index)
    return [[tag, found[tag]] for tag in sorted(found)]


def _in_order(words: Words, columns: Sequence[array[int]]) -> tuple[list[str], list[int]]:
    """The words in the order in which the exam meets them, and the new number of each old one: rows come in any order."""
    met = dict.fromkeys(number for column in columns for number, _ in groupby(column) if number)
    numbers = [0] * len(words.names)
    for new, old in enumerate(met, start=1):
        numbers[old] = new
    return ["", *(words.names[old] for old in met)], numbers


def _side(side: Side, numbers: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The columns of one arm; its marks alone where there are no `numbers` of words."""
    value: dict[str, Any] = {"letters": side.letters.decode()}
    if numbers:
        value |= {
            "ms": side.ms.tolist(),
            "in": runs(side.tokens_in),
            "out": side.tokens_out.tolist() if any(side.tokens_out) else [],
            "status": runs(side.status),
        }
        value |= {column: runs(map(new.__getitem__, getattr(side, column))) for column, new in numbers.items()}
    return value


def _texts(cells: Cells, source: Source, places: Sequence[tuple[ArmName, int]], limit: int | None) -> Iterator[str]:
    size = len(cells.ids) * cells.draws
    comma = ""
    for arm, cell in places:
        text = source.text(arm, cell)
        if text is not None:
            yield f'{comma}"{cells.arms.index(arm) * size + cell}":{encoded(text[:limit])}'
            comma = ","
