"""The action on events that are no pull request's, on an Enterprise server, and in a shallow checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.action import NAME, NUMBER, Demo, demo_at
from support.repos import Repo

PROMPT = {"prompt.md": b"Be very brief.\n"}
HERE: dict[str, Any] = {"repository": {"full_name": NAME, "default_branch": "main"}}


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path) as one:
        one.change(PROMPT)
        yield one


def test_a_schedule_draws_each_time_and_comments_nowhere(demo: Demo) -> None:
    for count in (8, 16):
        step = demo.step("schedule", HERE, env={"GITHUB_REF": "refs/heads/main"})
        assert step.code == 0 and demo.model.count == count and step.outputs["reused"] == "false", step.log
    assert demo.comments() == [] and "✅" in step.summary


def test_a_merge_queue_draws_and_tells_its_pull_request(demo: Demo) -> None:
    demo.step()
    group = {"base_sha": demo.base, "base_ref": "refs/heads/main", "head_sha": demo.merged}
    ref = f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{demo.base}"
    step = demo.step("merge_group", {**HERE, "merge_group": group}, env={"GITHUB_REF": ref})
    assert step.code == 0 and demo.model.count == 16, step.log
    assert len(demo.comments()) == 1
    assert demo.step().outputs["reused"] == "true"  # its draw took no answer away


def test_a_push_draws(demo: Demo) -> None:
    payload = {**HERE, "before": demo.base, "forced": False}
    step = demo.step("push", payload, env={"GITHUB_REF": "refs/heads/main"})
    assert step.code == 0 and demo.model.count == 8, step.log


def test_an_enterprise_server_has_its_own_addresses(tmp_path: Path) -> None:
    with demo_at(tmp_path, prefix="/api/v3") as demo:
        demo.change(PROMPT)
        step = demo.step(env={"GITHUB_SERVER_URL": "https://git.example.org"})
        assert step.code == 0 and "https://git.example.org/octo/demo/actions/runs/" in demo.comment()


def shallow(demo: Demo) -> None:
    """The checkout of depth 1 that actions/checkout makes by default; its origin cannot be fetched from."""
    clone = demo.root.parent / "clone"
    Repo(clone, init=None).git("clone", "--quiet", "--depth=1", "--branch=merged", f"file://{demo.root}", str(clone))
    demo.root, demo.repo = clone, Repo(clone, init=None)


def test_base_of_a_shallow_checkout_is_read_from_github(demo: Demo) -> None:
    objects = demo.github.hub.repository(NAME)
    names = demo.repo.git("ls-tree", "-r", "--name-only", demo.base).splitlines()
    entries = {
        name: ("100644", "blob", objects.add_blob(demo.repo.git("show", f"{demo.base}:{name}").encode() + b"\n"))
        for name in names
    }
    objects.commits[demo.base] = {"tree": objects.add_tree(entries), "parents": [], "message": "base"}
    shallow(demo)
    step = demo.step()
    assert step.code == 0 and demo.model.count == 8, step.log


def test_without_any_base_a_secret_stays_here(demo: Demo) -> None:
    shallow(demo)
    step = demo.step()
    assert step.code == 2 and demo.model.count == 0 and "fetch-depth" in step.log
    free = demo.step(env={"EVAL_KEY": None, "EVAL_URL": None})
    assert free.code == 6
