"""Story 2: the model is swapped in card.yaml. Both models are called, and one lever moved."""

from __future__ import annotations

import html
import json
from pathlib import Path

from support.changes import TwoCommits, against_base
from support.command import KEY, evalaction, exam
from support.endpoint_server import answering, serving
from support.luck import Lucky


def test_the_model_is_swapped(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", against_base(), exam(30))
    two.change(card=against_base({"endpoints.main.model": "other-model"}))
    model = Lucky({"some-model": 1.0, "other-model": 1.0}, by=lambda body: str(body["model"]))
    with serving(answering(model)) as server:
        env = {"EVAL_URL": server.url, "EVAL_KEY": KEY}
        done = evalaction("run", "--base", "main", "--run-dir", "same", cwd=two.repo.root, env=env)
        assert done.code == 0 and server.count == 0 and "nothing to judge" in done.out  # main is HEAD itself
        done = evalaction("run", "--base", two.base, "--run-dir", "run", "--quiet", cwd=two.repo.root, env=env)
    assert done.code == 0, done.said
    assert model.asks == {"some-model": 60, "other-model": 60}
    comment = html.unescape((two.repo.root / "run" / "comment.md").read_text(encoding="utf-8"))
    plain = comment.replace("<code>", "").replace("</code>", "")
    assert "One lever moved: model (model some-model → other-model)" in plain and "More than one lever" not in plain
    lines = [json.loads(line) for line in (two.repo.root / "run" / "requests.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [json.loads(line["body"])["model"] for line in lines[:2]] == ["other-model", "some-model"]
    assert len(lines) == 60 and {line["arm"] for line in lines} == {"treatment", "control"}
