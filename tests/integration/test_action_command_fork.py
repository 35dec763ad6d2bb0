"""Pull requests of forks: not run without secrets, and judged by a maintainer without running anything of the fork's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.action import NAME, NUMBER, Demo, Step, demo_at
from support.command import exam
from support.endpoint_server import answering
from support.github_faults import Fault

NO_SECRETS: dict[str, str | None] = {"EVAL_KEY": None, "EVAL_URL": None}
PROMPT = b"The fork's prompt.\n"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path) as one:
        yield one


def test_a_fork_without_secrets_is_not_run(demo: Demo) -> None:
    demo.change({"prompt.md": PROMPT})
    demo.github.faults.append(Fault(kind="permission", method="POST", times=None))
    step = demo.step(payload=demo.pull(fork=True), env=NO_SECRETS)
    assert step.code == 6 and demo.model.count == 0 and step.outputs["outcome"] == "not_run"
    assert "NOT RUN" in step.summary and "a maintainer can have this one judged by dispatch or label" in step.summary
    assert "✅" not in step.summary and "❌" not in step.summary
    assert any("comes from a fork" in line for line in step.annotations())


@pytest.mark.parametrize(("fork", "actor", "code"), [(True, "octocat", 0), (False, "dependabot[bot]", 0), (False, "octocat", 6)])
def test_skip_is_for_forks_and_dependabot_alone(demo: Demo, fork: bool, actor: str, code: int) -> None:
    demo.change({"prompt.md": PROMPT})
    env = {**NO_SECRETS, "EVALACTION_ON_MISSING_SECRETS": "skip", "GITHUB_ACTOR": actor}
    step = demo.step(payload=demo.pull(fork=fork), env=env)
    assert step.code == code and step.outputs["outcome"] == "not_run" and "NOT RUN" in step.summary
    assert not any(line.startswith("::error") for line in step.annotations()) or code


def target(demo: Demo, action: str = "labeled") -> dict[str, Any]:
    return {**demo.pull(fork=True), "action": action, "label": {"name": "judge"}}


@pytest.mark.parametrize("action", ["opened", "synchronize", "unlabeled"])
def test_pull_request_target_judges_nothing_by_itself(demo: Demo, action: str) -> None:
    demo.repo.git("checkout", "--quiet", demo.base)
    step = demo.step("pull_request_target", target(demo, action))
    assert step.code == 2 and demo.model.count == 0 and "labeled" in step.log and demo.comments() == []


@pytest.mark.parametrize("where", ["merged", "topic"])
def test_pull_request_target_with_the_heads_checkout_is_refused(demo: Demo, where: str) -> None:
    demo.change({"prompt.md": PROMPT})
    demo.repo.git("checkout", "--quiet", where)
    step = demo.step("pull_request_target", target(demo), env={"GITHUB_SHA": demo.base})
    assert step.code == 2 and demo.model.count == 0 and "beside the secrets" in step.log
    assert [request for request in demo.github.requests if request.method != "GET"] == []


def test_workflow_run_draws_nothing(demo: Demo) -> None:
    step = demo.step("workflow_run", {"workflow_run": {"id": 5, "event": "pull_request"}})
    assert step.code == 2 and demo.model.count == 0 and "mode: report" in step.log


class Forked:
    """The fork's head as GitHub has it; base is checked out."""

    def __init__(self, demo: Demo) -> None:
        self.demo = demo
        self.objects = demo.github.hub.repository(NAME)
        demo.repo.git("checkout", "--quiet", demo.base)
        self.head({})

    def head(self, changes: dict[str, tuple[str, bytes] | None]) -> str:
        """A head with these entries (mode, content) beside base's files."""
        files = {path: ("100644", data) for path, data in {**exam(), "prompt.md": PROMPT}.items()}
        files |= {path: entry for path, entry in changes.items() if entry}
        entries = {
            path: (mode, "blob", self.objects.add_blob(data))
            for path, (mode, data) in files.items()
            if changes.get(path, ()) is not None
        }
        self.sha = self.objects.add_commit(self.objects.add_tree(entries), [], "head")
        self.demo.head = self.sha
        self.demo.github.hub.add_pull(NAME, NUMBER, head_sha=self.sha, head_repo="somebody/demo", base_sha=self.demo.base)
        return self.sha

    def labeled(self, **env: str | None) -> Step:
        return self.demo.step("pull_request_target", target(self.demo), env=env)

    def dispatched(self, **env: str | None) -> Step:
        inputs = {"EVALACTION_PULL_REQUEST": str(NUMBER), "EVALACTION_HEAD_SHA": self.sha, "GITHUB_REF": "refs/heads/main"}
        payload = {"inputs": {}, "repository": {"full_name": NAME, "default_branch": "main"}}
        return self.demo.step("workflow_dispatch", payload, env={**inputs, **env})

    def prompts(self) -> set[str]:
        return {received.json["messages"][0]["content"] for received in self.demo.model.requests}


