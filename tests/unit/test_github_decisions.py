"""The decisions beside the verdict, each over all its inputs."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.events import SHA, context, example

from evalaction.errors import Outcome, UsageError
from evalaction.github.decisions import check_event, check_redraw, exit_code, on_missing_secrets, worst
from evalaction.github.event import Context
from evalaction.github.settings import FAIL_ON, Mode

ALWAYS = {Outcome.USAGE, Outcome.INTERNAL, Outcome.UNREGISTERED, Outcome.INTERRUPTED}
OUTCOMES = st.lists(st.sampled_from(list(Outcome)), min_size=1, max_size=5)
SUBSETS = [frozenset(some) for size in range(5) for some in combinations(FAIL_ON, size)]


@pytest.mark.parametrize("fail_on", SUBSETS, ids=lambda some: "-".join(sorted(one.value for one in some)) or "none")
def test_one_outcome_fails_the_job_exactly_when_it_must(fail_on: frozenset[Outcome]) -> None:
    for outcome in Outcome:
        expected = outcome in ALWAYS or outcome in fail_on
        assert exit_code([outcome], fail_on) == (outcome.exit_code if expected else 0), outcome


@given(OUTCOMES, st.sampled_from(SUBSETS))
def test_several_fail_when_one_does(outcomes: list[Outcome], fail_on: frozenset[Outcome]) -> None:
    assert (exit_code(outcomes, fail_on) != 0) is any(exit_code([one], fail_on) for one in outcomes)
    assert exit_code(outcomes, fail_on) in {0, *(one.exit_code for one in outcomes)}


def test_nothing_judged_is_no_pass() -> None:
    assert exit_code([], FAIL_ON) == exit_code([], frozenset()) == Outcome.INTERNAL.exit_code
    with pytest.raises(ValueError, match="empty"):
        worst([])


def test_the_worst_wins_in_the_order_of_the_method() -> None:
    order = [Outcome.INTERNAL, Outcome.USAGE, Outcome.UNREGISTERED, Outcome.FAIL, Outcome.UNREACHABLE, Outcome.INCONCLUSIVE,
             Outcome.NOT_RUN, Outcome.PASS]  # fmt: skip
    assert [one.exit_code for one in order] == [3, 2, 4, 1, 7, 5, 6, 0]
    for first, second in combinations(order, 2):
        assert worst([first, second]) is worst([second, first]) is first
    assert {worst(some) for some in permutations([Outcome.PASS, Outcome.UNCHANGED, Outcome.REGISTERED])} == {Outcome.REGISTERED}
    assert worst([Outcome.PASS, Outcome.PASS]) is Outcome.PASS


def test_a_code_of_an_outcome_that_does_not_count_is_not_the_jobs() -> None:
    fail_on = frozenset(FAIL_ON) - {Outcome.FAIL}
    assert exit_code([Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS], fail_on) == 5
    assert exit_code([Outcome.FAIL, Outcome.PASS], fail_on) == 0


def from_fork(kind: str = "pull_request") -> Context:
    event = example("pull_request.opened" if kind != "pull_request_review" else "pull_request_review")
    event["pull_request"]["head"]["repo"]["full_name"] = "stranger/Hello-World"
    return context(kind, event)


def from_dependabot(kind: str, name: str) -> Context:
    return context(kind, example(name), GITHUB_ACTOR="dependabot[bot]")


@pytest.mark.parametrize(
    "where",
    [
        from_fork(), from_fork("pull_request_review"), from_dependabot("pull_request", "pull_request.opened"),
        from_dependabot("push", "push.branch"),
    ],
    ids=lambda one: f"{one.event}-{one.is_dependabot}",
)  # fmt: skip
def test_skip_counts_where_github_withholds_secrets(where: Context) -> None:
    assert on_missing_secrets("skip", where).skips
    failing = on_missing_secrets("fail", where)
    assert not failing.skips and "maintainer" in str(failing.sentence)


ELSEWHERE: list[tuple[str, Context]] = [
    ("own pull request", context("pull_request", example("pull_request.opened"))),
    ("push", context("push", example("push.branch"))),
    ("merge queue", context("merge_group", example("merge_group"))),
    ("schedule", context("schedule", {})),
    ("schedule last edited by Dependabot", context("schedule", {}, GITHUB_ACTOR="dependabot[bot]")),
    ("dispatch", context("workflow_dispatch", example("workflow_dispatch"))),
    ("target of a fork", from_fork("pull_request_target")),
    ("run after a fork's", context("workflow_run", {})),
    ("release", context("release", example("release"))),
    ("somebody named dependabot", context("pull_request", example("pull_request.opened"), GITHUB_ACTOR="dependabot")),
]


@pytest.mark.parametrize("where", [one for _, one in ELSEWHERE], ids=[name for name, _ in ELSEWHERE])
def test_skip_does_not_count_elsewhere_and_says_so(where: Context) -> None:
    ignored = on_missing_secrets("skip", where)
    assert not ignored.skips and "does not apply" in str(ignored.sentence)
    assert "does not apply" not in str(on_missing_secrets("fail", where).sentence)


@pytest.mark.parametrize("mode", ["run", "draw", "judge"])
def test_where_secrets_are_only_the_bases_own_commit_is_run(mode: Mode) -> None:
    where = context("pull_request_target", example("pull_request.opened"))
    check_event(mode, where, SHA)
    modes: tuple[Mode, ...] = ("verify", "report")
    for other in modes:
        check_event(other, where, "c" * 40)
    for commit in ("c" * 40, where.head.sha if where.head and where.head.sha else "d" * 40):
        with pytest.raises(UsageError, match="base repository's own"):
            check_event(mode, where, commit)


def test_without_a_known_commit_nothing_is_run_where_secrets_are() -> None:
    with pytest.raises(UsageError, match="unknown"):
        check_event("run", context("pull_request_target", example("pull_request.opened"), GITHUB_SHA=""), SHA)


def test_a_comment_starts_no_drawing() -> None:
    """What is checked out then is the default branch, and the pull request's comment would show that one's verdict."""
    where = context("issue_comment", example("issue_comment.issue"))
    check_event("report", where, SHA)
    with pytest.raises(UsageError, match="label or dispatch"):
        check_event("run", where, SHA)


def test_after_another_workflow_there_is_only_report() -> None:
    where = context("workflow_run", example("workflow_run.completed"))
    check_event("report", where, SHA)
    with pytest.raises(UsageError, match="mode: report"):
        check_event("run", where, SHA)


@pytest.mark.parametrize(
    ("kind", "name"), [("pull_request", "pull_request.opened"), ("push", "push.branch"), ("merge_group", "merge_group")]
)
def test_other_events_run_what_is_checked_out(kind: str, name: str) -> None:
    check_event("run", context(kind, example(name)), "c" * 40)


@pytest.mark.parametrize(
    "where", [one for name, one in ELSEWHERE if name != "dispatch"], ids=[name for name, _ in ELSEWHERE if name != "dispatch"]
)
def test_rerolling_needs_a_dispatch(where: Any) -> None:
    check_redraw(False, where)
    with pytest.raises(UsageError, match="workflow_dispatch"):
        check_redraw(True, where)


def test_a_dispatch_may_draw_again() -> None:
    check_redraw(True, context("workflow_dispatch", example("workflow_dispatch")))
