"""Which commit is base: real repositories, shallow clones from a real server on loopback, and every event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.events import context, example
from support.git_http import GitServer, serving
from support.repos import Repo

from evalaction.errors import UsageError
from evalaction.github.base import Base, find_base
from evalaction.github.event import Context
from evalaction.registration.git import Git

ABSENT = "1234567890" * 4


class Project:
    """A repository with a base branch that moved on and a pull request, merged as GitHub merges it for a check.

    fork ── base_old ── base          (main)
        └── head_old ── head          (changes)
    merge = merge of head into base   (refs/pull/2/merge)
    """

    def __init__(self, root: Path, server: GitServer) -> None:
        self.server = server
        self.repo = Repo(root)
        self.fork = self.repo.commit({"card.yaml": b"0\n"})
        self.base_old = self.repo.commit({"other.txt": b"1\n"})
        self.base = self.repo.commit({"other.txt": b"2\n"})
        self.repo.git("checkout", "--quiet", "-b", "changes", self.fork)
        self.head_old = self.repo.commit({"prompt.md": b"1\n"})
        self.head = self.repo.commit({"prompt.md": b"2\n"})
        self.merge = self.merged(self.base, self.head)
        self.repo.git("update-ref", "refs/pull/2/merge", self.merge)

    def merged(self, first: str, second: str) -> str:
        self.repo.git("checkout", "--quiet", "--detach", first)
        self.repo.git("merge", "--quiet", "--no-ff", "--message", f"Merge {second} into {first}", second)
        return self.repo.git("rev-parse", "HEAD")

    def checkout(self, place: Path, oid: str, *, depth: int = 1) -> Git:
        """As actions/checkout does it: one ref, one depth, a detached HEAD. Depth 0 is all branches with their history."""
        clone = Repo(place)
        clone.git("remote", "add", "origin", f"{self.server.url}/repo/.git")
        if depth:
            clone.git("fetch", "--quiet", "--no-tags", f"--depth={depth}", "origin", oid)
        else:
            clone.git("fetch", "--quiet", "--no-tags", "origin", "+refs/heads/*:refs/remotes/origin/*", oid)
        clone.git("checkout", "--quiet", "--detach", oid)
        return Git(clone.root, protocols="http")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as server:
        yield Project(tmp_path / "served" / "repo", server)


def pulled(project: Project, *, head: str | None = None, base: str | None = None, kind: str = "pull_request") -> Context:
    event = example("pull_request.synchronize" if kind != "pull_request_review" else "pull_request_review")
    event["pull_request"]["head"]["sha"] = head or project.head
    event["pull_request"]["base"] |= {"sha": base or project.base_old, "ref": "main"}
    return context(kind, event)


def pushed(before: str | None, *, sha: str, forced: object = None) -> Context:
    event: dict[str, Any] = {**example("push.branch"), "before": before or "0" * 40, "forced": forced}
    return context("push", event, GITHUB_SHA=sha)


def base_of(git: Git, where: Context | None, **more: str) -> Base:
    found = find_base(git, where, **more)
    assert found is not None
    assert git.tree(found.commit, ["card.yaml"]), "the base's files are here"
    return found


def told(found: Base) -> tuple[str, str]:
    return (found.commit.oid, found.how)


@pytest.mark.parametrize("depth", [1, 2, 0])
def test_a_pull_requests_base_is_what_it_was_merged_into_at_any_depth(project: Project, tmp_path: Path, depth: int) -> None:
    git = project.checkout(tmp_path / "clone", project.merge, depth=depth)
    before = status(git)
    assert told(base_of(git, pulled(project))) == (project.base, "merge_parent"), "and not the payload's base, which is older"
    assert status(git) == before


def status(git: Git) -> tuple[str, ...]:
    repo = Repo(git.root, init=None)
    config = (git.root / ".git/config").read_text()
    return (repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD"), repo.git("for-each-ref"), config)


def test_reviews_check_the_same_merge_out(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.merge)
    assert told(base_of(git, pulled(project, kind="pull_request_review"))) == (project.base, "merge_parent")


def test_the_head_itself_is_compared_with_the_merge_base(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=0)
    assert told(base_of(git, pulled(project))) == (project.fork, "merge_base")


def test_a_merge_of_something_else_is_not_githubs(project: Project, tmp_path: Path) -> None:
    """The head merged the base branch into itself: its second parent is no pull request's head."""
    caught_up = project.merged(project.head, project.base)
    git = project.checkout(tmp_path / "clone", caught_up, depth=0)
    # The payload's base is older than what was merged; the branch is not.
    assert told(base_of(git, pulled(project, head=caught_up))) == (project.base, "merge_base")


