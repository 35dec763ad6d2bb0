"""Sealed run folders that nobody drew: written by a run's own journal, for what is measured after the drawing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalaction import schemas
from evalaction.engine.grid import Grid, Planned
from evalaction.engine.journal import Journal, line_of
from evalaction.engine.manifest import ArmRecord, Manifest, write_manifest
from evalaction.method.cards.parse import parse_card
from evalaction.method.counting.halves import half_of
from evalaction.method.counting.row_json import row_to_json
from evalaction.method.judging.facts import ArmFacts, EndpointFacts
from evalaction.method.records import ArmName, Row

DIGEST = hashlib.sha256(b"benchmark").hexdigest()
STARTED = "2026-01-01T00:00:00.000Z"


def write_run(
    folder: Path,
    card: Mapping[str, Any],
    items: Mapping[str, tuple[str, ...]],
    *,
    arms: Sequence[ArmName],
    draws: int,
    row: Callable[[Planned, str, int], Row],
    text: Callable[[Planned], str] | None = None,
) -> None:
    """A sealed run of `draws` draws in a new folder; `items` are ids with their tags.

    `row` is given the planned draw, its item's id and half; `text` what the draw's reply said, where it reached.
    """
    ids = list(items)
    words = json.dumps(dict(card) | {"draws": {"count": draws, "timeout_ms": 10_000}})
    planned = len(ids) * len(arms) * draws
    asked = ArmFacts(endpoints=(EndpointFacts(name="main", api="openai", model="m", identity=DIGEST),))
    manifest = Manifest(
        tool_version="0",
        started_at=STARTED,
        card_path="card.json",
        card_text=words,
        card_sha256=hashlib.sha256(words.encode()).hexdigest(),
        commit="0" * 40,
        exam_sha256=DIGEST,
        ids_sha256=DIGEST,
        question_digest=DIGEST,
        items=tuple(items.items()),
        arms=tuple(ArmRecord(arm=arm, asked=asked, requests_sha256=DIGEST) for arm in arms),
        planned=planned,
    )
    folder.mkdir(parents=True)
    write_manifest(folder, manifest)
    seed = parse_card(words.encode(), file="card.json", schema=schemas.load("card")).seed
    halves = [half_of(one, seed) for one in ids]
    with Journal(folder) as journal:
        for one in Grid(ids, arms=arms, draws=draws, seed=seed):
            made = row(one, ids[one.item], halves[one.item])
            said = b""
            if text is not None and made.columns.reach:
                said = line_of({"index": one.index, "item": made.item, "arm": made.arm, "draw": made.draw, "text": text(one)})
            journal.add_lines([(line_of(row_to_json(made)), said)])
        journal.seal(planned=planned, sent=planned, ended="complete", ms=1_000)
