"""The named checks: each prepares a function that returns None where it accepts and otherwise says what differed."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeAlias

from evalaction.checks.equality import at, difference, parse_pointer
from evalaction.checks.extract import one_number
from evalaction.checks.words import around, clipped, one_line
from evalaction.method.canonical import Json
from evalaction.method.records import Check, CheckKind, Item

# From the extracted text and the parsed value (which is the stripped text where the contract is not JSON).
Accept: TypeAlias = Callable[[str, Json], "str | None"]


class BadCheck(ValueError):
    """The exam's check cannot be used; the text is one plain sentence."""


class Kind(Protocol):
    """Prepares the check of one item. Raises BadCheck."""

    def __call__(self, check: Check, /) -> Accept: ...


def exact(check: Check) -> Accept:
    """Both sides stripped and equal, character by character."""
    expected = _text(check).strip()

    def accept(text: str, _: Json) -> str | None:
        got = text.strip()
        if got == expected:
            return None
        place = next((i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), min(len(expected), len(got)))
        return f"differs: expected {around(expected, place)}, got {around(got, place)}"

    return accept


def contains(check: Check) -> Accept:
    """The expected text occurs somewhere, upper and lower case apart: "1" is in "10"; `regex` knows word ends."""
    expected = _text(check)

    def accept(text: str, _: Json) -> str | None:
        return None if expected in text else f"missing: {clipped(expected)} is not in {clipped(text)}"

    return accept


def regex(check: Check) -> Accept:
    """Search of a Python pattern in the stripped text; flags are written inline, as in (?i)."""
    try:
        pattern = re.compile(_text(check))
    except (re.error, RecursionError, OverflowError) as error:
        raise BadCheck(one_line(f"The pattern {clipped(check.expected)} does not compile: {error}.")) from error

    def accept(text: str, _: Json) -> str | None:
        got = text.strip()
        return None if pattern.search(got) else f"no_match: {clipped(pattern.pattern)} matches nothing in {clipped(got)}"

    return accept


def number(check: Check) -> Accept:
    """The stripped text is one number, at most `tolerance` away from the expected one; compared as fractions."""
    expected = check.expected
    digits = (
        None if isinstance(expected, bool) or not isinstance(expected, (int, Decimal, str)) else one_number(str(expected).strip())
    )
    if digits is None:
        raise BadCheck(f"A number check expects one number, as in 42 or 0.5, not {clipped(expected)}.")
    wanted = Fraction(digits)
    tolerance = check.tolerance.value if check.tolerance else Fraction(0)
    if tolerance < 0:
        raise BadCheck("A tolerance is not negative.")
    near = f" within {check.tolerance.text}" if check.tolerance else ""

    def accept(text: str, _: Json) -> str | None:
        got = one_number(text.strip())
        if got is None:
            return f"not_a_number: {clipped(text.strip())}"
        if abs(Fraction(got) - wanted) <= tolerance:
            return None
        return f"differs: expected {clipped(expected)}{near}, got {clipped(text.strip())}"

    return accept


def json(check: Check) -> Accept:
    """The parsed value, or the part that the pointer names, equals the expected one. The parsed value must be JSON."""
    try:
        tokens = parse_pointer(check.pointer or "")
    except ValueError as error:
        raise BadCheck(str(error)) from error

    def accept(_: str, value: Json) -> str | None:
        try:
            part = at(value, tokens)
        except LookupError:
            return f"no_such_place: there is nothing at {clipped(check.pointer)}"
        found = difference(check.expected, part, check.pointer or "")
        return f"differs: {found}" if found else None

    return accept


KINDS: dict[CheckKind, Kind] = {"exact": exact, "contains": contains, "regex": regex, "number": number, "json": json}


PROGRAMS: frozenset[CheckKind] = frozenset({"code", "python"})
"""Kinds that are files to run: prepared for nothing here, judged in the box."""


def is_program(item: Item) -> bool:
    """Whether the item's check is a file that has to be run."""
    return item.check.kind in PROGRAMS


def prepare(check: Check) -> Accept:
    """The accepting function of a check, its reasons bounded and on one line. Raises BadCheck."""
    kind = KINDS.get(check.kind)
    if kind is None:
        raise BadCheck(f"There is no check called {clipped(check.kind)}; there are {', '.join(sorted(KINDS))}.")
    accept = kind(check)

    def bounded(text: str, value: Json) -> str | None:
        reason = accept(text, value)
        return None if reason is None else one_line(reason)

    return bounded


def _text(check: Check) -> str:
    if not isinstance(check.expected, str):
        raise BadCheck(f"The check {check.kind} expects a text, not {clipped(check.expected)}.")
    return check.expected
