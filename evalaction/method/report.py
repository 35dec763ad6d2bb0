"""The report object: everything any renderer shows, decided once.

Renderers add layout and encoding, never a number or a word of judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from evalaction.errors import Outcome
from evalaction.method.card import Limit
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import ArmName, Break, Sentence

LimitState: TypeAlias = Literal["held", "breached", "undecided"]
ColumnName: TypeAlias = Literal["reach", "contract", "check"]
PairKind: TypeAlias = Literal["lost", "gained", "broke", "steadied"]
Title: TypeAlias = Literal["NOT RUN", "SYNTHETIC", "REHEARSAL", "SMALL"]

CALIBRATION = "calibration"
"""Name of the input that marks a run of one arm against itself, in its manifest and its footer."""

# One letter a draw, in draw order: p pass, k check false, c contract false, u unreached, e checker error.
Strip: TypeAlias = str


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnRates:
    """Each rate over its own denominator; `end_to_end` over all draws. Checker errors are in none of them."""

    reach: Rate
    contract: Rate
    """contract | reach"""
    check: Rate
    """check | contract, over draws with a check verdict"""
    end_to_end: Rate
    checker_errors: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawRates:
    """Over items. `flip` is None at K = 1."""

    first: Bounded
    stable: Bounded
    flip: Bounded | None
    runner_error_items: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TagReport:
    tag: str
    columns: ColumnRates
    draws: DrawRates


@dataclass(frozen=True, kw_only=True, slots=True)
class CounterReport:
    """What the draws of an arm tell of one counter that its endpoint declares."""

    name: str
    draws: int
    """Draws that tell it."""
    missing: int
    """Draws that do not, unreached ones among them."""
    low: int | None
    median: Fraction | None
    high: int | None
    """None: no draw tells it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmReport:
    arm: ArmName
    endpoint: str
    model: str | None
    columns: ColumnRates
    """Over all draws."""
    first_columns: ColumnRates
    """Over draw 0 alone."""
    draws: DrawRates
    reasons: Mapping[ColumnName, tuple[tuple[str, int], ...]]
    """Per column the failing reasons with their counts, most frequent first; `checker:*` under check."""
    tar_raw: Rate | None
    """Items whose K extracted texts are identical; None at K = 1."""
    tar_parsed: Rate | None
    p50_ms: int | None
    p95_ms: int | None
    """None: more than one draw in twenty never arrived (infinitely slow), or nothing was drawn."""
    tokens_in: int
    tokens_out: int
    served: tuple[tuple[str, int], ...]
    """Served models with their counts."""
    fingerprints: tuple[tuple[str, int], ...]
    by_tag: tuple[TagReport, ...]
    counters: tuple[CounterReport, ...] = ()
    polls: int = 0
    """Requests that asked for the state of a job; they are no draws."""
    retries: int = 0
    """Further attempts that gateways say they made behind the draws."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfSide:
    """One arm in one half, in the unit of the card's metric (items; draws under `mean`)."""

    passed: int
    scored: int
    reasons: tuple[str, ...]
    """Why this arm and half is invalid, in the order of the method; empty when valid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfReport:
    half: int
    items: int
    treatment: HalfSide
    control: HalfSide
    gap: Fraction | None
    """treatment − control; None without a scored unit on both sides."""
    lead_items: Fraction | None
    """gap × items of the half."""
    sign: int
    paired_items: int
    """Items fully scored in both arms."""
    paired_sign: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """An item on which the arms differ: lost and gained by draw 0, broke and steadied by stable pass."""

    kind: PairKind
    item: str
    control: Strip
    treatment: Strip
    column: ColumnName
    """The first column in which the pair differs."""
    reason: str | None
    """The failing side's reason there (untrusted)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flip:
    item: str
    arm: ArmName
    strip: Strip
    reason: str | None
    other: Strip | None = None
    """The same item in the other arm; None with one arm."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitResult:
    limit: Limit
    state: LimitState
    measured: Rate | Bounded | int | tuple[Fraction, Fraction] | None
    """A rate, a count with bounds, milliseconds or a number of items, a difference (low, high) of rates; None: n/a."""
    sentence: Sentence
    already_at_base: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MarginBound:
    """The lower one-sided 95 % bound of `not_behind` over all items."""

    lower: float
    mean: float
    variance: float
    items: int
    margin: str
    enough_items: int | None
    """The least number of items at which the bound would hold with the same mean and variance; None: no number would."""
    missed: float | None = None
    """The loss that a run of this size and spread lets pass one time in five; None where nothing passed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FalseAlarm:
    """How often the card's sign rule earns a sign, either way, for two identical arms at the size of this run."""

    rate: float
    pass_rate: float
    """Of one draw, over both arms, as the run shows it."""
    shared: float
    """Correlation between the arms' draws on an item: 0 where items tell nothing, 1 where the item decides alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What everything shown is derived from."""

    outcome: Outcome
    earned: bool
    sign: int
    """+1 treatment ahead, −1 control ahead, 0 whenever nothing is earned."""
    half_signs: tuple[int, int] | None
    breaks: tuple[Break, ...]
    """All reasons, in the order of the method."""
    notes: tuple[Break, ...] = ()
    """Said, but held against nobody (under `not_behind`: gap below the floor, halves that disagree)."""
    claim_met: bool | None = None
    """None: no claim."""
    bound: MarginBound | None = None
    false_alarm: FalseAlarm | None = None
    """None without a claim about a direction; shown beside an earned sign only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One thing that differs between the arms: `old` is the control's, `new` the treatment's."""

    lever: str
    """As `moved_levers` names it: route, endpoint, model, parameters, prompt."""
    name: str
    """What of it: a field, or the path of a file (untrusted)."""
    old: str | None
    """None: not there. Of a file: the first twelve digits of its sha256."""
    new: str | None
    diff: tuple[str, ...] = ()
    """Lines of a unified diff of a text file, bounded in number and length (untrusted)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionChange:
    """One thing that the judged commit changes in the question it is not judged by."""

    field: str
    old: str | None
    """None: not there."""
    new: str | None
    loosened: bool = False
    """It asks for less than before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RouteGroup:
    """The items that go one way in the control and one way in the treatment."""

    control: str
    """The rule that chooses their endpoint (untrusted)."""
    treatment: str
    items: int
    arms: Mapping[ArmName, tuple[ColumnRates, DrawRates]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    planned: int
    sent: int
    written: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where the numbers come from. Names only, never headers, addresses or keys."""

    tool_version: str
    commit: str | None = None
    base: str | None = None
    card_path: str = "card.yaml"
    card_sha256: str | None = None
    exam_id: str | None = None
    question_digest: str | None = None
    rows_sha256: str | None = None
    started_at: str | None = None
    duration_ms: int | None = None
    runner: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Non-default inputs of the run."""
    record: Mapping[str, str] = field(default_factory=dict)
    run_url: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    name: str
    titles: tuple[Title, ...]
    """Go before all else, in this order."""
    items: int
    draws: int
    claim: str | None
    metric: str | None
    verdict: Verdict
    heading: Sentence
    """The outcome in plain words."""
    todo: Sentence | None
    """What to do: one sentence."""
    callouts: tuple[Sentence, ...]
    arms: tuple[ArmReport, ...]
    """Control first where there are two; empty when nothing was drawn."""
    moved: ColumnName | None
    """The column that moved."""
    halves: tuple[HalfReport, ...]
    discordant: Mapping[ColumnName, tuple[int, int]]
    """Per column (lost, gained) by draw 0, contract only where both reached, check only where both met the contract."""
    pairs: tuple[Pair, ...]
    flips: tuple[Flip, ...]
    limits: tuple[LimitResult, ...]
    counts: Counts
    provenance: Provenance
    asked_callouts: int = 0
    """How many of the callouts, the first ones, say whose question was asked, and what the judged commit changes in it."""
    changed: Sentence | None = None
    """Which levers moved between two commits."""
    changes: tuple[Change, ...] = ()
    unchanged: frozenset[str] = frozenset()
    """Ids of the drawn items of which both arms ask the same."""
    rerouted: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Item to the rules (control, treatment) that choose its endpoint, where they differ."""
    routes: tuple[RouteGroup, ...] = ()
    """Empty where no item goes another way."""
    gated: bool
    """False: the card has neither claim nor limits, and the mark is neutral, never a pass."""
