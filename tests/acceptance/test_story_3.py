"""Story 3: the router sends ten of eighty items elsewhere."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from support import cards
from support.changes import TwoCommits, against_base
from support.command import KEY, Done, evalaction
from support.endpoint_server import EndpointServer, answering, serving
from support.luck import Lucky

BEFORE: dict[str, Any] = {"default": {"endpoint": "small"}}
AFTER: dict[str, Any] = {"rules": [{"name": "code", "when": {"tag": "code"}, "endpoint": "big"}], **BEFORE}


def routed(items: str, claim: str = "ahead") -> dict[str, Any]:
    endpoint = {"api": "openai", "url_env": "EVAL_URL", "key_env": "EVAL_KEY", "params": {"max_tokens": 40}}
    return against_base({
        "endpoints": {name: {**endpoint, "model": f"{name}-model"} for name in ("small", "big")},
        "arms.treatment": {"route": "routes.json"},
        "sign": {"claim": claim, "seed": "freeze-me-before-running", "items": items},
    })  # fmt: skip


def rerouted(root: Path, card: dict[str, Any]) -> TwoCommits:
    items = [cards.item(number, tags=["code" if number % 8 == 0 else "chat"], system="Be brief.") for number in range(80)]
    two = TwoCommits(root, card, {"tasks.jsonl": cards.jsonl(items), "routes.json": json.dumps(BEFORE).encode()})
    two.change({"routes.json": json.dumps(AFTER).encode()})
    return two


def run(two: TwoCommits, server: EndpointServer) -> Done:
    env = {"EVAL_URL": server.url, "EVAL_KEY": KEY}
    return evalaction("run", "--base", two.base, "--run-dir", "run", "--quiet", cwd=two.repo.root, env=env)


def comment(two: TwoCommits) -> str:
    text = html.unescape((two.repo.root / "run" / "comment.md").read_text(encoding="utf-8"))
    return text.replace("<code>", "").replace("</code>", "")


def by_model() -> Lucky:
    return Lucky({"small-model": 1.0, "big-model": 1.0}, by=lambda body: str(body["model"]))


def test_ten_changed_items_are_too_few_for_a_sign_and_how_many_would_do(tmp_path: Path) -> None:
    two = rerouted(tmp_path / "r", routed("changed"))
    with serving(answering(by_model())) as server:
        done = run(two, server)
        assert done.code == 5 and server.count == 0, done.said
    assert "Only 10 of 80 items change between the arms" in comment(two) and "changed items would do" in comment(two)
    assert "sign needs 30 in each" in comment(two)


def test_without_a_claim_only_the_ten_are_asked_in_both_arms(tmp_path: Path) -> None:
    two = rerouted(tmp_path / "r", routed("changed", "none"))
    model = by_model()
    with serving(answering(model)) as server:
        done = run(two, server)
    assert done.code == 0 and model.asks == {"small-model": 20, "big-model": 20}, done.said
    assert "70 items of the exam ask the same in both arms and were not drawn" in comment(two)
    assert "lever moved: route" in comment(two) and "The route of 10 of 10 items changed" in comment(two)
    scored = evalaction("score", "run", cwd=two.repo.root)
    assert scored.code == 0, scored.said


def test_with_all_items_the_seventy_are_marked(tmp_path: Path) -> None:
    two = rerouted(tmp_path / "r", routed("all", "differ"))
    model = by_model()
    with serving(answering(model)) as server:
        done = run(two, server)
    assert done.code == 1 and model.asks == {"small-model": 300, "big-model": 20}, done.said
    assert "70 of 80 items ask the same in both arms" in comment(two) and "The route of 10 of 80 items changed" in comment(two)
    results = json.loads((two.repo.root / "run" / "results.json").read_bytes())
    assert len(results["unchanged"]) == 70
