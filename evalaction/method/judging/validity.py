"""Whether the data may speak: per arm, and per half where there are halves, over all planned draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.card import Validity
from evalaction.method.counting.tally import CHECKER_ERROR, UNREACHED, ArmTally
from evalaction.method.records import ArmName, Break, Sentence
from evalaction.method.telling.words import count, percent, tallied


def invalid_reasons(letters: bytes, *, items: int, min_items: int, validity: Validity) -> tuple[str, ...]:
    """All reasons in the order `below_min_items`, `transport`, `unscored_mass`; empty when valid."""
    draws = len(letters)
    unreached = letters.count(UNREACHED)
    scored = draws - unreached - letters.count(CHECKER_ERROR)
    tests = {
        "below_min_items": items < min_items,
        "transport": unreached > validity.max_transport_error_rate.value * draws,
        "unscored_mass": scored < validity.min_scored_fraction.value * draws,
    }
    return tuple(reason for reason, broken in tests.items() if broken)


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """An arm, or an arm in one half."""

    arm: ArmName
    side: ArmTally
    items: Sequence[int]
    """Indices of the items."""
    half: int | None = None
    min_items: int = 1

    @property
    def letters(self) -> bytes:
        return b"".join(self.side.strips(self.items))

    def reasons(self, validity: Validity) -> tuple[str, ...]:
        return invalid_reasons(self.letters, items=len(self.items), min_items=self.min_items, validity=validity)

    def breaks(self, validity: Validity) -> tuple[Break, ...]:
        """`<arm>.h<half>:<reason>` or `<arm>:<reason>` with the first reason; none when valid."""
        name = self.arm if self.half is None else f"{self.arm}.h{self.half}"
        return tuple(Break(f"{name}:{reason}", self._sentence(reason, validity)) for reason in self.reasons(validity)[:1])

    def _sentence(self, reason: str, validity: Validity) -> Sentence:
        where = self.arm if self.half is None else f"{self.arm}, half {self.half}"
        letters = self.letters
        draws, unreached, errors = len(letters), letters.count(UNREACHED), letters.count(CHECKER_ERROR)
        if reason == "below_min_items":
            return (f"{where}: {count(len(self.items), 'item')}, the card asks for at least {self.min_items:,} in each half.",)
        if reason == "transport":
            share = f"{percent(Fraction(unreached, draws))}, ceiling {validity.max_transport_error_rate.text}"
            reasons = tallied(self.side.reasons()["reach"])
            return (f"{where}: {unreached:,} of {count(draws, 'draw')} did not reach ({share}); in the whole arm ", *reasons, ".")
        floor, scored = validity.min_scored_fraction.text, draws - unreached - errors
        return (
            f"{where}: {scored:,} of {count(draws, 'draw')} have a verdict (floor {floor}); "
            f"{unreached:,} did not reach and the checker itself failed on {errors:,}.",
        )
