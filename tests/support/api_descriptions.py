"""Cutting published API descriptions down to what tests read: prose, examples and extensions go."""

from __future__ import annotations

from typing import Any

PROSE = {"description", "summary", "example", "examples", "externalDocs", "tags", "deprecated", "title"}
NAMED = {"properties", "patternProperties", "schemas", "parameters", "responses", "headers", "content", "$defs"}
"""Below these the keys are names, not words of OpenAPI: a property may be called `description`."""


def lean(value: Any, *, named: bool = False) -> Any:
    if isinstance(value, list):
        return [lean(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {key: one for key, one in value.items() if named or not (key in PROSE or key.startswith("x-"))}
    return {key: lean(one, named=not named and key in NAMED) for key, one in kept.items()}


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(references, value))
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return own.union(*map(references, value.values()))
