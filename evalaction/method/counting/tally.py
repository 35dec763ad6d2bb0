"""Rows in, counters out: what a verdict needs to know of a run, at some twenty-five bytes a draw.

One byte a draw says how it went (p pass, k check false, c contract false, u unreached, e checker error, 0 not there yet);
rates, bounds, pairs and signs are all counted from these bytes. The order in which rows come does not matter.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from evalaction.errors import InconclusiveError
from evalaction.method.counting.counters import Counters
from evalaction.method.counting.halves import half_of
from evalaction.method.counting.reasons import CUT_BY_FILTER, CUT_BY_LENGTH, code_of
from evalaction.method.records import ArmName, Columns, Row
from evalaction.method.report import ColumnName
from evalaction.method.telling.words import ranked

PASS, WRONG, OFF_CONTRACT, UNREACHED, CHECKER_ERROR = b"pkcue"
COLUMN_OF: dict[int, ColumnName] = {UNREACHED: "reach", OFF_CONTRACT: "contract", WRONG: "check", CHECKER_ERROR: "check"}
_SAME, _DIFFERENT = 1, 2
_WHOLE = frozenset({None, "stop", "end_turn", "completed"})
"""Finish reasons that need no second look."""


class GridError(InconclusiveError):
    """A row that the grid has no place for; `code` says why."""

    default_code = "grid"


def letter_of(columns: Columns) -> int:
    if columns.check is not None:
        return PASS if columns.check else WRONG
    if not columns.reach:
        return UNREACHED
    return OFF_CONTRACT if columns.contract is False else CHECKER_ERROR


def reason_of(columns: Columns) -> str | None:
    """Why the draw is no pass; None for a pass."""
    if columns.check:
        return None
    return columns.reach_reason or columns.contract_reason or columns.check_reason


MAX_DETAILS = 10_000
"""Distinct reasons with their details that are kept; beyond it the machine's word alone, so that memory stays in counters."""


