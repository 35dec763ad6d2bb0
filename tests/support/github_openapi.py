"""GitHub's OpenAPI description as a judge of requests and responses, and as a source of responses that are valid.

The description is OpenAPI 3.0; JSON Schema 2020-12 judges after three changes: `nullable` becomes a type (and an enum value) of
its own, `discriminator` goes, and a `$ref` stands alone, as 3.0 has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jsonschema

SOURCE = Path(__file__).parents[1] / "data" / "openapi" / "github.json"
_WITH_SLASHES = {"path", "ref"}


@dataclass(frozen=True)
class Operation:
    id: str
    method: str
    template: str
    pattern: re.Pattern[str]
    spec: Mapping[str, Any]


def adapted(schema: Any) -> Any:
    """An OpenAPI 3.0 schema as JSON Schema 2020-12."""
    if isinstance(schema, list):
        return [adapted(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    value = {key: adapted(one) for key, one in schema.items() if key not in {"nullable", "discriminator"}}
    if isinstance(schema.get("properties"), dict):  # a property may be called `nullable`
        value["properties"] = {name: adapted(one) for name, one in schema["properties"].items()}
    if schema.get("nullable") is not True:
        return value
    if "enum" in value:
        value["enum"] = [*value["enum"], None]
    if "type" in value:
        return {**value, "type": [value["type"], "null"]}
    return {"anyOf": [value, {"type": "null"}]}


class Description:
    def __init__(self, source: Path = SOURCE) -> None:
        self._document = json.loads(source.read_text(encoding="utf-8"))
        self._validators: dict[str, jsonschema.Draft202012Validator] = {}
        self.operations = [
            Operation(spec["operationId"], method.upper(), path, _pattern(path), spec)
            for path, methods in self._document["paths"].items()
            for method, spec in methods.items()
        ]

    @cached_property
    def _schemas(self) -> Any:
        return {name: adapted(schema) for name, schema in self._document["components"]["schemas"].items()}

    def operation(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        for operation in self.operations:
            if operation.method == method and (match := operation.pattern.fullmatch(path)):
                return operation, match.groupdict()
        return None

    def request_problems(
        self, operation: Operation, path: Mapping[str, str], query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> list[str]:
        """What the description does not have, and what GitHub's documentation asks of every request and this one lacks."""
        problems = self._parameter_problems(operation, path, query)
        if not re.fullmatch(r"Bearer \S+", headers.get("authorization", "")):
            problems.append("no bearer token")
        for name, wanted in (("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")):
            if headers.get(name) != wanted:
                problems.append(f"{name} is not {wanted}")
        if not headers.get("user-agent"):
            problems.append("no user-agent")
        return problems + self._body_problems(operation, body)

    def response_problems(self, operation: Operation, status: int, body: Any) -> list[str]:
        """`body` is None for a reply without one. Statuses that the description leaves out carry a basic error."""
        schema = self.schema_of(operation, status)
        if schema is None:
            return [] if body is None else [f"{status} has a body"]
        return self._problems(f"{operation.id} {status}", schema, body)

    def schema_of(self, operation: Operation, status: int) -> Any:
        spec = operation.spec["responses"].get(str(status))
        if spec is None:
            return {"$ref": "#/components/schemas/basic-error"} if status >= 300 else {"not": {}}
        content = self._resolved(spec).get("content", {}).get("application/json")
        return content["schema"] if content else None

    def _parameter_problems(self, operation: Operation, path: Mapping[str, str], query: Mapping[str, str]) -> list[str]:
        parameters = [self._resolved(one) for one in operation.spec.get("parameters", ())]
        known = {one["name"]: one for one in parameters if one["in"] == "query"}
        problems = [f"unknown query parameter {name}" for name in query if name not in known]
        problems += [f"{name} is missing" for name, one in known.items() if one.get("required") and name not in query]
        for one in parameters:
            text = (path if one["in"] == "path" else query).get(one["name"])
            if text is not None:
                value: Any = int(text) if one["schema"].get("type") == "integer" and re.fullmatch(r"-?\d+", text) else text
                problems += self._problems(f"{operation.id} {one['in']} {one['name']}", one["schema"], value)
        return problems

    def _body_problems(self, operation: Operation, body: bytes) -> list[str]:
        spec = operation.spec.get("requestBody")
        if spec is None:
            return ["a body where none belongs"] if body else []
        schema = self._resolved(spec)["content"]["application/json"]["schema"]
        try:
            value = json.loads(body)
        except ValueError:
            return ["the body is not JSON"]
        unknown = set(value) - set(schema.get("properties", value)) if isinstance(value, dict) else set()
        return [f"unknown field {name}" for name in sorted(unknown)] + self._problems(f"{operation.id} body", schema, value)

    def _problems(self, name: str, schema: Any, value: Any) -> list[str]:
        if name not in self._validators:
            root = {**adapted(schema), "components": {"schemas": self._schemas}}
            self._validators[name] = jsonschema.Draft202012Validator(root)
        errors = self._validators[name].iter_errors(value)
        return [f"{name}: {error.json_path}: {error.message[:200]}" for error in errors]

    def _resolved(self, value: Any) -> Any:
        while "$ref" in value:
            _, *parts = value["$ref"].split("/")
            value = self._document
            for part in parts:
                value = value[part]
        return value

    def _example(self, schema: Any) -> Any:
        schema = self._resolved(schema)
        if schema.get("nullable"):
            return None
        for key in ("oneOf", "anyOf", "allOf"):
            if key in schema and "type" not in schema:
                return self._example(schema[key][0])
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                return {name: self._example(schema["properties"][name]) for name in schema.get("required", ())}
            case "array":
                return []
            case "integer" | "number":
                return 1
            case "boolean":
                return False
            case _:
                return {"date-time": "2026-01-01T00:00:00Z", "uri": "https://github.example/x"}.get(schema.get("format"), "x")

    def filled(self, schema: Any, value: Any) -> Any:
        """`value` with whatever the schema requires beside it; what is nested is filled likewise."""
        schema = self._resolved(schema)
        if "oneOf" in schema:
            options = (self.filled(option, value) for option in schema["oneOf"])
            return next((one for one in options if not self._problems(f"one of {id(schema)}", schema, one)), value)
        if "allOf" in schema:
            for part in schema["allOf"]:
                value = self.filled(part, value)
            return value
        if isinstance(value, list):
            return [self.filled(schema.get("items", {}), one) for one in value]
        if not isinstance(value, dict):
            return value
        properties = schema.get("properties", {})
        full = {name: self._example(properties[name]) for name in schema.get("required", ()) if name not in value}
        return {**full, **{name: self.filled(properties.get(name, {}), one) for name, one in value.items()}}


@cache
def description() -> Description:
    """Read once a process: its validators are costly to build, and nothing in it changes."""
    return Description()


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    names = parts[1::2]
    text = re.escape(parts[0])
    for name, after in zip(names, parts[2::2], strict=True):
        text += f"(?P<{name}>{'.+' if name in _WITH_SLASHES else '[^/]+'}){re.escape(after)}"
    return re.compile(text)
