"""Sentences as terminal text."""

from __future__ import annotations

from evalaction.method.records import Quoted, Sentence
from evalaction.report.encode import term


def plain(sentence: Sentence) -> str:
    """A sentence with everything we did not write made inert."""
    return "".join(term(part.text) if isinstance(part, Quoted) else part for part in sentence)
