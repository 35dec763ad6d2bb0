"""Which checker an item has: a kind, one accepted answer, and only the fields that the kind reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from evalaction.method.canonical import Json
from evalaction.method.exams.sources import RawItem
from evalaction.method.numbers import Threshold
from evalaction.method.reading.strict_json import NotJson, loads
from evalaction.method.reading.text import short, suggestion
from evalaction.method.records import Check, CheckKind

KINDS: tuple[CheckKind, ...] = get_args(CheckKind)
_LATER = {"python": "a Python checker", "code": "a `check.py`"}
_READ: dict[CheckKind, tuple[str, ...]] = {
    "exact": ("value",),
    "regex": ("value", "pattern"),
    "contains": ("value",),
    "number": ("value", "tolerance"),
    "json": ("value", "pointer"),
}
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


def check_of(item: RawItem) -> Check:
    """The frozen checker of an item. Raises SourceError where it is missing, unknown or ambiguous."""
    declared = _declared(item)
    kind = _kind(item, declared["kind"])
    for field in declared:
        if field != "kind" and field not in _READ[kind]:
            raise item.error(f"`check` of kind `{kind}` has no field `{short(str(field))}`{suggestion(str(field), _READ[kind])}")
    answer = _answer(item, kind, declared)
    if kind == "number":
        return Check(kind=kind, expected=_number(item, answer, "the answer"), tolerance=_tolerance(item, declared))
    if kind == "json":
        return Check(kind=kind, expected=answer, pointer=_pointer(item, declared))
    if not isinstance(answer, str):
        raise item.error(f"`{kind}` compares text; its answer is {named(answer)}, put it in quotes")
    if not answer.strip():
        raise item.error(f"the answer of `{kind}` is blank; no output could be told apart by it")
    return Check(kind=kind, expected=answer)


def _declared(item: RawItem) -> Mapping[str, Json]:
    check = item.fields.get("check")
    if isinstance(check, str):
        return {"kind": check}
    if isinstance(check, Mapping):
        if "kind" not in check:
            raise item.error("`check` needs a `kind`: " + ", ".join(KINDS))
        return check
    if "check" in item.fields:
        raise item.error(f"`check` is a kind or an object with a `kind`, not {named(check)}")
    if "expected" in item.fields:
        return {"kind": "exact"}
    if "fixture" in item.fields:
        raise item.error("a `fixture` alone means a Python checker, which is not in this version; add `check: json`")
    raise item.error("this item has no checker; give it `expected`, or `check` with an answer")


def _kind(item: RawItem, kind: Json) -> CheckKind:
    for known in KINDS:
        if kind == known:
            return known
    if isinstance(kind, str) and kind in _LATER:
        raise item.error(f"{_LATER[kind]} (check `{kind}`) is not in this version of evalaction; use {', '.join(KINDS)}")
    near = suggestion(kind, KINDS) if isinstance(kind, str) else ""
    shown = f"`{short(kind)}`" if isinstance(kind, str) else named(kind)
    raise item.error(f"unknown check {shown}; the kinds are {', '.join(KINDS)}{near}")


def _answer(item: RawItem, kind: CheckKind, declared: Mapping[str, Json]) -> Json:
    """The one answer that the item gives, in `check` or beside it."""
    if kind != "json" and "fixture" in item.fields:
        raise item.error(f"`fixture` is not read by a check of kind `{kind}`; remove it")
    given: list[tuple[str, Json]] = [(f"check.{name}", declared[name]) for name in ("value", "pattern") if name in declared]
    given += [(name, item.fields[name]) for name in ("expected", "fixture") if name in item.fields]
    if not given:
        raise item.error(f"the check `{kind}` has no answer; give `expected`" + (" or `fixture`" if kind == "json" else ""))
    if len(given) > 1:
        raise item.error(f"`{given[0][0]}` and `{given[1][0]}` are two answers; keep one")
    return given[0][1]


def _number(item: RawItem, value: Json, what: str) -> int | Decimal:
    if isinstance(value, str):
        try:
            value = loads(value.strip())
        except NotJson:
            value = None
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise item.error(f"{what} of a `number` check must be one number")
    return value


def _tolerance(item: RawItem, declared: Mapping[str, Json]) -> Threshold | None:
    if "tolerance" not in declared:
        return None
    tolerance = _number(item, declared["tolerance"], "`tolerance`")
    if tolerance < 0:
        raise item.error("`tolerance` must not be below 0")
    return Threshold.of(tolerance)


def _pointer(item: RawItem, declared: Mapping[str, Json]) -> str | None:
    pointer = declared.get("pointer")
    if pointer is None and "pointer" not in declared:
        return None
    if not isinstance(pointer, str) or not _POINTER.fullmatch(pointer):
        raise item.error("`pointer` must be a JSON Pointer such as `/status`")
    return pointer


def named(value: Any) -> str:
    """What a JSON value is, for a sentence: `null`, `the number 5`, `a list`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, Decimal)):
        return f"the number {short(str(value), 30)}"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