@pytest.fixture
def forked(demo: Demo) -> Forked:
    return Forked(demo)


@pytest.mark.parametrize("how", ["labeled", "dispatched"])
def test_a_maintainer_has_the_heads_prompt_judged(forked: Forked, how: str) -> None:
    demo = forked.demo
    step: Step = getattr(forked, how)()
    assert step.code == 0, step.log
    assert forked.prompts() == {PROMPT.decode()} and demo.model.count == 8
    assert "Judged by a maintainer" in demo.comment() and forked.sha[:12] in demo.comment() and demo.base[:12] in demo.comment()
    (status,) = forked.objects.statuses
    assert status["sha"] == forked.sha and status["state"] == "success" and status["context"] == "evalaction"
    assert demo.repo.git("status", "--porcelain") == ""


def test_a_failed_judgement_sets_a_failed_status(forked: Forked) -> None:
    forked.demo.model.behaviour = answering(lambda _: "no")
    assert forked.labeled().code == 1 and forked.objects.statuses[0]["state"] == "failure"


def test_what_was_not_judged_is_no_green_status_whatever_fail_on_says(forked: Forked) -> None:
    step = forked.demo.step("pull_request_target", target(forked.demo), env={**NO_SECRETS, "EVALACTION_FAIL_ON": "none"})
    assert step.code == 0 and step.outputs["outcome"] == "not_run", step.log
    assert forked.objects.statuses[0]["state"] == "error"


def test_a_status_that_may_not_be_set_is_a_warning(forked: Forked) -> None:
    forked.demo.github.faults.append(Fault(kind="permission", path="/statuses/", times=None, value="statuses=write"))
    step = forked.labeled()
    assert step.code == 0 and any("statuses: write" in line for line in step.annotations())


def test_a_head_that_moved_since_is_refused(forked: Forked) -> None:
    event = target(forked.demo)
    forked.head({"prompt.md": ("100644", b"Sneaky.\n")})
    step = forked.demo.step("pull_request_target", event)
    assert step.code == 4 and step.outputs["breaks"] == "head_moved" and forked.demo.model.count == 0
    assert forked.objects.statuses == [] and forked.demo.comments() == []


def test_a_dispatch_needs_number_and_commit(forked: Forked) -> None:
    assert forked.dispatched(EVALACTION_HEAD_SHA=None).code == 2
    assert forked.dispatched(EVALACTION_PULL_REQUEST=None).code == 2
    assert forked.dispatched(EVALACTION_HEAD_SHA="main").code == 2
    assert forked.dispatched(EVALACTION_PULL_REQUEST="8").code == 2
    assert forked.demo.model.count == 0


def test_a_pull_request_number_is_for_dispatch(demo: Demo) -> None:
    demo.change({"prompt.md": PROMPT})
    step = demo.step(env={"EVALACTION_PULL_REQUEST": "7", "EVALACTION_HEAD_SHA": demo.head})
    assert step.code == 2 and demo.model.count == 0


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (("120000", b"/etc/passwd"), "symbolic link"),
        (("160000", b"x"), "submodule"),
        (("100644", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"), "LFS pointer"),
        (("100644", b"a" * (1 << 20) + b"a"), "over 1,048,576 bytes"),
        (("100644", b"\xff\xfe"), "UTF-8"),
        (None, "not there"),
    ],
)
def test_a_hostile_head_is_read_as_nothing_else(forked: Forked, entry: tuple[str, bytes] | None, why: str) -> None:
    forked.head({"prompt.md": entry})
    step = forked.labeled()
    assert step.code == 2 and forked.demo.model.count == 0 and why in step.log, step.log
    assert forked.objects.statuses[0]["state"] == "error"


def test_a_folder_in_the_prompts_place_is_no_prompt(forked: Forked) -> None:
    forked.head({"prompt.md": None, "prompt.md/x": ("100644", b"x")})
    assert forked.labeled().code == 2 and forked.demo.model.count == 0


def test_the_forks_card_exam_and_checks_count_for_nothing(forked: Forked) -> None:
    forked.head(
        {"card.yaml": ("100644", b"protocol: evalaction/9\n"), "tasks.jsonl": ("100644", b"{}\n"), "../x": ("100644", b"x")}
    )
    step = forked.labeled()
    assert step.code == 0 and step.outputs["check"] == "8/8"


def test_a_blob_that_is_not_what_its_id_says_is_refused(forked: Forked) -> None:
    oid = forked.objects.add_blob(PROMPT)
    forked.objects.blobs[oid] = b"Something else.\n"
    step = forked.labeled()
    assert step.code == 2 and forked.demo.model.count == 0 and "did not give its content" in step.log


def test_a_judged_fork_is_answered_once(forked: Forked) -> None:
    forked.labeled()
    asked = forked.demo.model.count
    step = forked.labeled()
    assert step.outputs["reused"] == "true" and forked.demo.model.count == asked and len(forked.objects.statuses) == 2
