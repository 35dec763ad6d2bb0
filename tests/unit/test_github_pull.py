"""Which pull request: the ladder, on real payloads and with an API of lists held in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.events import SHA, context, example

from evalaction.github.api import Api
from evalaction.github.event import Context
from evalaction.github.pull import Found, Reads, find_pull, queued
from evalaction.github.replies import Ok, Refused

REPOSITORY = "octo-org/octo-repo"
RUN_SHA = "3484a3fb816e0859fd6e1cea078d76385ff50625"
QUEUE_REF = "refs/heads/gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64"


def pull(number: int, **more: Any) -> dict[str, Any]:
    """A pull request as GitHub's API lists it, from a branch `master` of this repository."""
    made = {
        "number": number, "state": more.pop("state", "open"),
        "head": {"ref": "master", "sha": RUN_SHA, "repo": {"full_name": REPOSITORY}},
        "base": {"ref": "main", "sha": "b" * 40, "repo": {"full_name": REPOSITORY}},
    }  # fmt: skip
    for name, value in more.items():
        side, _, key = name.partition("_")
        if key == "repo":
            made[side]["repo"] = None if value is None else {"full_name": value}
        else:
            made[side][key] = value
    return made


@dataclass
class Lists:
    """Answers every list with the same entries and every single read with the entry of that number."""

    pulls: list[Any] = field(default_factory=list)
    refused: Refused | None = None
    asked: list[tuple[str, Mapping[str, str | int] | None]] = field(default_factory=list)

    def request(self, method: Literal["GET"], path: str, *, doing: str, needs: tuple[str, ...] = ()) -> Ok[Any] | Refused:
        self.asked.append((path, None))
        missing = Refused(status=404, kind="gone", sentence="GitHub did not find it.")
        found = (one for one in self.pulls if str(one["number"]) == path.rpartition("/")[2])
        return self.refused or next((Ok(one) for one in found), missing)

    def pages(
        self, path: str, *, doing: str, params: Mapping[str, str | int] | None = None, needs: tuple[str, ...] = ()
    ) -> Ok[list[Any]] | Refused:
        self.asked.append((path, params))
        return self.refused or Ok(self.pulls)


def number_of(found: Found) -> int | None:
    assert found.pull is not None or found.notice or found.warnings, "none always comes with a reason"
    return found.pull.number if found.pull else None


def test_the_api_client_is_what_is_asked_for() -> None:
    client: Reads = Api("https://api.github.com", "x")
    assert client


@pytest.mark.parametrize("kind", ["pull_request", "pull_request_target"])
def test_a_pull_request_event_needs_no_question(kind: str) -> None:
    found = find_pull(context(kind, example("pull_request.synchronize")), None)
    assert found.pull is not None and (found.pull.number, found.pull.source) == (2, "event")
    assert found.pull.head is not None and found.pull.head.ref == "changes"
    assert number_of(find_pull(context("pull_request_review", example("pull_request_review")), None)) == 2


def test_issue_zero_is_nobodys() -> None:
    event = example("pull_request_review")
    event["pull_request"]["number"] = 0
    found = find_pull(context("pull_request_review", event), Lists([pull(1)]))
    assert found.pull is None and found.warnings


def other_run(event: str = "pull_request", repository: str = REPOSITORY, branch: str | None = "master") -> Context:
    """The example, as a run that a pull request started (the package has none)."""
    value = example("workflow_run.completed")
    value["workflow_run"] |= {"event": event, "head_branch": branch}
    value["workflow_run"]["head_repository"]["full_name"] = repository
    return context("workflow_run", value)


def test_workflow_run_finds_the_pull_request_by_what_the_run_was() -> None:
    api = Lists([pull(9, head_sha="c" * 40), pull(7), pull(8, head_ref="other"), pull(6, head_repo="stranger/octo-repo")])
    assert number_of(find_pull(other_run(), api)) == 7
    assert api.asked == [("/repos/octo-org/octo-repo/pulls", {"state": "open", "head": "octo-org:master"})]


def test_workflow_run_of_a_fork() -> None:
    api = Lists([pull(3, head_repo="Stranger/octo-repo"), pull(4)])
    assert number_of(find_pull(other_run(repository="stranger/octo-repo"), api)) == 3
    assert api.asked[0][1] == {"state": "open", "head": "stranger:master"}


