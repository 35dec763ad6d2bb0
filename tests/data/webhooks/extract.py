"""Cuts example payloads of npm `@octokit/webhooks-examples` down to what an event is read for: `python extract.py index.json`.

Values stay as GitHub sent them; addresses of API resources, avatars and other keys that nobody reads here go.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# event, index among its examples, name of the file
CHOSEN = (
    ("pull_request", 14, "pull_request.opened"),
    ("pull_request", 22, "pull_request.synchronize"),
    ("pull_request", 4, "pull_request.closed"),
    ("pull_request_review", 0, "pull_request_review"),
    ("push", 0, "push.tag"),
    ("push", 4, "push.branch"),
    ("push", 6, "push.other"),
    ("merge_group", 0, "merge_group"),
    ("workflow_dispatch", 0, "workflow_dispatch"),
    ("workflow_run", 0, "workflow_run.requested"),
    ("workflow_run", 2, "workflow_run.completed"),
    ("issue_comment", 0, "issue_comment.issue"),
    ("check_run", 3, "check_run"),
    ("release", 0, "release"),
    ("repository_dispatch", 0, "repository_dispatch"),
)
USELESS = ("node_id", "gravatar_id", "body", "description", "permissions", "events", "labels", "milestone", "reactions")


def trimmed(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: trimmed(entry) for key, entry in value.items()
            if key not in USELESS and not key.endswith("_url") and key != "_links" and not (key == "url" and len(value) > 4)
        }  # fmt: skip
    return [trimmed(entry) for entry in value] if isinstance(value, list) else value


def main(source: str) -> None:
    examples = {event["name"]: event["examples"] for event in json.loads(Path(source).read_text(encoding="utf-8"))}
    here = Path(__file__).parent
    for event, index, name in CHOSEN:
        text = json.dumps(trimmed(examples[event][index]), indent=1, ensure_ascii=False)
        (here / f"{name}.json").write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1])
