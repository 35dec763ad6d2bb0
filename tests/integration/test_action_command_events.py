"""The action on events that are no pull request's, on an Enterprise server, and in a shallow checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.action import NAME, NUMBER, Demo, demo_at
from support.endpoint_server import answering
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


@pytest.mark.parametrize("event", ["merge_group", "push"])
def test_a_merge_queue_is_answered_by_the_status_alone(demo: Demo, event: str) -> None:
    """What is judged there may be several pull requests together: their comments stay what they are."""
    demo.step()
    before = demo.comment()
    demo.model.behaviour = answering(lambda _: "no")
    group = {"base_sha": demo.base, "base_ref": "refs/heads/main", "head_sha": demo.merged}
    ref = f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{demo.base}"
    payload = {**HERE, "merge_group": group, "before": demo.base, "forced": False}
    step = demo.step(event, payload, env={"GITHUB_REF": ref})
    assert step.code == 1 and demo.model.count == 16 and step.outputs["comment-url"] == "", step.log
    assert demo.comment() == before
    assert demo.step().outputs["reused"] == "true"  # its draw took no answer away


def test_a_push_draws_and_comments_on_no_pull_request(demo: Demo) -> None:
    payload = {**HERE, "before": demo.base, "forced": False}
    step = demo.step("push", payload, env={"GITHUB_REF": "refs/heads/main"})
    assert step.code == 0 and demo.model.count == 8 and demo.comments() == [], step.log


def test_a_schedule_has_a_payload_of_its_cron_line_alone(demo: Demo) -> None:
    step = demo.step("schedule", {"schedule": "17 3 * * *"}, env={"GITHUB_REF": "refs/heads/main"})
    assert step.code == 0 and demo.model.count == 8 and demo.comments() == []


def test_a_summary_that_is_nearly_full_keeps_within_its_bytes(demo: Demo) -> None:
    environ = demo.environ("pull_request", demo.pull())
    Path(environ["GITHUB_STEP_SUMMARY"]).write_bytes("é".encode() * 499_900)
    process = demo.start(environ)
    out, _ = process.communicate(timeout=60)
    step = demo.read(process.returncode, out.decode(), environ)
    assert step.code == 0 and len(step.summary.encode()) <= 1_000_000
    assert any("Job summary" in line for line in step.annotations()) and "✅" in demo.comment()


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