@pytest.mark.parametrize(
    "change",
    [
        {"state": "closed"}, {"head_sha": "c" * 40}, {"head_ref": "master2"}, {"head_repo": "stranger/octo-repo"},
        {"head_repo": None}, {"base_repo": "octo-org/other"}, {"base_repo": None}, {"head_sha": None}, {"head_ref": None},
    ],
)  # fmt: skip
def test_workflow_run_takes_nothing_that_differs_in_one_part(change: dict[str, Any]) -> None:
    found = find_pull(other_run(), Lists([pull(7, **change)]))
    assert number_of(found) is None and not found.warnings


@pytest.mark.parametrize(
    "event", ["push", "merge_group", "workflow_dispatch", "pull_request_target", "schedule", "pull_request_review"]
)
def test_workflow_run_after_anything_but_a_pull_request_has_none(event: str) -> None:
    api = Lists([pull(7)])
    assert number_of(find_pull(other_run(event), api)) is None
    assert api.asked == []


def test_workflow_run_of_a_deleted_fork_is_a_warning() -> None:
    found = find_pull(other_run(repository=""), Lists([pull(7)]))
    assert found.pull is None and found.warnings


def test_the_numbers_in_a_workflow_runs_payload_are_not_used() -> None:
    value = example("workflow_run.completed")
    value["workflow_run"]["event"] = "pull_request"
    assert value["workflow_run"]["pull_requests"][0]["number"] == 2
    assert number_of(find_pull(context("workflow_run", value), Lists([]))) is None


@pytest.mark.parametrize("pulls", [[pull(7), pull(8)], [pull(8), pull(7), pull(8)]])
def test_more_than_one_is_none_and_a_warning(pulls: list[Any]) -> None:
    found = find_pull(other_run(), Lists(pulls))
    assert found.pull is None and found.warnings == (
        ("The pull requests #7 and #8 all fit this run, so none of them is commented on.",),
    )


def test_the_same_one_on_two_pages_is_one() -> None:
    assert number_of(find_pull(other_run(), Lists([pull(7), pull(7)]))) == 7


def test_merge_queue() -> None:
    merge_group = context("merge_group", example("merge_group"), GITHUB_REF=QUEUE_REF)
    api = Lists([pull(104)])
    found = find_pull(merge_group, api)
    assert found.pull is not None and (found.pull.number, found.pull.source) == (104, "merge_queue")
    assert api.asked == [("/repos/octo-org/octo-repo/pulls/104", None)]
    for wrong in (pull(104, state="closed"), pull(104, base_ref="other"), pull(104, base_repo="octo-org/other")):
        assert number_of(find_pull(merge_group, Lists([wrong]))) is None
    assert find_pull(merge_group, Lists([])).warnings == (("GitHub did not find it.",),)
    assert find_pull(context("merge_group", example("merge_group")), Lists([pull(104)])).warnings


def test_a_push_to_a_merge_queues_branch_is_its_pull_request() -> None:
    found = find_pull(context("push", example("push.branch"), repository=REPOSITORY, GITHUB_REF=QUEUE_REF), Lists([pull(104)]))
    assert found.pull is not None and found.pull.source == "merge_queue"


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (QUEUE_REF, ("main", 104)),
        ("refs/heads/gh-readonly-queue/release/2.x/pr-7-" + "a" * 40, ("release/2.x", 7)),
        ("refs/heads/gh-readonly-queue/a/pr-1-" + "b" * 40 + "/pr-2-" + "a" * 64, ("a/pr-1-" + "b" * 40, 2)),
        ("refs/heads/gh-readonly-queue/main/pr-0-" + "a" * 40, None),
        ("refs/heads/gh-readonly-queue/main/pr--1-" + "a" * 40, None),
        ("refs/heads/gh-readonly-queue/main/pr-7-" + "a" * 39, None),
        ("refs/heads/gh-readonly-queue/main/pr-7-" + "A" * 40, None),
        ("refs/heads/gh-readonly-queue/main/pr-" + "9" * 30 + "-" + "a" * 40, None),
        ("refs/heads/gh-readonly-queue/pr-7-" + "a" * 40, None),
        ("refs/heads/x/gh-readonly-queue/main/pr-7-" + "a" * 40, None),
        ("refs/heads/gh-readonly-queue/main/pr-7-" + "a" * 40 + "\n", None),
        ("refs/heads/gh-readonly-queue/main/pr-\u0661-" + "a" * 40, None),
        (None, None),
    ],
)
def test_queue_refs(ref: str | None, expected: tuple[str, int] | None) -> None:
    assert queued(ref) == expected


def pushed(ref: str = "refs/heads/master") -> Context:
    return context("push", example("push.branch"), repository=REPOSITORY, GITHUB_REF=ref, GITHUB_SHA=RUN_SHA)


