"""The few words and number forms that sentences of the method share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from evalaction.method.records import Quoted, Sentence


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 draw`, `2,520 draws`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(value: Fraction) -> str:
    """One decimal, `68.8 %`; a whole number without it."""
    return f"{_short(value * 100, 1)} %"


def points(value: Fraction) -> str:
    """A difference of rates in points of a hundred: `10 points`, `2.5 points`."""
    text = _short(value * 100, 2)
    return f"{text} {'point' if text == '1' else 'points'}"


def decimal(value: Fraction) -> str:
    """At most one decimal, for leads in items: `2`, `2.1`."""
    return _short(value, 1)


def _short(value: Fraction, places: int) -> str:
    text = f"{float(value):.{places}f}"
    return text.rstrip("0").rstrip(".")


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def quoted(names: Iterable[str], *, most: int = 3) -> Sentence:
    """The first `most` names, each to be encoded, and how many more there are."""
    everything = list(names)
    parts: list[str | Quoted] = []
    for name in everything[:most]:
        parts += [", ", Quoted(name)] if parts else [Quoted(name)]
    if len(everything) > most:
        parts.append(f" and {len(everything) - most:,} more")
    return tuple(parts)


def ranked(counter: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Most frequent first, then by name: the order of rows leaves no trace."""
    return tuple(sorted(counter.items(), key=lambda pair: (-pair[1], pair[0])))


def tallied(reasons: Iterable[tuple[str, int]], *, most: int = 3) -> Sentence:
    """Reasons with their counts, the most frequent first: `status:503 × 70, timeout × 6`."""
    everything = list(reasons)
    parts: list[str | Quoted] = []
    for name, number in everything[:most]:
        parts += [", ", Quoted(name), f" × {number:,}"] if parts else [Quoted(name), f" × {number:,}"]
    if len(everything) > most:
        parts.append(f" and {count(len(everything) - most, 'other reason')}")
    return tuple(parts)
