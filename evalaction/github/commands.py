"""Workflow commands as lines of text: annotations, masks, and a fence around text that must not be taken for a command.

The runner reads `::command` at the start of a line and `##[command]` anywhere in one, on both streams.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalaction.method.records import Quoted, Sentence
from evalaction.redaction import MIN_LENGTH
from evalaction.report.encode import LIMIT, cut, term

Level: TypeAlias = Literal["error", "warning", "notice"]

LEVELS: tuple[Level, ...] = ("error", "warning", "notice")
MOST_ANNOTATIONS = 10
"""Of each level in a step; GitHub drops the rest without a word."""
MESSAGE_CHARACTERS = 1000
TITLE_CHARACTERS = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation:
    """A sentence at a place. The heaviest of a level are kept, those of one weight in the order they came."""

    level: Level
    text: Sentence
    weight: int = 0
    file: str | None = None
    """Path below the repository's root, posix."""
    line: int | None = None
    """From 1."""
    title: str | None = None


def annotate(found: Iterable[Annotation]) -> tuple[str, ...]:
    """Lines for at most ten annotations of each level; the tenth says how many more the job summary has."""
    everything = list(found)
    lines: list[str] = []
    for level in LEVELS:
        ranked = sorted((one for one in everything if one.level == level), key=lambda one: -one.weight)
        kept = ranked if len(ranked) <= MOST_ANNOTATIONS else ranked[: MOST_ANNOTATIONS - 1]
        lines += [_line(one) for one in kept]
        if len(kept) < len(ranked):
            lines.append(_line(Annotation(level=level, text=(f"{len(ranked) - len(kept):,} more in the job summary.",))))
    return tuple(lines)


def masks(values: Mapping[str, str]) -> tuple[str, ...]:
    """Lines that make the runner hide secrets (name to value) in logs, each line of one too. Print them before all else.

    Values and lines under 8 characters are left out: hiding every `1` would blank summaries and lose outputs.
    """
    wanted: list[str] = []
    for value in values.values():
        wanted += [value, value.strip(), *(line.strip() for line in value.splitlines())]
    return tuple(f"::add-mask::{_data(text)}" for text in dict.fromkeys(wanted) if len(text) >= MIN_LENGTH)


def new_token() -> str:
    """A word nobody can guess, for `stop` and `resume`. No child process may see it."""
    return secrets.token_hex(16)


def stop(token: str) -> str:
    """From this line on the runner takes nothing for a command, until `resume`."""
    return f"::stop-commands::{token}"


def resume(token: str) -> str:
    """Print it whatever happens in between."""
    return f"::{token}::"


def fenced(lines: Sequence[str], token: str) -> tuple[str, ...]:
    """Lines we did not write, between `stop` and `resume`. Raises ValueError when one of them knows the token."""
    if any(token in line for line in lines):
        raise ValueError("the token is in the text that it is to guard")
    return (stop(token), *lines, resume(token))


def plain(sentence: Sentence, limit: int = MESSAGE_CHARACTERS) -> str:
    """A sentence as one line that is no command and steers no terminal; what we did not write is cut to 120 characters."""
    return cut(term("".join(cut(part.text, LIMIT) if isinstance(part, Quoted) else part for part in sentence), None), limit)


def _line(one: Annotation) -> str:
    properties = {
        "title": cut(term(one.title, None), TITLE_CHARACTERS) if one.title else "",
        "file": one.file or "",
        "line": str(one.line) if one.file and one.line else "",
    }
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{one.level}{' ' if told else ''}{told}::{_data(plain(one.text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
