"""Entries of a history written as strips, one night after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evalaction.errors import Outcome
from evalaction.method.canonical import digest
from evalaction.method.records import ARMS, ArmName
from evalaction.method.report import Counts
from evalaction.method.series.entry import ArmEntry, Comparable, Entry
from evalaction.method.series.latency import Latency

ZERO = "0" * 64


def comparable(draws: int, arms: tuple[ArmName, ...] = ("treatment",), **changes: Any) -> Comparable:
    made = Comparable(
        exam_sha256=ZERO,
        ids_sha256=ZERO,
        checker_sha256=None,
        items_sha256=ZERO,
        timeout_ms=1_000,
        draws=draws,
        checks_sha256=ZERO,
        arms=arms,
        output="text",
        parameters_sha256=ZERO,
    )
    return replace(made, **changes)


def arm(name: ArmName, strips: Sequence[str], **changes: Any) -> ArmEntry:
    made = ArmEntry(
        arm=name,
        endpoint="main",
        model="some-model",
        requests_sha256=ZERO,
        seeded=False,
        strips="".join(strips).encode(),
        latency=Latency(90, 120, 400),
    )
    return replace(made, **changes)


def night(number: int, treatment: Sequence[str], control: Sequence[str] = (), **changes: Any) -> Entry:
    """Night `number` from 1, on a day of its own; a strip an item."""
    sides = {"treatment": treatment} | ({"control": control} if control else {})
    draws = len(treatment[0])
    cells = len(treatment) * draws * len(sides)
    made = Entry(
        card="eval/nightly.yaml",
        name="support-triage",
        run=f"{1000 + number}-1",
        started_at=f"2026-{1 + number // 28:02}-{1 + number % 28:02}T03:17:00.000Z",
        tool_version="0",
        commit="a" * 40,
        question_digest=digest(number),
        rows_sha256=digest(["rows", number]),
        outcome=Outcome.PASS,
        comparable=comparable(draws, tuple(name for name in ARMS if name in sides)),
        items=len(treatment),
        counts=Counts(planned=cells, sent=cells, written=cells),
        arms=tuple(arm(name, sides[name]) for name in ARMS if name in sides),
    )
    return replace(made, **changes)


def nights(*letters: Sequence[str]) -> list[Entry]:
    """One entry a night from its strips."""
    return [night(number, strips) for number, strips in enumerate(letters, start=1)]
