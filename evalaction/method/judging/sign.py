"""The split-half sign: a direction is earned only when both halves, and the paired items, agree on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalaction.method.card import Metric, Sign, Validity
from evalaction.method.counting.tally import CHECKER_ERROR, PASS, UNREACHED, ArmTally, Tally
from evalaction.method.judging.validity import Region
from evalaction.method.records import ARMS, Break, Sentence
from evalaction.method.report import HalfReport, HalfSide
from evalaction.method.telling.words import count, decimal

NO_LEAD, DISAGREE, UNPAIRED = "gap_below_floor_or_unscored", "halves_disagree", "paired_sign_differs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """Both halves and what follows from them."""

    halves: tuple[HalfReport, HalfReport]
    invalid: tuple[Break, ...]
    """`<arm>.h<half>:<reason>`, half 0 first, treatment first."""
    disagreement: Break | None
    """Why valid halves earn no sign."""

    @property
    def half_signs(self) -> tuple[int, int]:
        return self.halves[0].sign, self.halves[1].sign

    @property
    def paired_signs(self) -> tuple[int, int]:
        return self.halves[0].paired_sign, self.halves[1].paired_sign

    @property
    def breaks(self) -> tuple[Break, ...]:
        return self.invalid or ((self.disagreement,) if self.disagreement else ())

    @property
    def earned(self) -> bool:
        return not self.breaks

    @property
    def sign(self) -> int:
        return self.half_signs[0] if self.earned else 0


def gap_of(treatment: tuple[int, int], control: tuple[int, int]) -> Fraction | None:
    """Treatment − control of two (passed, scored) pairs; None when one side has nothing scored."""
    if not treatment[1] or not control[1]:
        return None
    return Fraction(*treatment) - Fraction(*control)


def sign_of(gap: Fraction | None, *, items: int, floor: Fraction, min_item_gap: int) -> int:
    """+1, −1 or 0. A gap equal to the floor counts; a lead (gap × items) under `min_item_gap` items is no lead."""
    if gap is None or gap == 0 or abs(gap) < floor or abs(gap) * items < min_item_gap:
        return 0
    return 1 if gap > 0 else -1


def tally_metric(side: ArmTally, items: Sequence[int], metric: Metric) -> tuple[int, int]:
    """(passed, scored) of an arm over some items: items under `first` and `stable`, draws under `mean`."""
    passed = scored = 0
    for strip in side.strips(items):
        read = strip[:1] if metric == "first" else strip
        unscored = read.count(UNREACHED) + read.count(CHECKER_ERROR)
        if metric == "mean":
            passed += read.count(PASS)
            scored += len(read) - unscored
        elif not unscored:
            passed += read.count(PASS) == len(read)
            scored += 1
    return passed, scored


def fully_scored(side: ArmTally, item: int, metric: Metric) -> bool:
    """Whether every draw that the metric reads has a verdict."""
    strip = side.strip(item)
    read = strip[:1] if metric == "first" else strip
    return UNREACHED not in read and CHECKER_ERROR not in read


def split_sign(tally: Tally, sign: Sign, validity: Validity, *, paired: bool = True) -> Split:
    """Judge both halves. `paired=False` leaves out the condition on paired items, as the first protocol did."""
    regions = [
        Region(arm=arm, side=tally.sides[arm], items=tally.half(half), half=half, min_items=sign.min_items_per_half)
        for half in (0, 1)
        for arm in ARMS
    ]
    reasons = [region.reasons(validity) for region in regions]
    halves = (_half(tally, 0, sign, reasons[:2]), _half(tally, 1, sign, reasons[2:]))
    invalid = tuple(found for region in regions for found in region.breaks(validity))
    return Split(halves=halves, invalid=invalid, disagreement=_disagreement(halves, sign, paired=paired))


def _half(tally: Tally, number: int, sign: Sign, reasons: Sequence[tuple[str, ...]]) -> HalfReport:
    items = tally.half(number)
    treatment, control = tally.sides["treatment"], tally.sides["control"]
    pairs = [item for item in items if fully_scored(treatment, item, sign.metric) and fully_scored(control, item, sign.metric)]
    ours, theirs = tally_metric(treatment, items, sign.metric), tally_metric(control, items, sign.metric)
    gap = gap_of(ours, theirs)
    paired_gap = gap_of(tally_metric(treatment, pairs, sign.metric), tally_metric(control, pairs, sign.metric))
    floor, lead = sign.min_abs_gap.value, sign.min_item_gap
    return HalfReport(
        half=number,
        items=len(items),
        treatment=HalfSide(passed=ours[0], scored=ours[1], reasons=reasons[0]),
        control=HalfSide(passed=theirs[0], scored=theirs[1], reasons=reasons[1]),
        gap=gap,
        lead_items=None if gap is None else gap * len(items),
        sign=sign_of(gap, items=len(items), floor=floor, min_item_gap=lead),
        paired_items=len(pairs),
        paired_sign=sign_of(paired_gap, items=len(pairs), floor=floor, min_item_gap=lead),
    )


def _disagreement(halves: tuple[HalfReport, HalfReport], sign: Sign, *, paired: bool) -> Break | None:
    first, second = halves
    both = described(halves, sign.metric)
    if not first.sign or not second.sign:
        needs = f"; a lead needs {sign.min_abs_gap.text} and {count(sign.min_item_gap, 'item')} in both halves."
        return Break(NO_LEAD, (*both, needs))
    if first.sign != second.sign:
        return Break(DISAGREE, ("The two halves disagree: ", *both, "."))
    if paired and (first.paired_sign, second.paired_sign) != (first.sign, second.sign):
        pairs = f"{first.paired_items:,} and {second.paired_items:,} items"
        return Break(
            UNPAIRED,
            (f"Both halves lead the same way, but not on the {pairs} that both arms scored: what is missing makes the lead.",),
        )
    return None


def described(halves: tuple[HalfReport, HalfReport], metric: Metric) -> Sentence:
    """Both halves in numbers, `half 0: treatment 40/40, control 38/40, treatment ahead by 2 items; half 1: …`."""
    return (f"{_half_words(halves[0], metric)}; {_half_words(halves[1], metric)}",)


def _half_words(half: HalfReport, metric: Metric) -> str:
    ours, theirs = half.treatment, half.control
    unit = " draws" if metric == "mean" else ""  # items otherwise
    numbers = f"half {half.half}: treatment {ours.passed:,}/{ours.scored:,}{unit}, control {theirs.passed:,}/{theirs.scored:,}"
    if half.lead_items is None:
        return f"{numbers}, nothing to compare"
    if not half.lead_items:
        return f"{numbers}, level"
    ahead = "treatment" if half.lead_items > 0 else "control"
    lead = decimal(abs(half.lead_items))
    return f"{numbers}, {ahead} ahead by {lead} {'item' if lead == '1' else 'items'}"