class ArmTally:
    """The draws of one arm. `letters` and `ms` hold item after item, `draws` cells each."""

    def __init__(self, items: int, draws: int, counters: Sequence[str] = ()) -> None:
        cells = items * draws
        self.items = items
        self.draws = draws
        self.letters = bytearray(cells)
        self.ms = array("I", [0]) * cells
        self.served: Counter[str] = Counter()
        self.fingerprints: Counter[str] = Counter()
        self.cache_marks: Counter[str] = Counter()
        """Names of the headers that said a reply came from a cache."""
        self.cut: int = 0
        """Contract failures whose reply was cut by its length limit."""
        self.truncated: Counter[str] = Counter()
        """Finish reasons of all draws that their length limit cut, those without a verdict among them."""
        self.filtered: Counter[str] = Counter()
        """Finish reasons of all draws that the provider's filter cut."""
        self.counters = Counters(counters, cells)
        self.polls = 0
        self.retried = 0
        """Draws behind which a gateway says that it made further attempts."""
        self.retries = 0
        """Those attempts."""
        self.tokens_in = 0
        self.tokens_out = 0
        self._names = [""]
        self._numbers: dict[str, int] = {}
        self._reason_at = array("I", [0]) * cells
        # Salted hashes: only ever compared with each other, within one item.
        self._reply_ids = array("q", [0]) * cells
        self._replies = array("q", [0]) * cells
        self._texts = _Sameness(items)
        self._parsed = _Sameness(items)

    def add(self, item: int, cell: int, row: Row) -> None:
        letter = letter_of(row.columns)
        self.letters[cell] = letter
        self.ms[cell] = row.ms
        reason = reason_of(row.columns)
        if reason is not None:
            self._reason_at[cell] = self._number(reason)
            if letter == OFF_CONTRACT and (code_of(reason) == "truncated" or (row.finish_reason or "").lower() in CUT_BY_LENGTH):
                self.cut += 1
        if self.draws > 1:
            self._texts.add(item, row.text_sha256)
            self._parsed.add(item, row.parsed_sha256)
        if row.served_model is not None:
            self.served[row.served_model] += 1
        if row.fingerprint is not None:
            self.fingerprints[row.fingerprint] += 1
        if row.cache_hit is not None:
            self.cache_marks[row.cache_hit] += 1
        if row.response_id is not None:
            self._reply_ids[cell] = hash(row.response_id)
            if row.body_sha256 is not None:
                self._replies[cell] = hash((row.response_id, row.body_sha256))
        self.tokens_in += row.usage.input or 0
        self.tokens_out += row.usage.output or 0
        if row.finish_reason not in _WHOLE:
            self._add_ending(row.finish_reason or "")
        if row.counters is not None:
            self.counters.add(cell, row.counters)
        if row.polls is not None or row.retries is not None:
            self._add_hidden(row)

    def _add_ending(self, finish_reason: str) -> None:
        if finish_reason.lower() in CUT_BY_LENGTH:
            self.truncated[finish_reason] += 1
        elif finish_reason.lower() in CUT_BY_FILTER:
            self.filtered[finish_reason] += 1

    def _add_hidden(self, row: Row) -> None:
        self.polls += row.polls or 0
        if row.retries:
            self.retried += 1
            self.retries += row.retries

    def _number(self, reason: str) -> int:
        number = self._numbers.get(reason)
        if number is None and len(self._names) > MAX_DETAILS:
            reason = code_of(reason)
            number = self._numbers.get(reason)
        if number is None:
            number = self._numbers[reason] = len(self._names)
            self._names.append(reason)
        return number

    def strip(self, item: int) -> bytes:
        return bytes(self.letters[item * self.draws : (item + 1) * self.draws])

    def strips(self, items: Sequence[int]) -> Iterator[bytes]:
        return map(self.strip, items)

    def first_letters(self) -> bytes:
        """Draw 0 of each item."""
        return bytes(self.letters[:: self.draws])

    def reason(self, item: int, draw: int) -> str | None:
        """Why that draw is no pass."""
        number = self._reason_at[item * self.draws + draw]
        return self._names[number] if number else None

    def reasons(self) -> dict[ColumnName, tuple[tuple[str, int], ...]]:
        """Per column the machine's words of its failing reasons with their counts, most frequent first."""
        found: dict[ColumnName, Counter[str]] = {"reach": Counter(), "contract": Counter(), "check": Counter()}
        for (letter, number), times in Counter(zip(self.letters, self._reason_at, strict=True)).items():
            if number:
                found[COLUMN_OF[letter]][code_of(self._names[number])] += times
        return {column: ranked(counted) for column, counted in found.items()}

    def lost(self) -> tuple[tuple[str, int], ...]:
        """Reasons of the draws without a verdict."""
        reasons = self.reasons()
        return ranked(dict(reasons["reach"] + tuple(pair for pair in reasons["check"] if pair[0].startswith("checker:"))))

    def same_texts(self) -> int:
        """Items whose K extracted texts are there and identical."""
        return self._texts.count()

    def same_parsed(self) -> int:
        return self._parsed.count()

    def replayed(self) -> int:
        """Draws whose response id and body were already seen for the same item."""
        return self._repeats(self._replies)

    def repeated_ids(self) -> int:
        """Draws whose response id was already seen for the same item."""
        return self._repeats(self._reply_ids)

    def replies(self, item: int) -> list[int]:
        """One mark a reply of the item, equal where id and body are."""
        return [mark for mark in self._replies[item * self.draws : (item + 1) * self.draws] if mark]

    def _repeats(self, marks: array[int]) -> int:
        repeats = 0
        for start in range(0, len(marks), self.draws):
            seen = [mark for mark in marks[start : start + self.draws] if mark]
            repeats += len(seen) - len(set(seen))
        return repeats


