"""The records every room shares: items, completions, columns, rows, sentences. All frozen; impossible states cannot be built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evalaction.method.canonical import Json
from evalaction.method.numbers import Threshold

ArmName: TypeAlias = Literal["treatment", "control"]
DrawVerdict: TypeAlias = Literal["pass", "fail", "runner_error"]
Output: TypeAlias = Literal["text", "tool_calls"]
Extract: TypeAlias = Literal["raw", "fenced", "json", "last_number"]
CheckKind: TypeAlias = Literal["exact", "regex", "contains", "number", "json", "python", "code"]
CheckSource: TypeAlias = Literal["output", "trace"]

ARMS: tuple[ArmName, ...] = ("treatment", "control")


@dataclass(frozen=True, slots=True)
class Quoted:
    """Text we did not write (an id, a name, a provider's words) inside a sentence of ours: every renderer encodes it."""

    text: str


Sentence: TypeAlias = "tuple[str | Quoted, ...]"


@dataclass(frozen=True, slots=True)
class Break:
    """A named reason why something was not earned: `code` for machines, one sentence with its counts for people."""

    code: str
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """The frozen checker of one item."""

    kind: CheckKind
    expected: Json = None
    """The text (`exact`, `contains`), pattern (`regex`), number (`number`) or JSON value (`json`) to accept."""
    tolerance: Threshold | None = None
    """`number` only: the largest absolute difference that still passes."""
    pointer: str | None = None
    """`json` only: a JSON Pointer to the part that is compared."""
    file: str | None = None
    """`python` and `code` only: the file with the checker, by its path as the card writes it; its bytes are in `Exam.files`."""
    fixture: Json = None
    """`python` only: handed to the checker beside the parsed output."""
    source: CheckSource = "output"
    """`json` and `python` only: `trace` judges what the endpoint tells of its work, once the output has kept its contract."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One task of the exam."""

    id: str
    index: int
    """0-based position in the exam."""
    file: str
    line: int | None
    prompt: str | tuple[Message, ...] | None = None
    vars: Mapping[str, str] | None = None
    system: str | None = None
    schema: Json = None
    """None: the item has no JSON Schema (the schema `true` is written as True)."""
    extract: Extract = "raw"
    """Already resolved: a schema or a `json` check implies `json`."""
    output: Output | None = None
    """None: as the endpoint declares."""
    check: Check
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    reference: str | None = None
    """An output that must pass; `verify` judges it as a draw would be."""
    sha256: str
    """Digest of the item's own bytes: the JSONL line without newline, the file of a folder exam, the canonical CSV row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens as the provider counts them; None where it does not say."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """What one request brought back. `reason` is None exactly when the draw reached; then `output` is the gradable text."""

    reason: str | None
    output: str | None = None
    status: int | None = None
    error: str | None = None
    """Body of a failed reply as text, uncut and unredacted: redact, then cut to 240 characters, before it is kept."""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    served_model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    body_sha256: str | None = None
    """Digest of the raw reply: the same id with the same body twice is a cached draw."""
    cache_hit: str | None = None
    """Name of the header that says the reply came from a cache."""
    retry_after_ms: int | None = None
    retry_after_raw: str | None = None
    """The header as it was sent, for the report; None when there was none."""
    started_at: str = ""
    """UTC, ISO 8601 with milliseconds and Z."""
    ms: int = 0
    """Wall time of the whole exchange, connection included."""
    trace: Json = None
    """The part of the reply that the endpoint declares as its trace, whole and unredacted."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """The declared counters that the trace holds as whole numbers; one that it lacks is not here."""
    polls: int = 0
    """Requests beside the one submission that asked for a job's state."""
    retries: int = 0
    """Further attempts that a gateway says it made behind this one."""

    def __post_init__(self) -> None:
        if (self.reason is None) != (self.output is not None and self.output.strip() != ""):
            raise ValueError("a draw has either a gradable output or a reach reason")


@dataclass(frozen=True, slots=True)
class Columns:
    """reach, contract, check, in this order; a later one is None when an earlier one failed.

    `check` is also None when the checker itself failed; then `check_reason` begins with `checker:`.
    A reason is present exactly where a column is False (a passing check may carry one too).
    """

    reach: bool
    reach_reason: str | None = None
    contract: bool | None = None
    contract_reason: str | None = None
    check: bool | None = None
    check_reason: str | None = None

    def __post_init__(self) -> None:
        if self.reach != (self.reach_reason is None):
            raise ValueError("reach and its reason contradict each other")
        if (self.contract is None) == self.reach or (self.contract is False) != (self.contract_reason is not None):
            raise ValueError("contract does not follow reach")
        if self.contract is not True:
            if self.check is not None or self.check_reason is not None:
                raise ValueError("nothing is checked without a contract")
        elif self.check is None:
            if not (self.check_reason or "").startswith("checker:"):
                raise ValueError("a missing check needs a checker error")
        elif (self.check_reason or "").startswith("checker:") or (self.check is False and not self.check_reason):
            raise ValueError("check and its reason contradict each other")

    @property
    def verdict(self) -> DrawVerdict:
        if self.check:
            return "pass"
        if self.contract is False or self.check is False:
            return "fail"
        return "runner_error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One scored draw, one line of `rows.jsonl`. `index` is its place in the planned order."""

    index: int
    item: str
    arm: ArmName
    draw: int
    half: int
    columns: Columns
    request_sha256: str
    endpoint: str
    started_at: str
    ms: int
    status: int | None = None
    text_sha256: str | None = None
    """Digest of the extracted text, for TARr: ids make every body differ."""
    parsed_sha256: str | None = None
    """Digest of the canonical parsed value, for TARa."""
    raw_head: str | None = None
    error_head: str | None = None
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    served_model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    body_sha256: str | None = None
    cache_hit: str | None = None
    retry_after: str | None = None
    trace: Json = None
    """As `draws.keep_text` allows; a trace that is too long is kept as the beginning of its text."""
    trace_length: int | None = None
    """Characters of the whole trace, where only its beginning is kept."""
    counters: Mapping[str, int] | None = None
    polls: int | None = None
    """None: no job was polled."""
    retries: int | None = None
    """None: no gateway says that it made further attempts."""
    redacted: bool | None = None
    """True where a secret was taken out of the reply before it was judged; None: judged as it came."""

    @property
    def verdict(self) -> DrawVerdict:
        return self.columns.verdict
