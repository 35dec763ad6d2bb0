"""What is wrong with a schema before anything is judged by it: broken, unresolvable, endless, misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeAlias, cast

from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY as SPECIFICATIONS  # type: ignore[import-untyped]
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from evalaction.checks.schema import BadSchema, compile_schema, describe, draft_of
from evalaction.checks.words import clipped, one_line
from evalaction.method.canonical import Json

PROBES: tuple[Json, ...] = ({}, [], "", 0, True, None)
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# Keywords whose schemas judge the same value again, without a step down into it.
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "extends", "not", "if", "then", "else")
_SAME_VALUE_BY_NAME = ("dependentSchemas", "dependencies")

# A keyword and what to know about it.
Warning_: TypeAlias = tuple[str, str]


def check_schema(schema: Json) -> list[Warning_]:
    """Warnings about a usable schema. Raises BadSchema for any other: see the module."""
    draft = draft_of(schema)
    _refuse_misshapen(draft, schema)
    if not isinstance(schema, Mapping):
        return []
    walk = _Walk(draft)
    try:
        walk.over(schema)
        judge = compile_schema(schema)
        for probe in PROBES:
            judge(probe)
    except RecursionError as error:
        raise BadSchema("The schema nests too deeply.") from error
    return walk.warnings


def _refuse_misshapen(draft: type[Validator], schema: Any) -> None:
    error = best_match(draft(draft.META_SCHEMA, registry=Registry()).iter_errors(_plain(schema)))
    if error is not None:
        raise BadSchema(one_line(f"The schema is not valid JSON Schema: {describe(error)}."))


class _Walk:
    """Visits every schema below one root and everything it refers to."""

    def __init__(self, draft: type[Validator]) -> None:
        self.draft = draft
        self.warnings: list[Warning_] = []
        meta = cast("Mapping[str, Any]", draft.META_SCHEMA)
        self._specification: Any = specification_with(str(meta.get("$id", meta.get("id"))))
        self._known = known_keywords(draft)
        self._edges: dict[int, list[Any]] = {}
        """From each visited schema, by identity, to those that judge the same value."""
        self._references: list[tuple[Mapping[str, Any], str, Any]] = []

    def over(self, schema: Mapping[str, Any]) -> None:
        resource = self._specification.create_resource(schema)
        self._visit(resource, SPECIFICATIONS.combine(Registry()).resolver_with_root(resource))
        for origin, reference, resolver in self._references:  # grows while targets bring references of their own
            self._follow(origin, reference, resolver)
        self._refuse_loops()

    def _visit(self, resource: Resource[Any], resolver: Any) -> None:
        schema = resource.contents
        if not isinstance(schema, Mapping) or id(schema) in self._edges:
            return
        if "$schema" in schema and self._edges:
            raise BadSchema("Only the root of a schema names its draft in $schema.")
        self._edges[id(schema)] = list(_same_value(schema))
        self._read_keywords(schema)
        for name in _REFERENCES:
            if name in schema:
                self._references.append((schema, schema[name], resolver))
        for part in resource.subresources():
            self._visit(part, resolver.in_subresource(part))

    def _read_keywords(self, schema: Mapping[str, Any]) -> None:
        for keyword in schema:
            if keyword not in self._known and not keyword.startswith("x-"):
                near = get_close_matches(keyword, self._known, 1)
                meant = f" Did you mean {near[0]}?" if near else ""
                self.warnings.append((keyword, f" is no keyword of JSON Schema and checks nothing.{meant}"))
        if "format" in schema:
            self.warnings.append(("format", " is an annotation and is not checked; a pattern is."))
        patterns = [schema["pattern"]] if "pattern" in schema else []
        for pattern in [*patterns, *schema.get("patternProperties", {})]:
            try:
                re.compile(pattern)
            except (re.error, OverflowError) as error:
                raise BadSchema(one_line(f"The pattern {clipped(pattern)} does not compile: {error}.")) from error

    def _follow(self, origin: Mapping[str, Any], reference: Any, resolver: Any) -> None:
        try:
            target = resolver.lookup(reference)
        except (Unresolvable, LookupError, ValueError, TypeError, AttributeError) as error:
            raise BadSchema(
                f"The $ref {clipped(reference)} leads nowhere; references stay inside the schema and nothing is fetched."
            ) from error
        if not isinstance(target.contents, (bool, Mapping)):
            raise BadSchema(f"The $ref {clipped(reference)} leads to something that is no schema.")
        self._edges[id(origin)].append(target.contents)
        # The drafts' own meta-schemas come with the library and need no check.
        if "://json-schema.org/draft" not in reference and id(target.contents) not in self._edges:
            _refuse_misshapen(self.draft, target.contents)
            self._visit(self._specification.create_resource(target.contents), target.resolver)

    def _refuse_loops(self) -> None:
        done: set[int] = set()
        for start in list(self._edges):
            self._descend(start, done, set())

    def _descend(self, node: int, done: set[int], path: set[int]) -> None:
        if node in path:
            raise BadSchema("The schema refers back to itself without a step into the value, which never ends.")
        if node in done:
            return
        path.add(node)
        for following in self._edges.get(node, ()):
            self._descend(id(following), done, path)
        path.discard(node)
        done.add(node)


def _plain(value: Any) -> Any:
    """The value with the numbers that the meta-schemas expect: 1.0 is an integer there."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _same_value(schema: Mapping[str, Any]) -> Iterator[Any]:
    for keyword in _SAME_VALUE:
        part = schema.get(keyword)
        yield from part if isinstance(part, list) else [part] if isinstance(part, Mapping) else []
    for keyword in _SAME_VALUE_BY_NAME:
        parts = schema.get(keyword)
        yield from (part for part in parts.values() if isinstance(part, Mapping)) if isinstance(parts, Mapping) else ()


@cache
def known_keywords(draft: type[Validator]) -> frozenset[str]:
    """Every keyword of a draft, as its meta-schema lists them."""
    meta = cast("Mapping[str, Any]", draft.META_SCHEMA)
    known = set(meta["properties"]) | set(draft.VALIDATORS) | {"$ref"}
    resolver = SPECIFICATIONS.resolver(str(meta.get("$id", "")))
    for vocabulary in meta.get("allOf", ()):
        known |= set(cast("Mapping[str, Any]", resolver.lookup(vocabulary["$ref"]).contents)["properties"])
    return frozenset(known)
