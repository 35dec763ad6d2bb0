"""The card: one pre-registered question and the arms it is asked of, as frozen records. `card_parse` builds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evalaction.method.canonical import Json
from evalaction.method.numbers import Threshold
from evalaction.method.records import Output

Claim: TypeAlias = Literal["ahead", "differ", "not_behind", "none"]
Metric: TypeAlias = Literal["first", "mean", "stable"]
Data: TypeAlias = Literal["synthetic", "public", "private"]
KeepText: TypeAlias = Literal["full", "head", "none"]
LimitScope: TypeAlias = Literal["treatment", "control", "between"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExamRef:
    tasks: str
    """Path of the JSONL or CSV file, or of the folder, relative to the card's folder."""
    data: Data
    sha256: str | None = None
    ids_sha256: str | None = None
    checker_sha256: str | None = None
    """Only for exams with files of their own to run; None for the named checks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckLimits:
    timeout_ms: int = 30_000
    cpu_ms: int = 10_000
    memory_mb: int = 512
    output_bytes: int = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """A request header of an endpoint: a literal value, or the name of the variable that holds it."""

    name: str
    value: str | None = None
    env: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpShape:
    """How `api: http` writes its request and reads its reply. Pointers are JSON Pointers into the reply."""

    body: Json
    text: str
    finish_reason: str | None = None
    usage_input: str | None = None
    usage_output: str | None = None
    id: str | None = None
    served_model: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """USD for one million tokens."""

    input: Threshold
    output: Threshold


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    name: str
    api: str
    url: str | None = None
    url_env: str | None = None
    key_env: str | None = None
    model: str | None = None
    params: Mapping[str, Json] = field(default_factory=dict)
    """Sent as written; decimals keep their text."""
    output: Output = "text"
    shared: bool = True
    headers: tuple[Header, ...] = ()
    http: HttpShape | None = None
    replies: str | None = None
    """`scripted` only: the committed file the replies come from, relative to the card's folder."""
    price: Price | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    endpoint: str
    system: str | None = None
    """Path of a text file, sent verbatim as the system message."""
    template: str | None = None
    """Path of a text file with `{{name}}` places, filled once from the item's vars."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draws:
    count: int
    timeout_ms: int
    keep_text: KeepText = "full"
    max_body_bytes: int = 1_048_576


@dataclass(frozen=True, kw_only=True, slots=True)
class Sign:
    claim: Claim
    seed: str
    margin: Threshold | None = None
    metric: Metric = "first"
    min_items_per_half: int = 30
    min_abs_gap: Threshold = field(default_factory=lambda: Threshold.of("0.02"))
    min_item_gap: int = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    max_transport_error_rate: Threshold = field(default_factory=lambda: Threshold.of("0.05"))
    min_scored_fraction: Threshold = field(default_factory=lambda: Threshold.of("0.95"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """One bound of the card: `name` is the field (`min_stable_pass`, `max_flip_gain`, …)."""

    scope: LimitScope
    name: str
    bound: Threshold
    tag: str | None = None
    line: int | None = None
    """Line of the card, for annotations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    concurrency: int = 8
    per_minute: int | None = None
    max_wait_ms: int = 30_000
    deadline_ms: int = 3_600_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    calls: int | None = None
    tokens: int | None = None
    usd: Threshold | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunnerDemand:
    """Where the card may run: each named field must equal what the machine says."""

    image_os: str | None = None
    image_version: str | None = None
    arch: str | None = None
    python: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What was read on the day: terms, date, allowance. Not part of the question."""

    terms: str | None = None
    read_on: str | None = None
    allowance: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    protocol: str
    name: str
    exam: ExamRef
    endpoints: Mapping[str, Endpoint]
    treatment: Arm
    control: Arm | None = None
    draws: Draws
    checks: CheckLimits = field(default_factory=CheckLimits)
    sign: Sign | None = None
    """Present exactly when there are two arms."""
    validity: Validity = field(default_factory=Validity)
    limits: tuple[Limit, ...] = ()
    pace: Pace = field(default_factory=Pace)
    budget: Budget = field(default_factory=Budget)
    runner: RunnerDemand | None = None
    record: Record | None = None

    @property
    def arms(self) -> Mapping[str, Arm]:
        """Arm name to arm, treatment first."""
        return {"treatment": self.treatment} | ({"control": self.control} if self.control else {})

    @property
    def seed(self) -> str:
        """Seed of the halves and of the drawing order; a card without a sign draws by its name."""
        return self.sign.seed if self.sign else self.name
