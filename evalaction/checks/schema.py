"""JSON Schema with exact numbers: a compiled validator that names the first thing that does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any, cast

import jsonschema
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry

from evalaction.checks.words import clipped
from evalaction.method.canonical import Json

# Enough to choose a telling error, few enough that an instance with a million of them costs nothing.
ERRORS_COMPARED = 20
_DECIMAL = re.compile(r"Decimal\('([0-9.E+-]+)'\)")


class BadSchema(ValueError):
    """The exam's schema cannot be used; the text is one plain sentence."""


def draft_of(schema: Json) -> type[Validator]:
    """The validator class of the draft that `$schema` names, 2020-12 without one. Raises BadSchema."""
    if not isinstance(schema, (bool, Mapping)):
        raise BadSchema("A schema is a JSON object or true or false.")
    if isinstance(schema, bool) or "$schema" not in schema:
        return _exact(jsonschema.Draft202012Validator)
    name = schema["$schema"]
    found = validator_for(schema, default=None) if isinstance(name, str) else None  # type: ignore[arg-type]
    if found is None:
        raise BadSchema(f"$schema {clipped(name)} is no draft known here; use https://json-schema.org/draft/2020-12/schema.")
    return _exact(found)


def compile_schema(schema: Json) -> Callable[[Json], str | None]:
    """A function that returns None where a value fits and otherwise says, with a JSON Pointer, what does not.

    `format` is an annotation, as the drafts have it by default, and remote references are never fetched.
    """
    # Where a schema is entered again, `$schema` in it would bring back the library's own class with inexact numbers.
    root = {key: part for key, part in schema.items() if key != "$schema"} if isinstance(schema, Mapping) else schema
    validator = draft_of(schema)(cast(Any, root), registry=Registry())

    def misfit(value: Json) -> str | None:
        error = best_match(islice(validator.iter_errors(cast(Any, value)), ERRORS_COMPARED))
        return describe(error) if error else None

    return misfit


def describe(error: ValidationError) -> str:
    """`/place: what is wrong`; decimals are shown as they were written."""
    place = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
    message = _DECIMAL.sub(r"\1", error.message) if "Decimal(" in error.message else error.message
    return f"{place or 'the value'}: {message}"


@cache
def _exact(draft: type[Validator]) -> type[Validator]:
    types = draft.TYPE_CHECKER
    if types.is_type(1.0, "integer"):  # Drafts 3 and 4 know an integer by its spelling.
        types = types.redefine("integer", _is_integer)
    keywords = {"multipleOf": _multiple_of} if "multipleOf" in draft.VALIDATORS else {"divisibleBy": _multiple_of}
    return cast("type[Validator]", extend(draft, validators=keywords, type_checker=types))  # type: ignore[no-untyped-call]


def _is_integer(_: object, value: object) -> bool:
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def _multiple_of(validator: Any, factor: Any, value: Any, _: object) -> Iterator[ValidationError]:
    # A Decimal remainder gives up over 28 digits and a float one is wrong for 0.3 and 0.1.
    if validator.is_type(value, "number") and (Fraction(value) / Fraction(factor)).denominator != 1:
        yield ValidationError(f"{value} is not a multiple of {factor}")
