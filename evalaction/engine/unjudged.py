"""What is told of a run that is drawn and that another job will judge: counts, and no number that judging gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalaction import schemas
from evalaction.engine.apart import sealed_draws
from evalaction.engine.manifest import read_manifest
from evalaction.engine.score import provenance_of
from evalaction.errors import Outcome, Settled
from evalaction.method.cards.parse import parse_card
from evalaction.method.report import Counts, Report, Verdict
from evalaction.method.telling.summary import refusal_report

REGISTERED = "Nothing is judged yet: the verdict is that of the job that judges these draws."
UNREACHABLE = "An arm was never reached, so the drawing was ended; the verdict is that of the job that judges these draws."


def drawn_report(folder: Path) -> Report:
    """`registered`, or `unreachable` where drawing ended so. Raises InconclusiveError (`partial_grid`) where it did not end."""
    _, seal = sealed_draws(folder)
    manifest = read_manifest(folder)
    card = parse_card(manifest.card_text.encode("utf-8", "surrogatepass"), file=manifest.card_path, schema=schemas.load("card"))
    lost = seal.ended == "unreachable"
    end = Settled(UNREACHABLE if lost else REGISTERED, outcome=Outcome.UNREACHABLE if lost else Outcome.REGISTERED)
    told = refusal_report(
        end,
        name=card.name,
        provenance=provenance_of(manifest),
        card=card,
        items=len(manifest.items),
    )
    return replace(
        told,
        verdict=Verdict(outcome=end.outcome, earned=False, sign=0, half_signs=None, breaks=()),
        heading=(f"drawn: {seal.written:,} of {seal.planned:,} draws; not judged yet",),
        counts=Counts(planned=seal.planned, sent=seal.sent, written=seal.written),
    )
