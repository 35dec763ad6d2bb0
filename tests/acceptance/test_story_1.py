"""Story 1: a prompt is tweaked. Two prompts, 84 items, K = 5: not behind by more than ten points, shown, or refused a green."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import pytest
from support.action import demo_at
from support.changes import TwoCommits, against_base
from support.command import KEY, evalaction, exam
from support.endpoint_server import answering, serving
from support.luck import Lucky

OLD, NEW = "Be brief.", "Be very brief."


def gate(**sign: Any) -> dict[str, Any]:
    return against_base(
        {"sign": {"claim": "not_behind", "margin": 0.10, "metric": "mean", "seed": "freeze-me-before-running", **sign}}, draws=5
    )


@pytest.mark.parametrize(("new", "codes"), [(0.93, {0}), (0.83, {1, 5})], ids=["no real change", "ten points lost"])
def test_a_prompt_is_tweaked(tmp_path: Path, new: float, codes: set[int]) -> None:
    two = TwoCommits(tmp_path / "r", gate(), exam(84))
    two.change({"prompt.md": f"{NEW}\n".encode()})
    model = Lucky({OLD: 0.93, NEW: new})
    with serving(answering(model)) as server:
        env = {"EVAL_URL": server.url, "EVAL_KEY": KEY}
        done = evalaction("run", "--base", two.base, "--run-dir", "run", cwd=two.repo.root, env=env)
        assert server.count == 840
    assert done.code in codes, done.said
    assert model.asks == {OLD: 420, NEW: 420}
    assert "840 calls planned" in done.err.splitlines()[0]  # before any progress
    comment = html.unescape((two.repo.root / "run" / "comment.md").read_text(encoding="utf-8"))
    assert "One lever moved: prompt" in comment and "+Be very brief." in comment
    if done.code == 0:
        assert "within 10 points" in comment and "Lower bound" in comment and "one time in five" in comment
    else:
        assert "✅" not in comment.splitlines()[0] and ("behind" in comment or "not shown" in comment)


def test_the_same_through_a_job(tmp_path: Path) -> None:
    with demo_at(tmp_path, gate()) as demo:
        demo.repo.write(exam(84))
        model = Lucky({OLD: 0.93, NEW: 0.93})
        demo.model.behaviour = answering(model)
        from evalaction.registration.lock import lock

        lock(demo.root / "card.yaml")
        demo.base = demo.head = demo.repo.commit()
        demo.change({"prompt.md": f"{NEW}\n".encode()})
        step = demo.step()
        assert step.code == 0 and model.asks == {OLD: 420, NEW: 420}, step.log
        assert step.log.index("840 calls planned") < step.log.index("within 10 points")
        assert step.outputs["outcome"] == "pass" and "within 10 points" in html.unescape(demo.comment())
