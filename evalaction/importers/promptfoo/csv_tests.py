"""Tests in a CSV file: columns are vars, `__expected` holds an assert in one text, other `__` columns set the test."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping

from evalaction.errors import SourceError
from evalaction.importers.places import Place
from evalaction.importers.promptfoo.asserts import REFUSED, TAKEN
from evalaction.method.canonical import Json
from evalaction.method.reading.source import Document, Spot
from evalaction.method.reading.text import decode

_TYPED = re.compile(r"(not-)?([a-z][a-z:-]*)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?", re.DOTALL)
_CODE = ("javascript:", "fn:", "eval:", "python:")
_GRADED = ("grade:", "llm-rubric:")
_LISTS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
_SETTINGS = {"__description": "description", "__threshold": "threshold", "__providerOutput": "providerOutput"}


def csv_tests(data: bytes, *, file: str) -> Iterator[tuple[Mapping[str, Json], Place]]:
    """One test a row. Raises SourceError."""
    text = decode(data, file=file)
    rows = csv.DictReader(text.splitlines(keepends=True), strict=True)
    try:
        line = 2
        for row in rows:
            spot = Spot(line=line, column=1, start=0, end=0)
            yield _test(row), Place(Document(file=file, text="", value=None, spots={(): spot}))
            line = rows.line_num + 1
    except csv.Error as error:
        raise SourceError(f"this is not CSV: {error}", file=file) from None


def _test(row: Mapping[str | None, str | None]) -> dict[str, Json]:
    variables: dict[str, Json] = {}
    asserts: list[dict[str, Json]] = []
    found: dict[str, Json] = {}
    options: dict[str, Json] = {}
    metric: dict[str, Json] = {}
    for name, value in row.items():
        if name is None or value is None:
            found["columns"] = "more or fewer cells than the header"
        elif name.startswith("__expected"):
            if value.strip():
                asserts.append(assert_of(value))
        elif name in ("__prefix", "__suffix"):
            options |= {name.strip("_"): value} if value else {}
        elif name.startswith("__metadata:"):
            found["metadata"] = {**_mapping(found.get("metadata")), name.removeprefix("__metadata:"): value}
        elif name in _SETTINGS:
            found |= {_SETTINGS[name]: value} if value else {}
        elif name == "__metric":
            metric = {"metric": value} if value else {}
        else:
            variables[name] = value
    return {**found, "vars": variables, "assert": [one | metric for one in asserts], **({"options": options} if options else {})}


def assert_of(text: str) -> dict[str, Json]:
    """An assert as promptfoo reads it from one cell: `contains: x`, `not-icontains: x`, `is-json`; otherwise equality."""
    if text.startswith(_CODE) or (text.startswith("file://") and re.search(r"\.(py|js|ts|cjs|mjs)(:|$)", text)):
        return {"type": "python" if text.startswith("python:") or ".py" in text else "javascript", "value": text}
    if text.startswith(_GRADED):
        return {"type": "llm-rubric", "value": text.partition(":")[2]}
    typed = _TYPED.fullmatch(text)
    if typed and (typed[2] in TAKEN or typed[2] in REFUSED):
        value: Json = typed[4]
        if typed[2] in _LISTS and typed[4] is not None:
            value = [part.strip() for part in typed[4].split(",")]
        return {"type": (typed[1] or "") + typed[2], "value": value}
    return {"type": "equals", "value": text}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
