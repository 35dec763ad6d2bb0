"""Bytes → Card: strict source, later fields refused, published schema, cross-field rules, frozen records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evalaction.method.card import Card
from evalaction.method.cards import commands as card_commands
from evalaction.method.cards import endpoints as card_endpoints
from evalaction.method.cards import jobs as card_jobs
from evalaction.method.cards import rules as card_rules
from evalaction.method.cards.build import build
from evalaction.method.cards.later import first_later
from evalaction.method.cards.rules import Problem
from evalaction.method.cards.schema import first_error
from evalaction.method.reading.source import Document, Path, load

HASH_FIELDS = ("sha256", "ids_sha256", "checker_sha256")
HASH_PATHS: frozenset[Path] = frozenset(("exam", field) for field in HASH_FIELDS)


def read_card(data: bytes, *, file: str) -> Document:
    """The card as text with places, hashes read as text whatever they look like. Raises SourceError."""
    return load(data, file=file, text_paths=HASH_PATHS)


def parse_card(data: bytes, *, file: str, schema: Mapping[str, Any]) -> Card:
    """The card that `data` holds, judged by the published schema and the rules between fields. Raises SourceError.

    Hashes are kept as they stand: registration says whether they are the right ones.
    """
    document = read_card(data, file=file)
    _refuse(document, card_rules.secrets)
    error = first_later(document) or first_error(document, schema)
    if error:
        raise error
    _refuse(document, card_rules.problems)
    _refuse(document, card_endpoints.problems)
    _refuse(document, card_jobs.problems)
    _refuse(document, card_commands.problems)
    return build(document)


def _refuse(document: Document, rules: Callable[[Any], Iterator[Problem]]) -> None:
    for problem in rules(document.value):
        raise document.error(problem.path, problem.sentence, at_key=problem.at_key)
