"""YAML that another tool reads: anchors, aliases and merge keys are followed, within a bound; each value keeps its line.

Scalars are read by the core schema of YAML 1.2, as js-yaml and yaml.v3 do for what matters here. Tags are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import yaml

from evalaction.errors import SourceError
from evalaction.importers.imported import within
from evalaction.method.canonical import Json
from evalaction.method.reading.source import MAX_DEPTH, Document, Path, Scalar, Spot, load
from evalaction.method.reading.text import decode, short
from evalaction.method.reading.yaml_core import resolve
from evalaction.method.reading.yaml_source import TAB

MAX_BYTES = 2 * 1024 * 1024
"""Of one file: its parser takes seconds for each megabyte."""
MAX_VALUES = 100_000
"""Values of a document after its aliases are followed."""
_HALF = re.compile("[\ud800-\udfff]")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?")


def read_loose(data: bytes, *, file: str) -> Document:
    """The value of a YAML or JSON file with its places. Raises SourceError where it is neither, or too much of it."""
    text = decode(within(data, MAX_BYTES, file), file=file)
    if text.lstrip(" \t\r\n").startswith("{") and len(data) <= 256 * 1024:
        return load(data, file=file)
    try:
        return _Composer(file=file, text=text).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        problem = getattr(error, "problem", None) or "it holds a character that YAML does not allow"
        tab = mark is not None and text[mark.index : mark.index + 1] == "\t"
        raise SourceError(TAB if tab else f"this is not YAML: {problem}", file=file, line=line, column=column) from None


def plain_date(document: Document, path: Path) -> bool:
    """Whether a scalar is written as a date without quotes, which other readers take for a date and not for text."""
    spot = document.spots.get(path)
    return spot is not None and not spot.quoted and spot.raw is not None and _DATE.fullmatch(spot.raw) is not None


@dataclass(slots=True)
class _Node:
    value: Json
    spot: Spot
    parts: list[_Part]


@dataclass(frozen=True, slots=True)
class _Part:
    name: str | int
    node: _Node
    key: tuple[int, int] | None = None
    """Line and column of the key in a mapping."""


@dataclass(kw_only=True, slots=True)
class _Composer:
    file: str
    text: str
    anchors: dict[str, _Node] = field(default_factory=dict)
    events: Iterator[yaml.Event] = field(init=False)

    def document(self) -> Document:
        self.events = yaml.parse(self.text, Loader=yaml.SafeLoader)
        next(self.events)
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return Document(file=self.file, text=self.text, value=None, spots={(): Spot(line=1, column=1, start=0, end=0)})
        root = self.node(next(self.events), 0)
        next(self.events)
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise self.fail("only one YAML document can be read from this file", after)
        spots: dict[Path, Spot] = {}
        value = self.unfold(root, (), spots)
        return Document(file=self.file, text=self.text, value=value, spots=spots)

    def node(self, event: yaml.Event, depth: int) -> _Node:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise self.fail(f"the alias `*{short(str(event.anchor))}` has no anchor before it", event)
            return self.anchors[event.anchor]
        if depth > MAX_DEPTH:
            raise self.fail(f"nested over {MAX_DEPTH} levels deep", event)
        tag, anchor = getattr(event, "tag", None), getattr(event, "anchor", None)
        if tag:
            raise self.fail(f"tags (`{short(str(tag))}`) are not read; remove it", event)
        node = self.scalar(event) if isinstance(event, yaml.ScalarEvent) else self.collection(event, depth)
        if anchor:
            self.anchors[anchor] = node
        return node

    def scalar(self, event: yaml.ScalarEvent) -> _Node:
        text = self.whole(event)
        try:
            value: Scalar = resolve(text) if event.style is None else text
        except ValueError as error:
            raise self.fail(str(error), event) from None
        return _Node(value, self.spot(event, raw=text, quoted=event.style is not None), [])

    def whole(self, event: yaml.ScalarEvent) -> str:
        """The text of a scalar; two escapes may stand for one character, as in JSON, but half of one is refused."""
        text = str(event.value)
        if text.isascii() or not _HALF.search(text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise self.fail("a text holds half of a character, which cannot be written as UTF-8", event) from None

    def collection(self, event: yaml.Event, depth: int) -> _Node:
        parts: list[_Part] = []
        if isinstance(event, yaml.SequenceStartEvent):
            while not isinstance(inner := next(self.events), yaml.SequenceEndEvent):
                parts.append(_Part(len(parts), self.node(inner, depth + 1)))
            return _Node([], self.spot(event), parts)
        found: dict[str, _Part] = {}
        merged: list[_Node] = []
        while not isinstance(inner := next(self.events), yaml.MappingEndEvent):
            key = self.key(inner)
            node = self.node(next(self.events), depth + 1)
            if key == "<<" and isinstance(inner, yaml.ScalarEvent) and inner.style is None:
                merged += [part.node for part in node.parts] if isinstance(node.value, list) else [node]
            elif key in found:
                raise self.fail(f"the key `{short(key)}` appears twice in one mapping", inner)
            else:
                mark = _mark(inner.start_mark)
                found[key] = _Part(key, node, (mark.line + 1, mark.column + 1))
        for source in merged:
            for part in source.parts:
                found.setdefault(str(part.name), part)
        return _Node({}, self.spot(event), list(found.values()))

    def key(self, event: yaml.Event) -> str:
        if isinstance(event, yaml.AliasEvent):
            event_value = self.anchors[event.anchor].spot.raw if event.anchor in self.anchors else None
            if event_value is not None:
                return event_value
        if not isinstance(event, yaml.ScalarEvent):
            raise self.fail("a key must be text, not a mapping or a list", event)
        return self.whole(event)

    def unfold(self, node: _Node, path: Path, spots: dict[Path, Spot], key: tuple[int, int] | None = None) -> Json:
        """The value with its aliases followed; a file of a few lines can stand for billions of values, hence the bound."""
        if len(spots) >= MAX_VALUES or len(path) > MAX_DEPTH:
            raise SourceError(f"its aliases stand for over {MAX_VALUES:,} values", file=self.file, line=node.spot.line)
        spots[path] = replace(node.spot, key=key)
        values = [(part.name, self.unfold(part.node, (*path, part.name), spots, part.key)) for part in node.parts]
        if isinstance(node.value, list):
            return [value for _, value in values]
        if isinstance(node.value, dict):
            return {str(name): value for name, value in values}
        return node.value

    def spot(self, event: yaml.Event, *, raw: str | None = None, quoted: bool = False) -> Spot:
        start, end = _mark(event.start_mark), _mark(event.end_mark)
        return Spot(line=start.line + 1, column=start.column + 1, start=start.index, end=end.index, raw=raw, quoted=quoted)

    def fail(self, sentence: str, event: yaml.Event) -> SourceError:
        mark = _mark(event.start_mark)
        return SourceError(sentence, file=self.file, line=mark.line + 1, column=mark.column + 1)


def _mark(mark: object) -> yaml.Mark:
    assert isinstance(mark, yaml.Mark), "the pure Python parser marks every event"
    return mark