def test_a_stale_branch_in_a_reused_clone_does_not_win(project: Project, tmp_path: Path) -> None:
    caught_up = project.merged(project.head, project.base)
    git = project.checkout(tmp_path / "clone", caught_up, depth=0)
    Repo(git.root, init=None).git("update-ref", "refs/remotes/origin/main", project.fork)
    assert told(base_of(git, pulled(project, head=caught_up, base=project.base))) == (project.base, "merge_base")


def test_a_push_after_the_event_is_noticed(project: Project, tmp_path: Path) -> None:
    """HEAD merges a younger head than the event's: then it is compared with the merge-base."""
    git = project.checkout(tmp_path / "clone", project.merge, depth=0)
    assert told(base_of(git, pulled(project, head=project.head_old))) == (project.base, "merge_base")


def test_a_shallow_head_without_its_history_says_what_to_set(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.head)
    with pytest.raises(UsageError, match=r"fetch-depth: 0") as caught:
        find_base(git, pulled(project))
    assert caught.value.code == "base"


def test_a_shallow_clone_does_not_guess_a_merge_base(project: Project, tmp_path: Path) -> None:
    """Both tips are here, and a common ancestor is not: cut off, it would look as if there were none, or an older one."""
    git = project.checkout(tmp_path / "clone", project.head)
    git.fetch_commit(project.base_old)
    with pytest.raises(UsageError, match="not in this clone"):
        find_base(git, pulled(project))
    assert told(base_of(git, pulled(project, base=project.head_old))) == (project.head_old, "merge_base"), "a parent is certain"


def test_a_branch_name_that_git_would_calculate_is_data(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=0)
    event = example("pull_request.synchronize")
    event["pull_request"]["head"]["sha"] = ABSENT
    event["pull_request"]["base"] |= {"sha": project.base, "ref": "main@{1}:--upload-pack=x"}
    assert told(base_of(git, context("pull_request", event))) == (project.fork, "merge_base")


def test_an_event_that_names_no_base_says_what_to_set(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.head)
    event = example("pull_request.synchronize")
    event["pull_request"]["base"] = None
    with pytest.raises(UsageError, match="names no base commit"):
        find_base(git, context("pull_request", event))


def test_a_merge_group_has_its_base(project: Project, tmp_path: Path) -> None:
    event = example("merge_group")
    event["merge_group"]["base_sha"] = project.base
    git = project.checkout(tmp_path / "clone", project.merge)
    assert told(base_of(git, context("merge_group", event))) == (project.base, "merge_group")
    event["merge_group"]["base_sha"] = "0" * 40
    with pytest.raises(UsageError, match="names no base commit"):
        find_base(git, context("merge_group", event))


@pytest.mark.parametrize("depth", [1, 3, 0])
def test_a_push_is_compared_with_where_the_branch_was(project: Project, tmp_path: Path, depth: int) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=depth)
    one, two = pushed(project.head_old, sha=project.head, forced=False), pushed(project.fork, sha=project.head, forced=False)
    assert told(base_of(git, one)) == (project.head_old, "before")
    assert told(base_of(git, two)) == (project.fork, "before"), "two commits in one push"


@pytest.mark.parametrize("depth", [1, 0])
def test_a_rewritten_branch_is_compared_with_the_parent(project: Project, tmp_path: Path, depth: int) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=depth)
    found = base_of(git, pushed(project.base, sha=project.head, forced=True))
    assert told(found) == (project.head_old, "parent")
    assert "rewrote its branch, so the base is the parent of HEAD" in str(found.notices)


def test_what_cannot_be_told_is_said(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.head)
    for unsure in (pushed(project.fork, sha=project.head), pushed(project.fork, sha=ABSENT, forced=False)):
        found = base_of(git, unsure)
        assert told(found) == (project.head_old, "parent") and "cannot be told" in str(found.notices)


@pytest.mark.parametrize("before", [None, "itself", ABSENT])
def test_a_new_branch_or_a_lost_commit_is_compared_with_the_parent(project: Project, tmp_path: Path, before: str | None) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=0)
    found = base_of(git, pushed(project.head if before == "itself" else before, sha=project.head))
    assert told(found) == (project.head_old, "parent")
    assert bool(found.notices) is (before != "itself")


