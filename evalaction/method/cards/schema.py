"""The published schema of the card, checked with sentences of our own: the most helpful error first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from evalaction.errors import SourceError
from evalaction.method.cards.fits import fits
from evalaction.method.reading.source import Document, Path
from evalaction.method.reading.text import short, suggestion
from evalaction.method.reading.yaml_core import resolve

if TYPE_CHECKING:
    from jsonschema import ValidationError

_WANTED = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "null": "empty",
}
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}


@dataclass(frozen=True, slots=True)
class _Finding:
    rank: int
    """0 unknown field, 1 wrong value, 2 missing field: a misspelt name explains what is missing."""
    path: Path
    sentence: str
    at_key: bool = False


def dotted(path: Path) -> str:
    """`draws.count` for a path; the whole card for the empty one."""
    return short(".".join(str(part) for part in path), 120) or "card"


def first_error(document: Document, schema: Mapping[str, Any]) -> SourceError | None:
    """The error to show for a document that breaks the schema; None when it fits."""
    if not isinstance(document.value, dict):
        empty = document.value is None
        what = "the card is empty; it" if empty else "a card"
        return document.error((), f"{what} must be a mapping of fields that begins with `protocol: evalaction/1`")
    if fits(document.value, schema, schema):
        return None
    from jsonschema import Draft202012Validator

    found = [one for error in Draft202012Validator(schema).iter_errors(document.value) for one in _findings(document, error)]
    if not found:
        return None
    best = min(found, key=lambda one: (one.rank, *_place(document, one)))
    return document.error(best.path, best.sentence, at_key=best.at_key)


def _place(document: Document, finding: _Finding) -> tuple[int, int]:
    return document.key_place(finding.path) if finding.at_key else document.place(finding.path)


def _findings(document: Document, error: ValidationError) -> Iterator[_Finding]:
    path: Path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from _unknown(path, error)
    elif error.validator == "required":
        yield from _missing(path, error)
    elif error.validator == "anyOf":
        yield from _alternatives(document, path, error)
    else:
        yield _Finding(1, path, _wrong(document, path, error))


def _unknown(path: Path, error: ValidationError) -> Iterator[_Finding]:
    known = tuple(_schema(error)["properties"])
    for key in error.instance:  # type: ignore[union-attr]  # the keyword applies to mappings only
        if key not in known:
            near = suggestion(str(key), known)
            if not near and len(path) == 2 and path[0] == "endpoints":
                near = "; parameters of the model belong under `params`"
            place = f" in `{dotted(path)}`" if path else ""
            yield _Finding(0, (*path, str(key)), f"unknown field `{short(str(key))}`{place}{near}", at_key=True)


def _missing(path: Path, error: ValidationError) -> Iterator[_Finding]:
    instance: Any = error.instance
    for name in _names(error.validator_value):
        if name not in instance:
            yield _Finding(2, path, f"`{dotted((*path, name))}` is missing", at_key=True)


def _alternatives(document: Document, path: Path, error: ValidationError) -> Iterator[_Finding]:
    """The errors of the branch that fits best, or one sentence where the type of none does."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    fitting = [
        inner
        for inner in branches.values()
        if not any(one.validator in {"type", "enum"} and not one.relative_path for one in inner)
    ]
    if fitting:
        # Of two shapes of a mapping the one that is meant has the fewest mistakes in it.
        for inner_error in min(fitting, key=len):
            yield from _findings(document, inner_error)
    else:
        yield _Finding(1, path, f"`{dotted(path)}` is not valid: {_description(error)}")


def _wrong(document: Document, path: Path, error: ValidationError) -> str:  # noqa: PLR0911 - one sentence a keyword
    name, value, bound = f"`{dotted(path)}`", error.instance, error.validator_value
    match error.validator:
        case "type":
            return _wrong_type(document, path, _names(bound))
        case "const":
            return f"{name} must be `{bound}`"
        case "enum":
            names = _names(bound)
            near = suggestion(value, names) if isinstance(value, str) else ""
            return f"{name} must be {_listed(names)}, not {_shown(document, path)}{near}"
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" as keyword:
            return f"{name} must be {_BOUNDS[keyword]} {bound}, not {_shown(document, path)}"
        case "minLength" | "minProperties" | "minItems":
            return f"{name} is empty; give it a value"
        case "maxLength":
            return f"{name} has more than {bound} characters"
        case "maxItems":
            return f"{name} has more than {bound} entries"
        case _:
            return f"{name} is not valid: {_description(error)}"


def _wrong_type(document: Document, path: Path, wanted: tuple[str, ...]) -> str:
    spot, value = document.spot(path), document.at(path)
    if value is None:
        return f"`{dotted(path)}` is empty; remove it or give it a value"
    want = next(one for one in wanted if one != "null")
    hint = ""
    if want in {"integer", "number"} and isinstance(value, str):
        if spot.quoted and _is_number(value):
            hint = "; write it without quotes"
        elif value[:1].isdigit():
            hint = "; write digits only, without separators or units"
    elif want == "integer" and isinstance(value, Decimal) and value == value.to_integral_value() and abs(value) < 10**15:
        hint = f"; write {int(value)}"
    elif want == "string" and not isinstance(value, (dict, list)):
        hint = "; put it in quotes"
    elif want == "array" and isinstance(value, str):
        hint = "; write it as a list, `[…]`"
    elif want == "boolean" and isinstance(value, str):
        hint = "; write `true` or `false` without quotes"
    return f"`{dotted(path)}` must be {_WANTED[want]}, not {_shown(document, path)}{hint}"


def _shown(document: Document, path: Path) -> str:
    value = document.at(path)
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    raw = short(document.raw(path) or str(value), 40)
    return f'the text "{raw}"' if isinstance(value, str) else raw


def _is_number(text: str) -> bool:
    try:
        return isinstance(resolve(text), (int, Decimal)) and not isinstance(resolve(text), bool)
    except ValueError:
        return False


def _names(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _schema(error: ValidationError) -> Mapping[str, Any]:
    assert isinstance(error.schema, Mapping)
    return error.schema


def _description(error: ValidationError) -> str:
    text = str(_schema(error).get("description", "see the schema of the card")).removesuffix(".")
    return text if text.startswith("`") else text[:1].lower() + text[1:]
