"""The published JSON Schemas: the single definition of the field names of cards, results and histories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load(name: str) -> dict[str, Any]:
    """The schema `card`, `results` or `history` as a dict. Raises FileNotFoundError for any other name."""
    path = Path(__file__).parent / f"{name}.schema.json"
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema
