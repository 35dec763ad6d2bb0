"""The split: which half an item belongs to."""

from __future__ import annotations

import hashlib


def half_of(item_id: str, seed: str) -> int:
    """0 or 1, from the card's seed and the item id alone: neither order, machine nor hash seed moves an item."""
    return int(hashlib.sha256(f"{seed}:{item_id}".encode()).hexdigest()[-1], 16) % 2
