"""Whether a value surely fits a schema, without the library that says what is wrong: loading that takes longer than all else.

It knows the keywords that the card's schema uses. Of any other it says no, and the library has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, Decimal),
    "boolean": (bool,),
    "null": (type(None),),
}
_SAID: Final = frozenset({"$schema", "$defs", "title", "description", "default"})
"""What says nothing about a value."""


def fits(value: object, schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """True only where the value fits `schema`, a part of the schema `root`; False where it does not, or where this cannot tell.

    Values are those of a card: dict, list, str, int, Decimal, bool, None. Of objects this is JSON Schema 2020-12.
    """
    return all(
        keyword in _SAID or (keyword in _KEYWORDS and _KEYWORDS[keyword](value, bound, schema, root))
        for keyword, bound in schema.items()
    )


def _ref(value: object, bound: str, _: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    name = bound.removeprefix("#/$defs/")
    return name in root["$defs"] and fits(value, root["$defs"][name], root)


def _any_of(value: object, bound: list[Mapping[str, Any]], _: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    return any(fits(value, one, root) for one in bound)


def _type(value: object, bound: str | list[str], *_: object) -> bool:
    return any(type(value) in _TYPES[name] for name in ([bound] if isinstance(bound, str) else bound))


def _enum(value: object, bound: list[object], *_: object) -> bool:
    """Of texts alone: which other values are equal is a question for the library."""
    return type(value) is str and value in bound


def _properties(value: object, bound: Mapping[str, Any], _: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    return not isinstance(value, dict) or all(fits(value[key], part, root) for key, part in bound.items() if key in value)


def _additional(value: object, bound: bool | Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    if not isinstance(value, dict) or bound is True:
        return True
    others = [held for key, held in value.items() if key not in schema.get("properties", {})]
    return not others if bound is False else all(fits(one, bound, root) for one in others)


def _items(value: object, bound: Mapping[str, Any], _: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    return not isinstance(value, list) or all(fits(one, bound, root) for one in value)


def _of(kinds: tuple[type, ...], holds: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    """A keyword that speaks of values of some kinds only."""
    return lambda value, bound, *_: type(value) not in kinds or holds(value, bound)


_NUMBER = (int, Decimal)
_KEYWORDS: Final[Mapping[str, Callable[..., bool]]] = {
    "$ref": _ref,
    "anyOf": _any_of,
    "type": _type,
    "enum": _enum,
    "const": lambda value, bound, *_: _enum(value, [bound]),
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "required": _of((dict,), lambda value, bound: all(key in value for key in bound)),
    "pattern": _of((str,), lambda value, bound: re.search(bound, value) is not None),
    "minimum": _of(_NUMBER, lambda value, bound: value >= bound),
    "maximum": _of(_NUMBER, lambda value, bound: value <= bound),
    "exclusiveMinimum": _of(_NUMBER, lambda value, bound: value > bound),
    "exclusiveMaximum": _of(_NUMBER, lambda value, bound: value < bound),
    "minLength": _of((str,), lambda value, bound: len(value) >= bound),
    "maxLength": _of((str,), lambda value, bound: len(value) <= bound),
    "minItems": _of((list,), lambda value, bound: len(value) >= bound),
    "maxItems": _of((list,), lambda value, bound: len(value) <= bound),
    "minProperties": _of((dict,), lambda value, bound: len(value) >= bound),
}
