"""Item by item: what the treatment lost and gained, which column differs first, which column moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evalaction.method.counting.tally import COLUMN_OF, OFF_CONTRACT, PASS, UNREACHED, WRONG, Tally
from evalaction.method.records import ARMS, ArmName
from evalaction.method.report import ColumnName, Flip, Pair, PairKind

_COLUMNS: dict[ColumnName, int] = {"reach": UNREACHED, "contract": OFF_CONTRACT, "check": WRONG}
_FAILS = (WRONG, OFF_CONTRACT)
_WORST_FIRST: tuple[PairKind, ...] = ("lost", "broke", "gained", "steadied")


def pairs(tally: Tally) -> tuple[Pair, ...]:
    """Lost and gained by draw 0, broke and steadied by stable pass; worst kind first, then in exam order.

    At K = 1 stable pass is draw 0, so that only lost and gained are listed.
    """
    found: dict[PairKind, list[Pair]] = {kind: [] for kind in _WORST_FIRST}
    treatment, control = tally.sides["treatment"], tally.sides["control"]
    for item, name in enumerate(tally.ids):
        ours, theirs = treatment.strip(item), control.strip(item)
        if ours == theirs:
            continue
        for kind, draw, failing in _kinds(ours, theirs):
            side = treatment if kind in {"lost", "broke"} else control
            pair = Pair(
                kind=kind,
                item=name,
                control=theirs.decode(),
                treatment=ours.decode(),
                column=COLUMN_OF[failing],
                reason=side.reason(item, draw),
            )
            found[kind].append(pair)
    return tuple(pair for kind in _WORST_FIRST for pair in found[kind])


def _kinds(ours: bytes, theirs: bytes) -> Iterator[tuple[PairKind, int, int]]:
    """Kind, draw index of the first difference and the letter of the failing side there."""
    if theirs[0] == PASS and ours[0] in _FAILS:
        yield "lost", 0, ours[0]
    if ours[0] == PASS and theirs[0] in _FAILS:
        yield "gained", 0, theirs[0]
    draws = len(ours)
    if draws > 1 and theirs.count(PASS) == draws:
        draw = next(index for index in range(draws) if ours[index] != PASS)
        yield "broke", draw, ours[draw]
    if draws > 1 and ours.count(PASS) == draws:
        draw = next(index for index in range(draws) if theirs[index] != PASS)
        yield "steadied", draw, theirs[draw]


def discordant(tally: Tally) -> dict[ColumnName, tuple[int, int]]:
    """Per column (lost, gained) by draw 0: contract only where both reached, check only where both met the contract."""
    lost: Counter[ColumnName] = Counter()
    gained: Counter[ColumnName] = Counter()
    both = zip(tally.sides["treatment"].first_letters(), tally.sides["control"].first_letters(), strict=True)
    for (ours, theirs), items in Counter(both).items():
        for column, failing in _COLUMNS.items():
            if ours == failing != theirs:
                lost[column] += items * _comparable(column, theirs)
                break
            if theirs == failing != ours:
                gained[column] += items * _comparable(column, ours)
                break
    return {column: (lost[column], gained[column]) for column in _COLUMNS}


def _comparable(column: ColumnName, other: int) -> bool:
    """Whether the side that does not fail in this column has a verdict there."""
    return column != "check" or other == PASS


def moved_column(counts: dict[ColumnName, tuple[int, int]]) -> ColumnName | None:
    """The earliest column with the most discordant pairs, at least two."""
    most = max(sum(pair) for pair in counts.values())
    return next(column for column, pair in counts.items() if sum(pair) == most) if most >= 2 else None


def flips(tally: Tally) -> tuple[Flip, ...]:
    """Items that both pass and fail, treatment first, fewest passes first; the reason is that of the first failing draw."""
    return tuple(flip for arm in ARMS if arm in tally.sides for flip in _arm_flips(tally, arm))


def _arm_flips(tally: Tally, arm: ArmName) -> list[Flip]:
    side = tally.sides[arm]
    other = next((theirs for name, theirs in tally.sides.items() if name != arm), None)
    found = []
    for item, name in enumerate(tally.ids):
        strip = side.strip(item)
        failed = next((draw for draw, letter in enumerate(strip) if letter in _FAILS), None)
        if failed is not None and PASS in strip:
            beside = other.strip(item).decode() if other is not None else None
            found.append(Flip(item=name, arm=arm, strip=strip.decode(), reason=side.reason(item, failed), other=beside))
    return sorted(found, key=lambda flip: flip.strip.count("p"))
