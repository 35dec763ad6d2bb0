"""Contexts for tests: real payloads under tests/data/webhooks with the variables a runner sets beside them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from evalaction.github.event import Context, read_context

DATA = Path(__file__).parent.parent / "data" / "webhooks"
SHA = "a1" * 20


def example(name: str) -> dict[str, Any]:
    value = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return copy.deepcopy(value)


def environ(event: str, repository: str = "octo-org/octo-repo", **more: str) -> dict[str, str]:
    """GITHUB_* variables as github.com sets them."""
    return {
        "GITHUB_EVENT_NAME": event, "GITHUB_REPOSITORY": repository, "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_API_URL": "https://api.github.com", "GITHUB_GRAPHQL_URL": "https://api.github.com/graphql", "GITHUB_SHA": SHA,
        "GITHUB_REF": "refs/heads/main", "GITHUB_ACTOR": "octocat", "GITHUB_RUN_ID": "1589141559", "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_WORKFLOW": "evaluation", "GITHUB_JOB": "gate", **more,
    }  # fmt: skip


def context(event: str, payload: dict[str, Any] | None = None, **more: str) -> Context:
    """The context of a payload, in the payload's own repository unless told."""
    value = payload if payload is not None else {}
    repository = more.pop("repository", None) or value.get("repository", {}).get("full_name", "octo-org/octo-repo")
    return read_context(environ(event, repository, **more), json.dumps(value))
