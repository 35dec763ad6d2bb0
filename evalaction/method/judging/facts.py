"""What the engine knows about a run and the rows do not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalaction.method.records import Sentence
from evalaction.method.report import Provenance

Ended: TypeAlias = Literal["complete", "unreachable", "deadline", "interrupted", "disk"]


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
    synthetic_allowed: bool = False
    """The caller said that scripted replies are wanted (`demo`, `--synthetic`)."""
    rehearsal: bool = False
    long_waits: int = 0
    """Replies whose Retry-After was longer than the card's `pace.max_wait_ms`: reported, not waited for."""
    longest_wait: str | None = None
    """The longest such header, as it was sent (untrusted)."""
    callouts: tuple[Sentence, ...] = ()
    """Anything else a reader must know, said before ours."""
