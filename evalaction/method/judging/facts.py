"""What the engine knows about a run and the rows do not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evalaction.method.records import ArmName, Output, Sentence
from evalaction.method.report import Change, Provenance, QuestionChange

Ended: TypeAlias = Literal["complete", "unreachable", "deadline", "interrupted", "disk"]
AskedBy: TypeAlias = Literal["base", "head"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointFacts:
    """What is known of an endpoint without its address."""

    name: str
    api: str
    model: str | None
    output: Output = "text"
    seeded: bool = False
    """A sampling seed is fixed, so its draws are not independent."""
    identity: str
    """sha256 of whom it reaches and how its replies are read, model and parameters apart."""
    parameters: str | None = None
    """sha256 of the parameters that are sent with every request; None: not known."""
    counters: tuple[str, ...] = ()
    """Names of the counters that it declares."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmFacts:
    """What an arm asked."""

    endpoints: tuple[EndpointFacts, ...]
    """The different ones, in the order of the exam; at least one."""
    commit: str | None = None
    """Where the arm is defined."""

    @property
    def endpoint(self) -> str:
        return ", ".join(dict.fromkeys(one.name for one in self.endpoints))

    @property
    def model(self) -> str | None:
        return ", ".join(dict.fromkeys(one.model for one in self.endpoints if one.model)) or None

    @property
    def counters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for one in self.endpoints for name in one.counters))

    @property
    def seeded(self) -> bool:
        return any(one.seeded for one in self.endpoints)

    @property
    def scripted(self) -> bool:
        return any(one.api == "scripted" for one in self.endpoints)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFacts:
    """How a run went, for `judge` and `build_report`."""

    planned: int
    """Draws of the whole grid."""
    sent: int
    written: int
    sealed: bool
    ended: Ended
    provenance: Provenance
    arms: Mapping[ArmName, ArmFacts]
    levers: tuple[str, ...] = ()
    """What differs between the arms, as `moved_levers` names it."""
    changes: tuple[Change, ...] = ()
    """What exactly, where the arms are defined at two commits."""
    unchanged: frozenset[int] = frozenset()
    """Positions of the drawn items of which both arms ask the same at the same endpoint."""
    left_out: tuple[str, ...] = ()
    """Items of the exam that were not drawn because nothing changes for them (`sign.items: changed`)."""
    routes: Mapping[ArmName, tuple[str | None, ...]] = field(default_factory=dict)
    """Per arm the rule that chose each drawn item's endpoint; an arm without rules is not in it."""
    question: AskedBy | None = None
    """Which commit's question was asked, where base and judged commit were both there to ask; None: there was one commit."""
    question_changes: tuple[QuestionChange, ...] = ()
    """What the judged commit changes in the question; under `base` it applies from the next change on."""
    base_missing: bool = False
    """The card is judged against a base and this run has none: the treatment alone, and no sign."""
    synthetic_allowed: bool = False
    """The caller said that scripted replies are wanted (`demo`, `--synthetic`)."""
    rehearsal: bool = False
    long_waits: int = 0
    """Replies whose Retry-After was longer than the card's `pace.max_wait_ms`: reported, not waited for."""
    longest_wait: str | None = None
    """The longest such header, as it was sent (untrusted)."""
    redacted: int = 0
    """Replies that were judged with a secret taken out of them, since they were kept before anything judged them."""
    isolation: Mapping[str, str] = field(default_factory=dict)
    """How the programs of the exam were kept apart: `name` and `how` of the rung, and `checks`; empty where none ran."""
    callouts: tuple[Sentence, ...] = ()
    """Anything else a reader must know, said before ours."""

    @property
    def seeded(self) -> tuple[str, ...]:
        """The arms whose draws are not independent."""
        return tuple(name for name, arm in self.arms.items() if arm.seeded)

    @property
    def scripted(self) -> bool:
        return any(arm.scripted for arm in self.arms.values())

    @property
    def one_endpoint(self) -> bool:
        """Whether all draws of all arms went to one endpoint."""
        return len({one.identity for arm in self.arms.values() for one in arm.endpoints}) == 1
