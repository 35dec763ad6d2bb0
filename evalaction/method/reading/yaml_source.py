"""YAML from PyYAML's parser events: no anchors, no tags, no resolvers of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import yaml

from evalaction.errors import SourceError
from evalaction.method.canonical import Json
from evalaction.method.reading.source import Builder, Path, Scalar, Spot
from evalaction.method.reading.text import position, short
from evalaction.method.reading.yaml_core import resolve

Place: TypeAlias = "tuple[int, int]"
_INDENTED_TAB = re.compile(r"^ *\t", re.MULTILINE)
TAB = "a tab cannot separate or indent anything here; use spaces"


def read(builder: Builder) -> Json:
    """The value of the whole text; the builder gets the spots. Raises SourceError."""
    tab = _INDENTED_TAB.search(builder.text)
    if tab:
        raise builder.fail(TAB, *position(builder.text, tab.end() - 1))
    try:
        return _Composer(builder).document()
    except yaml.reader.ReaderError as error:
        line, column = position(builder.text, error.position)
        raise builder.fail(f"U+{ord(builder.text[error.position]):04X} is not allowed in YAML", line, column) from None
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(builder, error) from None


def _syntax_error(builder: Builder, error: yaml.MarkedYAMLError) -> SourceError:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if mark and builder.text[mark.index : mark.index + 1] == "\t":
        return builder.fail(TAB, line, column)
    if (error.context or "").startswith("while scanning an a"):
        return builder.fail("anchors (`&name`) and aliases (`*name`) are not allowed; write the value out", line, column)
    context = f" {error.context}" if error.context else ""
    return builder.fail(f"this is not YAML: {error.problem}{context}", line, column)


class _Composer:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.events: Iterator[yaml.Event] = yaml.parse(builder.text, Loader=yaml.SafeLoader)

    def document(self) -> Json:
        next(self.events)
        start = next(self.events)
        if isinstance(start, yaml.StreamEndEvent):
            self.builder.spots[()] = Spot(line=1, column=1, start=0, end=0)
            return None
        if isinstance(start, yaml.DocumentStartEvent) and (start.version or start.tags):
            raise self.fail("YAML directives are not allowed; remove the line that begins with `%`", start)
        value = self.node((), next(self.events), None)
        next(self.events)
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise self.fail("only one YAML document is allowed in this file", after)
        return value

    def node(self, path: Path, event: yaml.Event, key: Place | None) -> Json:
        self.refuse(event)
        line, column = _place(event)
        value: Json
        raw, quoted = None, False
        start, end = _mark(event.start_mark).index, _mark(event.end_mark).index
        if isinstance(event, yaml.ScalarEvent):
            value, raw, quoted = self.scalar(path, event), event.value, event.style is not None
        else:
            self.builder.enter(path, line, column)
            value, end = self.mapping(path) if isinstance(event, yaml.MappingStartEvent) else self.sequence(path)
        self.builder.spots[path] = Spot(line=line, column=column, start=start, end=end, raw=raw, quoted=quoted, key=key)
        return value

    def mapping(self, path: Path) -> tuple[dict[str, Json], int]:
        found: dict[str, Json] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event)
            self.builder.key(found, key, *_place(event))
            found[key] = self.node((*path, key), next(self.events), _place(event))
        return found, _mark(event.end_mark).index

    def sequence(self, path: Path) -> tuple[list[Json], int]:
        found: list[Json] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            found.append(self.node((*path, len(found)), event, None))
        return found, _mark(event.end_mark).index

    def key(self, event: yaml.Event) -> str:
        self.refuse(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise self.fail("a key must be text, not a mapping or a list", event)
        if event.style is None and event.value == "<<":
            raise self.fail("merge keys (`<<`) are not allowed; write the fields out", event)
        key = self.scalar((), event)
        if not isinstance(key, str):
            raise self.fail(f"the key `{short(str(event.value))}` is not text; put it in quotes", event)
        return key

    def scalar(self, path: Path, event: yaml.ScalarEvent) -> Scalar:
        text: str = event.value
        if event.style is not None:
            self.builder.character(text, *_place(event))
            return text
        if path and path in self.builder.text_paths:
            return text if text not in {"", "~", "null", "Null", "NULL"} else None
        try:
            return resolve(text)
        except ValueError as error:
            raise self.fail(str(error), event) from None

    def refuse(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise self.fail("aliases (`*name`) are not allowed; write the value out", event)
        if getattr(event, "anchor", None):
            raise self.fail("anchors (`&name`) are not allowed; write the value out where it is needed", event)
        tag = getattr(event, "tag", None)
        if tag:
            raise self.fail(f"tags (`{short(str(tag))}`) are not allowed; remove it", event)

    def fail(self, sentence: str, event: yaml.Event) -> SourceError:
        return self.builder.fail(sentence, *_place(event))


def _mark(mark: object) -> yaml.Mark:
    assert isinstance(mark, yaml.Mark), "the pure Python parser marks every event"
    return mark


def _place(event: yaml.Event) -> Place:
    mark = _mark(event.start_mark)
    return mark.line + 1, mark.column + 1
