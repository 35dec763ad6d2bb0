"""What single draws say, in exam order: rows in, in any order, and a page or a test report reads them item by item.

Some thirty bytes a draw: words that repeat are kept once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evalaction.method.counting.reasons import code_of
from evalaction.method.counting.tally import MAX_DETAILS, letter_of
from evalaction.method.records import ARMS, ArmName, Row

MISSING: Final = "."
"""The letter of a draw that is not there."""
_MOST = (1 << 32) - 2  # a stranger's rows may say anything


class Words:
    """Texts that repeat, by number; 0 is none.

    Beyond 10,000 different ones a reason is kept as the machine's word alone, and beyond 20,000 as an ellipsis.
    """

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str | None) -> int:
        if text is None:
            return 0
        number = self._numbers.get(text)
        if number is None and len(self.names) > MAX_DETAILS:
            text = code_of(text) if len(self.names) <= 2 * MAX_DETAILS else "…"
            number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.names)
            self.names.append(text)
        return number


class Side:
    """The draws of one arm, item after item, K cells each. Token counts are one too high, so that 0 says: not known."""

    def __init__(self, cells: int) -> None:
        self.letters = bytearray(MISSING.encode() * cells)
        self.ms = array("I", [0]) * cells
        self.tokens_in = array("I", [0]) * cells
        self.tokens_out = array("I", [0]) * cells
        self.status = array("I", [0]) * cells
        self.reason = array("I", [0]) * cells
        self.finish = array("I", [0]) * cells
        self.endpoint = array("I", [0]) * cells
        self.behind = array("I", [0]) * cells


def _behind(row: Row) -> str:
    """What lies behind a draw: polls of its job, attempts that a gateway admits, counters of its trace."""
    told = {"polls": row.polls, "retries": row.retries, **(row.counters or {})}
    return ", ".join(f"{name} {number:,}" for name, number in told.items() if number is not None)


class Cells:
    """Every item × arm × draw of a run.

    `items` are (id, tags) in exam order; `unchanged` the positions of those of which both arms ask the same; `routes` per arm
    and item the rule that chose its endpoint; `left_out` ids that are not drawn because nothing changes for them.
    """

    def __init__(
        self,
        items: Sequence[tuple[str, Sequence[str]]],
        arms: Sequence[ArmName],
        draws: int,
        *,
        unchanged: Sequence[int] = (),
        routes: Mapping[ArmName, Sequence[str | None]] | None = None,
        left_out: Sequence[str] = (),
    ) -> None:
        self.ids = tuple(item for item, _ in items)
        self.tags = tuple(tuple(dict.fromkeys(tags)) for _, tags in items)
        self.arms: tuple[ArmName, ...] = tuple(arm for arm in reversed(ARMS) if arm in arms)
        """Control first."""
        self.draws = draws
        self.unchanged = tuple(unchanged)
        self.routes = {arm: tuple(rules) for arm, rules in (routes or {}).items() if rules}
        self.left_out = tuple(left_out)
        self.halves = bytearray(len(self.ids))
        """0 or 1 for each item that was drawn."""
        self.sides = {arm: Side(len(self.ids) * draws) for arm in self.arms}
        self.reasons, self.finishes, self.endpoints, self.behind = Words(), Words(), Words(), Words()
        self._index = {item: index for index, item in enumerate(self.ids)}

    def __len__(self) -> int:
        """Draws that the grid has a place for."""
        return len(self.ids) * self.draws * len(self.arms)

    def place_of(self, row: Row) -> int:
        """The place of a draw among those of all arms. Raises KeyError for an unknown item."""
        return (self.arms.index(row.arm) * len(self.ids) + self._index[row.item]) * self.draws + row.draw

    def add(self, row: Row) -> None:
        """Keep one row of the grid; whoever scores has refused all others."""
        side = self.sides[row.arm]
        item = self._index[row.item]
        cell = item * self.draws + row.draw
        self.halves[item] = row.half
        columns = row.columns
        side.letters[cell] = letter_of(columns)
        side.ms[cell] = row.ms
        side.status[cell] = row.status or 0
        side.reason[cell] = self.reasons.number(columns.reach_reason or columns.contract_reason or columns.check_reason)
        side.finish[cell] = self.finishes.number(row.finish_reason)
        side.endpoint[cell] = self.endpoints.number(row.endpoint)
        if row.counters or row.polls is not None or row.retries is not None:
            side.behind[cell] = self.behind.number(_behind(row))
        if row.usage.input is not None:
            side.tokens_in[cell] = min(row.usage.input, _MOST) + 1
        if row.usage.output is not None:
            side.tokens_out[cell] = min(row.usage.output, _MOST) + 1

    def strip(self, arm: ArmName, item: int) -> str:
        """The letters of an item's draws, `.` where one is missing."""
        return self.sides[arm].letters[item * self.draws : (item + 1) * self.draws].decode()

    def reason(self, arm: ArmName, item: int, draw: int) -> str:
        """Why that draw went as it did; empty where nothing was said."""
        return self.reasons.names[self.sides[arm].reason[item * self.draws + draw]]

    def spent_ms(self, arm: ArmName, item: int) -> int:
        return sum(self.sides[arm].ms[item * self.draws : (item + 1) * self.draws])

    def drawn(self, arm: ArmName) -> Iterator[int]:
        """Places of the draws that are there."""
        return (cell for cell, letter in enumerate(self.sides[arm].letters) if letter != ord(MISSING))
