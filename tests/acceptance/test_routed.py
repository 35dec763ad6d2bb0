"""Arms with rules and with prompt files, from the committed files to the rows."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from support import cards
from support.command import Make, Project


@pytest.fixture
def make(make: Make) -> Make:
    """What a command decides is the point here, and not how it is started."""
    return partial(make, own_process=False)


ROUTE = b"""\
rules:
  - {when: {tag: code}, endpoint: big, model: larger}
  - {when: {tag: prose}, endpoint: big}
default: {endpoint: small, params: {temperature: 0}}
"""
PROMPT = b"""\
model: larger
modelParameters: {maxTokens: 9}
messages:
  - {role: user, content: "Say {{n}}."}
testData: [{n: "1"}]
"""
SCRIPTED = {"api": "scripted", "replies": "replies.jsonl", "model": "m"}


def project(make: Make, treatment: dict[str, Any], files: dict[str, bytes]) -> Project:
    items = [
        {"id": f"t{n}", "vars": {"n": str(n), "how": "briefly"}, "expected": str(n), "tags": ["code"] if n == 1 else []}
        for n in range(1, 4)
    ]
    replies = "".join(json.dumps({"id": f"t{n}", "replies": [str(n)]}) + "\n" for n in range(1, 4))
    card = cards.card(
        {
            "exam.tasks": "tasks.jsonl",
            "endpoints": {"big": SCRIPTED, "small": SCRIPTED},
            "arms.treatment": treatment,
            "draws": {"count": 1, "timeout_ms": 1000},
            "limits": {"min_first_pass": 1},
        }
    )
    return make(card, {"tasks.jsonl": cards.jsonl(items), "replies.jsonl": replies.encode(), **files})


def test_a_route_is_followed_item_by_item(make: Make) -> None:
    routed = project(make, {"route": "llm/routes.yaml", "template": "p.md"}, {"llm/routes.yaml": ROUTE, "p.md": b"Say {{n}}."})
    assert routed("verify").code == 0
    done = routed("run", "--run-dir", "run", "--synthetic")
    assert done.code == 0, done.said
    assert "The rule in line 3 of llm/routes.yaml chooses for no item: it matches none" in done.said
    assert {row["item"]: row["endpoint"] for row in routed.rows()} == {"t1": "big", "t2": "small", "t3": "small"}


def test_a_moved_route_is_named(make: Make) -> None:
    routed = project(make, {"route": "r.yaml", "template": "p.md"}, {"r.yaml": ROUTE, "p.md": b"Say {{n}}."})
    (routed.root / "r.yaml").write_bytes(ROUTE + b"# edited\n")
    done = routed("verify")
    assert done.code == 4 and "r.yaml has edits that are not committed" in done.said


def test_a_mistake_in_a_route_has_its_place(make: Make) -> None:
    routed = project(
        make, {"route": "r.yaml", "template": "p.md"}, {"r.yaml": ROUTE.replace(b"small", b"smal"), "p.md": b"{{n}}"}
    )
    done = routed("verify")
    assert done.code == 2
    assert "r.yaml:4:21: there is no endpoint `smal`; the card has `big`, `small`; did you mean `small`?" in done.said


def test_a_prompt_file_sets_the_model_and_says_so(make: Make) -> None:
    prompted = project(make, {"endpoint": "big", "template": "say.prompt.yml"}, {"say.prompt.yml": PROMPT})
    assert prompted("verify").code == 0
    done = prompted("run", "--run-dir", "run", "--synthetic")
    assert done.code == 0, done.said
    assert "What say.prompt.yml says of testData is not read" in done.said
    assert "Not the card but say.prompt.yml sets the model, max_tokens" in done.said
    assert prompted.results()["arms"][0]["model"] == "larger"


def test_a_private_exam_goes_to_no_shared_endpoint_that_a_rule_chooses(make: Make) -> None:
    routed = project(make, {"route": "r.yaml", "template": "p.md"}, {"r.yaml": ROUTE, "p.md": b"Say {{n}}."})
    value = json.loads((routed.root / "card.yaml").read_bytes())
    value["exam"]["data"] = "private"
    value["endpoints"]["small"] = {"api": "openai", "url": "http://127.0.0.1:9", "model": "m"}
    routed.repo.commit({"card.yaml": cards.text(value)})
    done = routed("verify")
    assert done.code == 2 and "may not go to the shared endpoint `small`" in done.said
