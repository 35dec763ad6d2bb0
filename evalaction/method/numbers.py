"""Exact numbers: decimal texts as fractions, rates as two integers, bounded counts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit as the card writes it: `text` is shown, `value` is compared, so 0.020 is never 0.0199…"""

    text: str
    value: Fraction

    @classmethod
    def of(cls, number: Decimal | int | str) -> Threshold:
        text = str(number)
        return cls(text, Fraction(text))


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `total`. A zero denominator has no value and prints `n/a`."""

    hits: int
    total: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.total:
            raise ValueError(f"not a rate: {self.hits}/{self.total}")

    @property
    def value(self) -> Fraction | None:
        return Fraction(self.hits, self.total) if self.total else None

    def __str__(self) -> str:
        return f"{self.hits}/{self.total}" if self.total else "n/a"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A count of items that lost draws leave open: at least `low`, at most `high`, of `total`."""

    low: int
    high: int
    total: int

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= self.total:
            raise ValueError(f"not a bounded count: {self.low}–{self.high}/{self.total}")

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __str__(self) -> str:
        if not self.total:
            return "n/a"
        return f"{self.low}/{self.total}" if self.exact else f"{self.low}–{self.high}/{self.total}"
