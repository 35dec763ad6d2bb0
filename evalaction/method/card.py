"""The card: one pre-registered question and the arms it is asked of, as frozen records. `card_parse` builds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evalaction.method.canonical import Json
from evalaction.method.numbers import Threshold
from evalaction.method.records import ArmName, Output

Claim: TypeAlias = Literal["ahead", "differ", "not_behind", "none"]
Metric: TypeAlias = Literal["first", "mean", "stable"]
Data: TypeAlias = Literal["synthetic", "public", "private"]
KeepText: TypeAlias = Literal["full", "head", "none"]
LimitScope: TypeAlias = Literal["treatment", "control", "between"]
Isolation: TypeAlias = Literal["split", "in_process"]
JudgedItems: TypeAlias = Literal["all", "changed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExamRef:
    tasks: str
    """Path of the JSONL or CSV file, or of the folder, relative to the card's folder."""
    data: Data
    sha256: str | None = None
    ids_sha256: str | None = None
    checker_sha256: str | None = None
    """Only for exams with files of their own to run; None for the named checks."""
    checker: str | None = None
    """Path of the Python file with `checker(parsed, fixture)`, for the items of kind `python`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckLimits:
    isolation: Isolation = "split"
    """`in_process`: candidate and check share a process, for checks that need live objects; a pass can be forged."""
    image: str | None = None
    """Container image by digest, for machines where only the third rung of isolation is left."""
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
class Poll:
    """How a submitted job is asked for until it is done, inside the draw's one deadline."""

    url: str
    """Address with `{{id}}`, or with another `{{name}}` of `take`, as one percent-encoded path segment."""
    take: Mapping[str, str]
    """Name to JSON Pointer into the reply to the submission."""
    every_ms: int
    done: str
    """JSON Pointer into a poll's reply: the job goes on while the value there is one of `pending`."""
    pending: tuple[Json, ...]
    failed: tuple[Json, ...] = ()
    """Values that end the draw as `poll:failed`."""
    succeeded: tuple[Json, ...] = ()
    """The only values that mean done, any other ends the draw as `poll:unknown_state`; empty: all but the ones above."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A committed program that answers one draw: JSON on stdin, text on stdout."""

    run: tuple[str, ...]
    paths: tuple[str, ...]
    """Files and folders of the repository, from its root, that are the program: their tree ids are its identity."""
    setup: tuple[str, ...] = ()
    """Run once per commit before the first draw; empty: none."""
    env: tuple[str, ...] = ()
    """Names of the only variables that it is given."""


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
    api_version: str | None = None
    """`azure-openai` only."""
    poll: Poll | None = None
    """`http` only: the request submits a job."""
    trace: str | None = None
    """`http` only: JSON Pointer to what is kept as the draw's trace."""
    counters: Mapping[str, str] = field(default_factory=dict)
    """Name to JSON Pointer into the trace, each a whole number."""
    command: Command | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """An arm as a card defines it: exactly one of `endpoint` and `route`."""

    endpoint: str | None = None
    route: str | None = None
    """Path of the file with the rules that choose the endpoint item by item."""
    system: str | None = None
    """Path of a text file, sent verbatim as the system message."""
    template: str | None = None
    """Path of the file filled once from the item's vars: text, chat messages (.yaml, .json) or .prompt.yml."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AtCommit:
    """A control that is the treatment as another commit defines it."""

    ref: str | None = None
    """A branch, tag or SHA; None: the base of the change."""


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
    items: JudgedItems = "all"
    """`changed`: only the items whose request differs between the arms are drawn and judged."""


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
    counter: str | None = None
    """Of `max_counter` only: the endpoint's declared counter that is bounded."""
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
    control: Arm | AtCommit | None = None
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
    def arms(self) -> Mapping[ArmName, Arm]:
        """The arms that this card defines itself, treatment first."""
        own: dict[ArmName, Arm] = {"treatment": self.treatment}
        return own | {"control": self.control} if isinstance(self.control, Arm) else own

    @property
    def elsewhere(self) -> AtCommit | None:
        """Where the control is defined, if not in this card."""
        return self.control if isinstance(self.control, AtCommit) else None

    @property
    def seed(self) -> str:
        """Seed of the halves and of the drawing order; a card without a sign draws by its name."""
        return self.sign.seed if self.sign else self.name
