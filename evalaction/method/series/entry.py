"""One run in a history: what a later run is compared with, and nothing that it would have to believe.

Counts are not kept but counted again from the strips. An entry never says what a series or an alarm came to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

from evalaction.errors import Outcome
from evalaction.method.canonical import digest
from evalaction.method.counting.rates import column_rates, draw_rates
from evalaction.method.records import ARMS, ArmName
from evalaction.method.report import ColumnRates, Counts, DrawRates, LimitState
from evalaction.method.series.latency import Latency

LETTERS = frozenset(b"pkcue")
RECORDED = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.UNREACHABLE})
"""A run that was refused, interrupted or not drawn is no entry."""
_INVALID = ("transport", "unscored_mass", "below_min_items", "cached_draws", "partial_grid")


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparable:
    """What two runs must share to be of one series. Prompt, model and commit may differ: they are what is watched."""

    exam_sha256: str
    """The exam's own digest, which covers how each answer is extracted."""
    ids_sha256: str
    checker_sha256: str | None
    items_sha256: str
    """Digest of the ids that were drawn, in exam order: an exam may be asked in part."""
    timeout_ms: int
    draws: int
    checks_sha256: str
    """Digest of the checkers' limits and isolation."""
    arms: tuple[ArmName, ...]
    output: str
    """`text`, `tool_calls`, or both where the endpoints differ."""
    parameters_sha256: str | None
    """Digest of the parameters that each arm's endpoints are sent; None: not known."""

    def differences(self, other: Comparable) -> tuple[str, ...]:
        """The fields that differ, as the card names them."""
        return tuple(_NAMES[one.name] for one in fields(self) if getattr(self, one.name) != getattr(other, one.name))

    @property
    def id(self) -> str:
        """Twelve hex digits."""
        return digest([[one.name, _plain(getattr(self, one.name))] for one in fields(self)])[:12]


_NAMES: Mapping[str, str] = {
    "exam_sha256": "exam.sha256",
    "ids_sha256": "exam.ids_sha256",
    "checker_sha256": "exam.checker_sha256",
    "items_sha256": "items",
    "timeout_ms": "draws.timeout_ms",
    "draws": "draws.count",
    "checks_sha256": "checks",
    "arms": "arms",
    "output": "output",
    "parameters_sha256": "params",
}


def _plain(value: str | int | tuple[str, ...] | None) -> str | int | list[str] | None:
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmEntry:
    arm: ArmName
    endpoint: str
    model: str | None
    requests_sha256: str
    """Differs where anything that is asked differs."""
    seeded: bool
    """A sampling seed is fixed: its draws are no fresh ones."""
    strips: bytes
    """A letter a draw, item by item in exam order; empty where the grid was not complete."""
    latency: Latency

    def strip(self, item: int, draws: int) -> bytes:
        return self.strips[item * draws : (item + 1) * draws]


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitEntry:
    """A limit of the card and its state that day."""

    key: str
    """`treatment:min_stable_pass`, with `:counter` or `:tag` after it (untrusted)."""
    state: LimitState


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    card: str
    """Path of the card in its repository (untrusted, like every text here)."""
    name: str
    key: str = ""
    """The `comment-key`, which tells legs of one card apart."""
    run: str
    """A name of its own: letters, digits, `.`, `_` and `-`."""
    started_at: str
    """UTC, ISO 8601 with Z."""
    tool_version: str
    commit: str | None = None
    run_url: str | None = None
    question_digest: str
    rows_sha256: str | None = None
    table_sha256: str | None = None
    """Of the `rows.csv` beside it."""
    outcome: Outcome
    titles: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    """Codes."""
    limits: tuple[LimitEntry, ...] = ()
    comparable: Comparable
    items: int
    counts: Counts
    arms: tuple[ArmEntry, ...]
    """Treatment first."""
    runner: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if problem := _problem(self):
            raise ValueError(f"not an entry of a history: {problem}")

    @property
    def draws(self) -> int:
        return self.comparable.draws

    @property
    def day(self) -> str:
        return self.started_at[:10]

    @property
    def complete(self) -> bool:
        """Whether there are rates."""
        return bool(self.arms[0].strips)

    @property
    def valid(self) -> bool:
        """Whether the draws may be evidence of anything: all are there, few enough were lost, none came from a cache."""
        codes = (code.rpartition(":")[2] for code in self.breaks if not code.startswith("limit:"))
        return self.complete and not any(code in _INVALID for code in codes)

    @property
    def order(self) -> tuple[str, str]:
        return self.started_at, self.run

    def arm(self, name: ArmName) -> ArmEntry | None:
        return next((one for one in self.arms if one.arm == name), None)

    def rates(self, arm: ArmEntry) -> tuple[ColumnRates, DrawRates] | None:
        """Both tables of an arm, counted from its strips; None without any."""
        if not arm.strips:
            return None
        return column_rates(arm.strips), draw_rates(self._strips(arm), self.draws)

    def _strips(self, arm: ArmEntry) -> Iterator[bytes]:
        return (arm.strip(item, self.draws) for item in range(self.items))


def _problem(entry: Entry) -> str | None:
    names = tuple(arm.arm for arm in entry.arms)
    if entry.outcome not in RECORDED:
        return "its outcome is none of a run that was drawn"
    if names not in {ARMS[:1], ARMS} or names != entry.comparable.arms:
        return "its arms are not those of its series"
    if entry.items < 1 or entry.draws < 1:
        return "it has no items or no draws"
    sizes = {len(arm.strips) for arm in entry.arms}
    if len(sizes) > 1 or not sizes <= {0, entry.items * entry.draws}:
        return "its strips do not fit its items and draws"
    if any(not LETTERS.issuperset(arm.strips) for arm in entry.arms):
        return "a strip holds an unknown letter"
    return None
