"""Cuts the operations the stand-in serves out of GitHub's OpenAPI description: `python extract.py api.github.com.json`.

Prose, examples and extensions go; schemas, parameters and statuses stay as GitHub wrote them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from support.api_descriptions import lean, references

OPERATIONS = (
    "GET /user",
    "GET /repos/{owner}/{repo}",
    "GET /repos/{owner}/{repo}/branches/{branch}",
    "GET /repos/{owner}/{repo}/issues",
    "POST /repos/{owner}/{repo}/issues",
    "PATCH /repos/{owner}/{repo}/issues/{issue_number}",
    "GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
    "GET /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "GET /repos/{owner}/{repo}/pulls",
    "GET /repos/{owner}/{repo}/pulls/{pull_number}",
    "GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls",
    "POST /repos/{owner}/{repo}/statuses/{sha}",
    "GET /repos/{owner}/{repo}/contents/{path}",
    "GET /repos/{owner}/{repo}/git/ref/{ref}",
    "POST /repos/{owner}/{repo}/git/refs",
    "PATCH /repos/{owner}/{repo}/git/refs/{ref}",
    "GET /repos/{owner}/{repo}/git/blobs/{file_sha}",
    "POST /repos/{owner}/{repo}/git/blobs",
    "GET /repos/{owner}/{repo}/git/trees/{tree_sha}",
    "POST /repos/{owner}/{repo}/git/trees",
    "GET /repos/{owner}/{repo}/git/commits/{commit_sha}",
    "POST /repos/{owner}/{repo}/git/commits",
)


def extract(description: dict[str, Any]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        method, path = operation.split()
        paths.setdefault(path, {})[method.lower()] = lean(description["paths"][path][method.lower()])
    components: dict[str, dict[str, Any]] = {}
    waiting, seen = references(paths) | {"#/components/schemas/basic-error"}, set[str]()
    while waiting:
        reference = waiting.pop()
        seen.add(reference)
        _, _, kind, name = reference.split("/")
        components.setdefault(kind, {})[name] = lean(description["components"][kind][name])
        waiting |= references(components[kind][name]) - seen
    info = {key: description["info"][key] for key in ("title", "version", "license")}
    return {"openapi": description["openapi"], "info": info, "paths": paths, "components": components}


if __name__ == "__main__":
    source = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    target = Path(__file__).with_name("github.json")
    target.write_text(json.dumps(extract(source), indent=1, sort_keys=True) + "\n", encoding="utf-8")
