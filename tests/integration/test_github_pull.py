"""The ladder to the pull request through the real client, against the stand-in whose every exchange fits GitHub's description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.events import context, example
from support.github_api import StandIn, serve
from support.github_state import TOKEN

from evalaction.github.api import Api
from evalaction.github.event import Context
from evalaction.github.pull import Found, find_pull

NAME = "octo/demo"
SHA = "5e" * 20


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with serve() as started:
        yield started
        assert started.violations == []


def found(stand_in: StandIn, where: Context) -> Found:
    api = Api(stand_in.base, TOKEN)
    try:
        return find_pull(where, api)
    finally:
        api.close()


def number(stand_in: StandIn, where: Context) -> int | None:
    pull = found(stand_in, where).pull
    return pull.number if pull else None


def after_pull_request(repository: str, branch: str) -> Context:
    event = example("workflow_run.completed")
    event["workflow_run"] |= {"event": "pull_request", "head_branch": branch, "head_sha": SHA}
    event["workflow_run"]["head_repository"]["full_name"] = repository
    return context("workflow_run", event, repository=NAME)


def test_after_a_forks_run(stand_in: StandIn) -> None:
    others: dict[int, dict[str, Any]] = {
        8: {"head_repo": "stranger/demo"}, 9: {"head_repo": "other/demo"}, 10: {"head_repo": "stranger/demo", "state": "closed"},
        11: {"head_repo": "stranger/demo", "head_ref": "topic-2"}, 12: {"head_repo": None},
    }  # fmt: skip
    for pull, fields in others.items():
        stand_in.hub.add_pull(NAME, pull, **{"head_sha": SHA, "head_ref": "topic", **fields})
    assert number(stand_in, after_pull_request("stranger/demo", "topic")) == 8
    assert number(stand_in, after_pull_request("stranger/demo", "topic-3")) is None
    stand_in.hub.add_pull(NAME, 13, head_repo="stranger/demo", head_sha=SHA, head_ref="topic", base_ref="next")
    both = found(stand_in, after_pull_request("stranger/demo", "topic"))
    assert both.pull is None and "#8 and #13" in str(both.warnings)


def test_a_branch_name_with_odd_characters_reaches_the_query_whole(stand_in: StandIn) -> None:
    stand_in.hub.add_pull(NAME, 8, head_repo="stranger/demo", head_sha=SHA, head_ref="a&state=closed#ü+ %2F")
    assert number(stand_in, after_pull_request("stranger/demo", "a&state=closed#ü+ %2F")) == 8
    assert stand_in.requests[-1].query["state"] == "open"


def test_a_push_with_250_pull_requests_on_its_commit(stand_in: StandIn) -> None:
    for pull in range(100, 350):
        stand_in.hub.add_pull(NAME, pull, head_sha=SHA, head_ref="topic", head_repo="stranger/demo")
    stand_in.hub.add_pull(NAME, 400, head_sha=SHA, head_ref="topic")
    where = context("push", example("push.branch"), repository=NAME, GITHUB_REF="refs/heads/topic", GITHUB_SHA=SHA)
    assert number(stand_in, where) == 400
    assert stand_in.count("GET") == 3


def test_a_merge_queue(stand_in: StandIn) -> None:
    where = context(
        "merge_group", example("merge_group"), repository=NAME, GITHUB_REF=f"refs/heads/gh-readonly-queue/main/pr-7-{SHA}"
    )
    assert number(stand_in, where) == 7
    gone = context(
        "merge_group", example("merge_group"), repository=NAME, GITHUB_REF=f"refs/heads/gh-readonly-queue/main/pr-99-{SHA}"
    )
    missing = found(stand_in, gone)
    assert missing.pull is None and len(missing.warnings) == 1


def test_a_dispatch_by_number(stand_in: StandIn) -> None:
    event = {**example("workflow_dispatch"), "inputs": {"pr-number": "7"}}
    stand_in.hub.add_pull(NAME, 7, head_sha=SHA)
    where = context("workflow_dispatch", event, repository=NAME, GITHUB_SHA=SHA)
    assert number(stand_in, where) == 7
    assert stand_in.count() == 1