def test_the_first_commit_has_no_base(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.fork, depth=0)
    with pytest.raises(UsageError, match="first commit"):
        find_base(git, pushed(None, sha=project.fork))


@pytest.mark.parametrize("kind", ["schedule", "workflow_dispatch"])
def test_a_schedule_and_a_dispatch_have_no_base_unless_named(project: Project, tmp_path: Path, kind: str) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=0)
    where = context(kind, {})
    assert find_base(git, where) is None
    assert told(base_of(git, where, ref="main")) == (project.fork, "merge_base")


@pytest.mark.parametrize("kind", ["workflow_run", "issue_comment", "release"])
def test_other_events_need_a_base_by_name(project: Project, tmp_path: Path, kind: str) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=0)
    with pytest.raises(UsageError, match="set the input base"):
        find_base(git, context(kind, {}))


def test_the_target_of_a_pull_request_is_base_itself(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.base)
    assert told(base_of(git, pulled(project, kind="pull_request_target"))) == (project.base, "checked_out")


def test_by_name_locally(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.head, depth=0)
    for name in ("main", "origin/main", "refs/remotes/origin/main", project.base, project.base.upper(), project.fork):
        assert told(base_of(git, None, ref=name)) == (project.fork, "merge_base"), name
    assert told(base_of(git, None, ref=project.head)) == (project.head, "merge_base")
    with pytest.raises(UsageError, match="--base"):
        find_base(git, None)
    with pytest.raises(UsageError, match="no branch or tag 'nowhere' in this clone; `git branch --all`"):
        find_base(git, None, ref="nowhere")
    with pytest.raises(UsageError, match="no branch or tag 'nowhere' in this clone; set `fetch-depth: 0`"):
        find_base(git, pulled(project), ref="nowhere")
    with pytest.raises(UsageError, match="not in this clone"):
        find_base(git, None, ref=ABSENT)


def test_an_input_comes_before_the_event(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.merge, depth=0)
    assert told(base_of(git, pulled(project), ref=project.base_old)) == (project.base_old, "merge_base")


def test_a_parent_by_its_sha_needs_no_history(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.merge)
    assert told(base_of(git, None, ref=project.base)) == (project.base, "merge_base")


def test_histories_without_a_common_commit(project: Project, tmp_path: Path) -> None:
    project.repo.git("checkout", "--quiet", "--orphan", "alone")
    alone = project.repo.commit({"alone.txt": b""})
    git = project.checkout(tmp_path / "clone", alone, depth=0)
    with pytest.raises(UsageError, match="no commit in common"):
        find_base(git, None, ref="main")


def test_no_commit_yet(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="commit something first"):
        find_base(Git(Repo(tmp_path / "new").root), None, ref="main")


def test_a_base_that_cannot_be_fetched_says_what_to_set(project: Project, tmp_path: Path) -> None:
    git = project.checkout(tmp_path / "clone", project.merge)
    project.server.refuse = True
    with pytest.raises(UsageError, match="persist-credentials") as caught:
        find_base(git, pulled(project))
    assert "fetch-depth: 0" in caught.value.sentence and "\n" not in caught.value.sentence


def test_a_forged_parent_line_in_a_message_is_no_parent(project: Project, tmp_path: Path) -> None:
    project.repo.git("checkout", "--quiet", "--detach", project.head)
    forged = project.repo.commit({"x": b""})
    tree = project.repo.git("rev-parse", f"{forged}^{{tree}}")
    message = f"x\n\nparent {project.base}\nparent {project.head}\n"
    forged = project.repo.git("commit-tree", tree, "-p", project.head_old, "-m", message)
    project.repo.git("update-ref", "refs/heads/forged", forged)
    git = project.checkout(tmp_path / "clone", forged, depth=0)
    assert told(base_of(git, pulled(project))) == (project.fork, "merge_base")


def test_an_octopus_is_not_githubs_merge(project: Project, tmp_path: Path) -> None:
    tree = project.repo.git("rev-parse", f"{project.merge}^{{tree}}")
    octopus = project.repo.git("commit-tree", tree, "-p", project.fork, "-p", project.head, "-p", project.base, "-m", "x")
    project.repo.git("update-ref", "refs/heads/octopus", octopus)
    git = project.checkout(tmp_path / "clone", octopus, depth=0)
    assert told(base_of(git, pulled(project))) == (project.base, "merge_base")
