"""`tests` and `defaultTest` of a configuration, wherever they are written, as one flat list of cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from evalaction.errors import SourceError, UsageError
from evalaction.importers.imported import Ledger, NotCarried
from evalaction.importers.loose_yaml import read_loose
from evalaction.importers.places import Place, Read, read_named
from evalaction.importers.promptfoo.csv_tests import csv_tests
from evalaction.method.canonical import Json
from evalaction.method.reading.text import short

MOST = 20_000
_MAPPING_KEYS = ("vars", "options", "metadata")


@dataclass(frozen=True, slots=True)
class Test:
    """One test as it is written, defaults not yet applied."""

    fields: Mapping[str, Json]
    place: Place

    __test__ = False  # not for pytest


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One test with its defaults, for one combination of the values of its vars."""

    name: str
    place: Place
    fields: Mapping[str, Json]
    variables: Mapping[str, Json]
    asserts: tuple[tuple[Json, Place], ...]


def read_tests(value: Json, place: Place, read: Read, ledger: Ledger) -> Iterator[Test]:
    """The tests of a list, or of the files that it names; what cannot be read is a loss of its own."""
    entries = [(value, place)] if isinstance(value, str) else []
    if isinstance(value, list):
        entries = [(part, place.at(index)) for index, part in enumerate(value)]
    elif value is not None and not isinstance(value, str):
        ledger.item(place.line, "tests", "is neither a list nor the name of a file; write the tests out", file=place.file)
    for entry, where in entries:
        if isinstance(entry, Mapping) and not ("path" in entry and "vars" not in entry):
            yield Test(entry, where)
            continue
        shown = f"tests from {short(str(entry))}"
        try:
            if not isinstance(entry, str):
                raise NotCarried("tests that a generator makes are not read; run it, and name the file that it wrote")
            yield from _from_file(entry, read)
        except NotCarried as lost:
            ledger.item(where.line, shown, lost.why, file=where.file)


def _from_file(reference: str, read: Read) -> Iterator[Test]:
    path = reference.removeprefix("file://")
    name = path.casefold()
    if "*" in path or "://" in path or not name.endswith((".csv", ".yaml", ".yml", ".json", ".jsonl")):
        raise NotCarried("only CSV, YAML, JSON and JSONL files are read, one by one; no code, no glob and no address is")
    data = read_named(path, read)
    try:
        if name.endswith(".csv"):
            yield from (Test(fields, place) for fields, place in csv_tests(data, file=path))
        elif name.endswith(".jsonl"):
            for number, line in enumerate(data.splitlines(), 1):
                if line.strip():
                    document = read_loose(line, file=f"{path} line {number}")
                    yield Test(_mapping(document.value), Place(document))
        else:
            document = read_loose(data, file=path)
            values = document.value if isinstance(document.value, list) else [document.value]
            for index, value in enumerate(values):
                yield Test(_mapping(value), Place(document, (index,) if isinstance(document.value, list) else ()))
    except SourceError as error:
        raise NotCarried(f"the file cannot be read: {error.sentence}") from None


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise NotCarried("the file does not hold tests: each is a mapping with `vars` and `assert`")
    return value


def cases(tests: list[Test], default: Test | None) -> Iterator[Case]:
    """Tests with `defaultTest` below them; a var with a list of values is a case for each value, as in promptfoo."""
    number = 0
    for position, test in enumerate(tests, 1):
        fields = _merged(test.fields, default.fields if default else {})
        variables = fields.get("vars")
        variables = variables if isinstance(variables, Mapping) else {}
        options = fields.get("options")
        expanded = not (isinstance(options, Mapping) and options.get("disableVarExpansion"))
        lists = [name for name, value in variables.items() if isinstance(value, list) and value and expanded]
        asserts = tuple(_asserts(test, default))
        name = fields.get("description")
        for copies, values in enumerate(product(*(_list(variables[one]) for one in lists)), 1 if lists else 0):
            number += 1
            if number > MOST:
                raise UsageError(f"{short(test.place.file)} stands for over {MOST:,} tests; import a part of it.")
            yield Case(
                name=_name(name, position, copies),
                place=test.place,
                fields=fields,
                variables={**variables, **dict(zip(lists, values, strict=True))},
                asserts=asserts,
            )


def _merged(test: Mapping[str, Json], default: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {**default, **test}
    for key in _MAPPING_KEYS:
        below, above = default.get(key), test.get(key)
        if isinstance(below, Mapping) and isinstance(above, Mapping):
            found[key] = {**below, **above}
    return found


def _asserts(test: Test, default: Test | None) -> Iterator[tuple[Json, Place]]:
    options = test.fields.get("options")
    alone = isinstance(options, Mapping) and options.get("disableDefaultAsserts") is True
    for source in (() if alone or default is None else (default,)) + (test,):
        listed = source.fields.get("assert")
        if isinstance(listed, list):
            yield from ((one, source.place.at("assert", index)) for index, one in enumerate(listed))
        elif listed is not None:
            yield listed, source.place.at("assert")


def _name(description: Json, position: int, copy: int) -> str:
    """What the case is called: the cases of one test, one for each value of a var, are numbered from 1."""
    name = description if isinstance(description, str) else f"test-{position:04d}"
    return f"{name} {copy}" if copy else name


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else [value]