class _Sameness:
    """Whether every digest given for an item is the same; one that is missing is a difference."""

    def __init__(self, items: int) -> None:
        self._first = array("q", [0]) * items
        self._state = bytearray(items)

    def add(self, item: int, digest: str | None) -> None:
        mark = hash(digest)
        if digest is None:
            self._state[item] = _DIFFERENT
        elif not self._state[item]:
            self._first[item] = mark
            self._state[item] = _SAME
        elif self._first[item] != mark:
            self._state[item] = _DIFFERENT

    def count(self) -> int:
        return self._state.count(_SAME)


class Tally:
    """The grid of one run: every item × arm × draw index exactly once.

    `ids` in exam order, `tags` by item id, `arms` in any order, `draws` = K, `seed` the card's, `counters` the names of those
    that are kept, by arm.
    """

    def __init__(
        self,
        ids: Sequence[str],
        tags: Mapping[str, Sequence[str]],
        arms: Sequence[ArmName],
        draws: int,
        seed: str,
        *,
        counters: Mapping[ArmName, Sequence[str]] | None = None,
    ) -> None:
        if not ids or not arms or draws < 1:
            raise ValueError("a grid has at least one item, one arm and one draw")
        self.ids = tuple(ids)
        self.draws = draws
        self.halves = bytes(half_of(item, seed) for item in self.ids)
        self.rows = 0
        self.sides: dict[ArmName, ArmTally] = {arm: ArmTally(len(self.ids), draws, (counters or {}).get(arm, ())) for arm in arms}
        self._index = {item: index for index, item in enumerate(self.ids)}
        self.tagged: dict[str, list[int]] = {}
        for index, item in enumerate(self.ids):
            for tag in dict.fromkeys(tags.get(item, ())):
                self.tagged.setdefault(tag, []).append(index)

    def add(self, row: Row) -> None:
        """Count one row. Raises GridError on a duplicate, an unknown item, arm or draw, and a wrong half."""
        item = self._index.get(row.item)
        side = self.sides.get(row.arm)
        if item is None or side is None or not 0 <= row.draw < self.draws:
            self._refuse(row, known=item is not None, armed=side is not None)
        if row.half != self.halves[item]:
            raise GridError(f"item {row.item!r} belongs to half {self.halves[item]}, its row says {row.half}", code="wrong_half")
        cell = item * self.draws + row.draw
        if side.letters[cell]:
            raise GridError(
                f"draw {row.draw} of item {row.item!r} in {row.arm} is there twice; a draw is never replaced",
                code="duplicate_draw",
            )
        side.add(item, cell, row)
        self.rows += 1

    def _refuse(self, row: Row, *, known: bool, armed: bool) -> NoReturn:
        if not known:
            raise GridError(f"the exam has no item {row.item!r}", code="unknown_item")
        if not armed:
            raise GridError(f"this run has no arm {row.arm}", code="unknown_arm")
        raise GridError(f"draw {row.draw} of item {row.item!r} is outside 0…{self.draws - 1}", code="unknown_draw")

    def replayed(self, *, one_endpoint: bool) -> int:
        """Draws whose response id and body were already seen for the same item; in the other arm too if it asks one endpoint."""
        if not one_endpoint or len(self.sides) < 2:
            return sum(side.replayed() for side in self.sides.values())
        seen = ([mark for side in self.sides.values() for mark in side.replies(item)] for item in range(len(self.ids)))
        return sum(len(marks) - len(set(marks)) for marks in seen)

    @property
    def cells(self) -> int:
        return len(self.ids) * self.draws * len(self.sides)

    @property
    def complete(self) -> bool:
        return self.rows == self.cells

    def missing(self) -> Iterator[tuple[str, ArmName, int]]:
        """Item, arm and draw index of what is not there, in draw order."""
        for draw in range(self.draws):
            for index, item in enumerate(self.ids):
                for arm, side in self.sides.items():
                    if not side.letters[index * self.draws + draw]:
                        yield item, arm, draw

    def half(self, number: int) -> list[int]:
        """Indices of the items of one half."""
        return [index for index, half in enumerate(self.halves) if half == number]
