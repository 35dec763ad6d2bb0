"""Valid cards and exams as text, to be changed one field at a time."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

SMALLEST: dict[str, Any] = {
    "protocol": "evalaction/1",
    "name": "support-triage",
    "exam": {"tasks": "eval/tasks.jsonl", "data": "synthetic"},
    "endpoints": {
        "main": {
            "api": "openai",
            "url_env": "EVAL_URL",
            "key_env": "EVAL_KEY",
            "model": "some-model",
            "params": {"max_tokens": 400},
        }
    },
    "arms": {"treatment": {"endpoint": "main", "system": "prompts/triage.md"}},
    "draws": {"count": 5, "timeout_ms": 20000},
    "limits": {"min_stable_pass": 0.8},
}

SCRIPTED: dict[str, Any] = {"api": "scripted", "replies": "replies.json"}


def card(changes: Mapping[str, Any] | None = None, *, base: Mapping[str, Any] = SMALLEST) -> dict[str, Any]:
    """A copy of `base` with dotted paths set (`{"draws.count": 1}`); the value `...` deletes the field."""
    value = copy.deepcopy(dict(base))
    for path, new in (changes or {}).items():
        *parents, last = path.split(".")
        place = value
        for parent in parents:
            place = place.setdefault(parent, {})
        if new is ...:
            del place[last]
        else:
            place[last] = copy.deepcopy(new)
    return value


def two_arms(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Two endpoints at one commit, with `claim: none`."""
    base = card(
        {
            "endpoints.local": {"api": "openai", "url": "http://127.0.0.1:8080/v1", "model": "small", "params": {}},
            "arms.control": {"endpoint": "local", "system": "prompts/triage.md"},
            "sign": {"claim": "none", "seed": "freeze-me-before-running"},
        }
    )
    return card(changes, base=base)


def text(value: Mapping[str, Any]) -> bytes:
    """The card as a file: JSON, which a card may be."""
    return json.dumps(value, indent=2, ensure_ascii=False).encode()


def item(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"t{number:04d}", "prompt": f"Say {number}.", "expected": str(number)} | fields


def jsonl(items: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in items).encode()


def exam_text(count: int = 30, **fields: Any) -> bytes:
    """A JSONL exam of `count` items that ask for their own number."""
    return jsonl([item(number, **fields) for number in range(count)])
