"""Story 5: a fork opens a pull request. Without secrets it is not run; a maintainer has it judged without running its code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.action import FORK, NAME, NUMBER, Demo, demo_at
from support.command import exam
from support.endpoint_server import answering
from support.github_faults import Fault

HEAD = b"Answer with the number alone.\n"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path) as one:
        yield one


def test_a_fork_opens_a_pull_request(demo: Demo) -> None:
    # The fork changes a prompt, lowers the bar in the card and leaves a program for whoever runs its code.
    card = (demo.root / "card.yaml").read_bytes()
    demo.change({"prompt.md": HEAD, "card.yaml": card.replace(b"0.8", b"0.0"), "conftest.py": b"raise SystemExit('ran')\n"})
    demo.github.faults.append(Fault(kind="permission", method="POST", times=1))  # a fork's token only reads
    fork = demo.pull(fork=True)
    opened = demo.step(payload=fork, env={"EVAL_KEY": None, "EVAL_URL": None})
    assert (opened.code, opened.outputs["outcome"], demo.model.count) == (6, "not_run", 0)
    assert "NOT RUN" in opened.summary and "a maintainer can have this one judged by dispatch or label" in opened.summary
    assert demo.comments() == []

    # A maintainer labels it; the workflow checks out base. The model is wrong, and base's bar finds that.
    objects = demo.github.hub.repository(NAME)
    entries = {path: ("100644", "blob", objects.add_blob(data)) for path, data in {**exam(), "prompt.md": HEAD}.items()}
    demo.head = objects.add_commit(objects.add_tree(entries), [], "the fork's head")
    demo.github.hub.add_pull(NAME, NUMBER, head_sha=demo.head, head_repo=FORK, base_sha=demo.base)
    demo.repo.git("checkout", "--quiet", demo.base)
    demo.model.behaviour = answering(lambda _: "something else")
    judged = demo.step("pull_request_target", {**demo.pull(fork=True), "action": "labeled", "label": {"name": "judge"}})
    assert judged.code == 1 and judged.outputs["outcome"] == "fail", judged.log
    assert {received.json["messages"][0]["content"] for received in demo.model.requests} == {HEAD.decode()}
    body = demo.comment()
    assert "❌" in body and "Judged by a maintainer" in body and demo.head[:12] in body
    (status,) = objects.statuses
    assert (status["sha"], status["state"]) == (demo.head, "failure")