def test_a_push_is_its_commits_one_open_pull_request_from_that_branch() -> None:
    api = Lists([pull(1, state="closed"), pull(2, head_sha="c" * 40), pull(3, base_repo="stranger/octo-repo"), pull(5)])
    assert number_of(find_pull(pushed(), api)) == 5
    assert api.asked == [(f"/repos/octo-org/octo-repo/commits/{RUN_SHA}/pulls", None)]
    assert number_of(find_pull(pushed("refs/tags/v1"), api)) == 5
    assert number_of(find_pull(pushed("refs/heads/other"), api)) is None


def test_a_forks_pull_request_from_our_commit_gets_no_comment() -> None:
    assert number_of(find_pull(pushed(), Lists([pull(5, head_repo="stranger/octo-repo")]))) is None


def test_a_commit_in_several_pull_requests_is_a_warning() -> None:
    found = find_pull(pushed(), Lists([pull(5), pull(6)]))
    assert found.pull is None and len(found.warnings) == 1


def test_a_dispatch_names_its_pull_request_or_is_on_a_branch_that_has_one() -> None:
    event = example("workflow_dispatch")
    on_branch = context("workflow_dispatch", event, GITHUB_REF="refs/heads/master", GITHUB_SHA=RUN_SHA)
    assert number_of(find_pull(on_branch, Lists([pull(5)]))) == 5
    named = context("workflow_dispatch", {**event, "inputs": {"pr-number": "12"}}, GITHUB_SHA=RUN_SHA)
    assert number_of(find_pull(named, Lists([pull(12), pull(5)]))) == 12
    assert number_of(find_pull(named, Lists([pull(12, state="closed")]))) is None
    assert number_of(find_pull(named, Lists([pull(12, base_repo="stranger/octo-repo")]))) is None
    elsewhere = context("workflow_dispatch", {**event, "inputs": {"pr-number": "12"}}, GITHUB_SHA="c" * 40)
    assert number_of(find_pull(elsewhere, Lists([pull(12)]))) is None  # another commit's verdict is not this one's


def test_a_comment_on_a_pull_request() -> None:
    event = example("issue_comment.issue")
    event["repository"]["full_name"] = REPOSITORY
    assert number_of(find_pull(context("issue_comment", event), Lists([pull(1)]))) is None
    event["issue"]["pull_request"] = {}
    assert number_of(find_pull(context("issue_comment", event), Lists([pull(1)]))) == 1


def test_an_answer_about_another_number_is_no_answer() -> None:
    class Astray(Lists):
        def request(self, method: Literal["GET"], path: str, *, doing: str, needs: tuple[str, ...] = ()) -> Ok[Any] | Refused:
            return Ok(pull(13))

    event = {**example("workflow_dispatch"), "inputs": {"pr-number": "12"}}
    assert number_of(find_pull(context("workflow_dispatch", event), Astray())) is None


def test_a_schedule_never_comments() -> None:
    api = Lists([pull(5, head_sha=SHA, head_ref="main")])
    found = find_pull(context("schedule", {}), api)
    assert number_of(found) is None and api.asked == []
    assert found.notice is not None and not found.warnings


def test_without_a_token_nobody_is_asked() -> None:
    for one in (pushed(), other_run(), context("merge_group", example("merge_group"), GITHUB_REF=QUEUE_REF)):
        found = find_pull(one, None)
        assert found.pull is None and "github-token" in str(found.notice)


def test_an_api_that_refuses_is_a_warning() -> None:
    refused = Refused(status=403, kind="permission", sentence="Add `pull-requests: read`.")
    for one in (pushed(), other_run(), context("merge_group", example("merge_group"), GITHUB_REF=QUEUE_REF)):
        assert find_pull(one, Lists(refused=refused)).warnings == (("Add `pull-requests: read`.",),)


ENTRIES = st.recursive(
    st.none() | st.integers(-1, 9) | st.sampled_from(["open", REPOSITORY, RUN_SHA, "master"]) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["number", "state", "head", "base", "repo", "full_name", "sha", "ref"]), inner, max_size=6
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(ENTRIES, max_size=4), st.booleans())
def test_no_reply_crashes_it_or_makes_a_pull_request_up(entries: list[Any], with_a_real_one: bool) -> None:
    fits = [entry for entry in entries if isinstance(entry, dict) and entry.get("number") == 7 and entry.get("state") == "open"]
    number = number_of(find_pull(other_run(), Lists([*entries, *([pull(7)] if with_a_real_one else [])])))
    assert number == (7 if with_a_real_one else None) or fits
