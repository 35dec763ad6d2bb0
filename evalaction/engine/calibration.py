"""A frozen card as its own control: the same commit, the same files, the treatment in both arms."""

from __future__ import annotations

from dataclasses import replace

from evalaction import schemas
from evalaction.method.calibration import calibration_card
from evalaction.method.canonical import sha256
from evalaction.method.cards.parse import parse_card
from evalaction.registration.frozen import Frozen


def against_itself(frozen: Frozen) -> Frozen:
    """The frozen inputs of an A/A run. Its card is another text, and says so by its digest. Raises UsageError without `sign`."""
    data = calibration_card(frozen.card_bytes, file=frozen.card_path)
    card = parse_card(data, file=frozen.card_path, schema=schemas.load("card"))
    return replace(frozen, card=card, card_bytes=data, card_sha256=sha256(data))
