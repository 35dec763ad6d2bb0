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
from evalaction.method.records import Check, CheckKind, CheckSource

KINDS: tuple[CheckKind, ...] = get_args(CheckKind)
SOURCES: tuple[CheckSource, ...] = get_args(CheckSource)
_READ: dict[CheckKind, tuple[str, ...]] = {
    "exact": ("value",),
    "regex": ("value", "pattern"),
    "contains": ("value",),
    "number": ("value", "tolerance"),
    "json": ("value", "pointer", "source"),
    "python": ("source",),
    "code": (),
}
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


def check_of(item: RawItem, checker: str | None = None) -> Check:
    """The frozen checker of an item; `checker` is the exam's Python file, where the card names one.

    Raises SourceError where it is missing, unknown or ambiguous.
    """
    declared = _declared(item)
    kind = _kind(item, declared["kind"])
    if item.check_file and kind != "code":
        raise item.error(f"a `check.py` lies beside this item, and its `check` is `{kind}`; keep one of them")
    for field in declared:
        if field != "kind" and field not in _READ[kind]:
            raise item.error(f"`check` of kind `{kind}` has no field `{short(str(field))}`{suggestion(str(field), _READ[kind])}")
    if kind in ("python", "code"):
        return _program(item, kind, checker, _source(item, declared))
    answer = _answer(item, kind, declared)
    if kind == "number":
        return Check(kind=kind, expected=_number(item, answer, "the answer"), tolerance=_tolerance(item, declared))
    if kind == "json":
        return Check(kind=kind, expected=answer, pointer=_pointer(item, declared), source=_source(item, declared))
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
    if item.check_file:
        return {"kind": "code"}
    if "expected" in item.fields:
        return {"kind": "exact"}
    if "fixture" in item.fields:
        return {"kind": "python"}
    beside = "put a `check.py` beside it, or " if item.folder else ""
    raise item.error(f"this item has no checker; {beside}give it `expected`, or `check` with an answer")


def _kind(item: RawItem, kind: Json) -> CheckKind:
    for known in KINDS:
        if kind == known:
            return known
    near = suggestion(kind, KINDS) if isinstance(kind, str) else ""
    shown = f"`{short(kind)}`" if isinstance(kind, str) else named(kind)
    raise item.error(f"unknown check {shown}; the kinds are {', '.join(KINDS)}{near}")


def _program(item: RawItem, kind: CheckKind, checker: str | None, source: CheckSource) -> Check:
    """A checker that is a file of the exam: no answer stands in the item, but what the file is given may."""
    if kind == "code" and item.check_file is None:
        place = "" if item.folder else ", in a folder of its own for each task"
        raise item.error(f"a `code` check is a `check.py` beside its `task.json`{place}; add it, or use another check")
    if kind == "python" and checker is None:
        how = "as `check: python` says" if "check" in item.fields else "as a `fixture` alone means"
        raise item.error(f"this item is judged by a Python checker, {how}; name its file as `exam.checker` in the card")
    unread = ("expected",) if kind == "python" else ("expected", "fixture")
    for field in unread:
        if field in item.fields:
            instead = "; write it as `fixture`" if kind == "python" else "; remove it"
            raise item.error(f"`{field}` is not read by a check of kind `{kind}`{instead}")
    file = item.check_file if kind == "code" else checker
    return Check(kind=kind, file=file, fixture=item.fields.get("fixture"), source=source)


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


def _source(item: RawItem, declared: Mapping[str, Json]) -> CheckSource:
    """What is judged: the output, or what the endpoint tells of its work."""
    source = declared.get("source", "output")
    for known in SOURCES:
        if source == known:
            return known
    raise item.error("the `source` of a check is `output` or `trace`")


def named(value: Any) -> str:
    """What a JSON value is, for a sentence: `null`, `the number 5`, `a list`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, Decimal)):
        return f"the number {short(str(value), 30)}"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
