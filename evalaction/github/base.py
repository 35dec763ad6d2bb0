"""Which commit is base, for every event. The parents come from the raw commit, so a checkout of depth 1 is enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalaction.errors import UsageError
from evalaction.github.event import Context
from evalaction.method.records import Sentence
from evalaction.registration.git import Commit, Git, GitError

How: TypeAlias = Literal["merge_parent", "merge_base", "merge_group", "before", "parent", "checked_out"]

DEEPER = "set `fetch-depth: 0` at actions/checkout"


@dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    """The commit that a change is compared with; its files are in this clone."""

    commit: Commit
    how: How
    notices: tuple[Sentence, ...] = ()


Finder: TypeAlias = "Callable[[_Search], Base]"


def find_base(git: Git, context: Context | None, *, ref: str | None = None, ca_bundle: str | None = None) -> Base | None:
    """The base of HEAD; None on a schedule or dispatch, which have none: a sign cannot be given there.

    `context` is None outside GitHub. `ref` (the `base` input) comes before the event: then base is its merge-base with HEAD. A
    base whose files are not here is fetched, that commit alone. Raises UsageError with the remedy where it cannot be found.
    """
    head = git.head()
    if head is None:
        raise _lost("There is no commit to compare; commit something first.")
    search = _Search(git, head, context, ca_bundle)
    if ref is not None:
        return search.by_ref(ref)
    if context is None:
        raise _lost("There is no base to compare with; name a branch, tag or SHA with --base.")
    if context.kind in {"schedule", "workflow_dispatch"}:
        return None
    # Reviews and other events about a pull request check out its merge commit too.
    finder = _FINDERS.get(context.kind) or (_of_pull_request if context.kind == "other" and context.head else None)
    if finder is None:
        raise _lost(f"A run on {context.event!r} has no base; set the input base to a branch, tag or SHA.")
    return finder(search)


class _Search:
    """One repository, its HEAD and the event it was checked out for."""

    def __init__(self, git: Git, head: Commit, context: Context | None, ca_bundle: str | None) -> None:
        self.git = git
        self.head = head
        self._context = context
        self._ca_bundle = ca_bundle

    @property
    def context(self) -> Context:
        assert self._context is not None
        return self._context

    def by_ref(self, ref: str) -> Base:
        oid = self.git.resolve_ref(ref)
        if oid is None:
            there = (
                f"{DEEPER}, or give the base as a full SHA" if self._context else "`git branch --all` lists those that are there"
            )
            raise _lost(f"There is no branch or tag {ref!r} in this clone; {there}.")
        return self.merge_base(oid, f"{ref!r}")

    def merge_base(self, oid: str, shown: str) -> Base:
        """In a shallow clone only a plain ancestor is certain: a better common one may have been cut off."""
        if oid in self.head.parents:
            return self.held(oid, "merge_base")
        held = self.git.commit(oid) is not None
        if held and self.git.is_ancestor(oid, self.head.oid):
            return self.held(oid, "merge_base")
        if not held or self.git.is_shallow():
            raise _lost(f"The history between HEAD and {shown} is not in this clone; {DEEPER}.")
        found = self.git.merge_base(self.head.oid, oid)
        if found is None:
            raise _lost(f"HEAD and {shown} have no commit in common; base the branch on the one it is to be merged into.")
        return self.held(found, "merge_base")

    def held(self, oid: str, how: How, *notices: Sentence) -> Base:
        """The base, with its files fetched if need be."""
        try:
            return Base(commit=self.git.fetch_commit(oid, ca_bundle=self._ca_bundle), how=how, notices=notices)
        except GitError as error:
            raise _lost(
                f"The base commit {oid[:12]} is not in this clone and could not be fetched ({error.sentence}); {DEEPER}, or keep "
                "its `persist-credentials` on for this job."
            ) from error

    def parent(self, *notices: Sentence) -> Base:
        if not self.head.parents:
            raise _lost("HEAD is the first commit of its history, so there is nothing to compare it with; push another commit.")
        return self.held(self.head.parents[0], "parent", *notices)


def _of_pull_request(search: _Search) -> Base:
    """What the head was merged into, and not `pull_request.base.sha`, which may be older."""
    context, head = search.context, search.head
    wanted = context.head.sha if context.head else None
    if wanted is not None and len(head.parents) == 2 and head.parents[1] == wanted:
        return search.held(head.parents[0], "merge_parent")
    # Another commit than GitHub's merge is checked out: the head itself, say. Both tips are real, and either may be the older.
    tips = [oid for oid in (_tip(search.git, context.base_ref), context.base_sha) if oid is not None]
    if not tips:
        raise _lost("The event names no base commit; set the input base to a branch, tag or SHA.")
    here = [oid for oid in tips if search.git.commit(oid) is not None]
    found = [search.merge_base(oid, "the base branch") for oid in here or tips[:1]]
    newer = found[-1]
    return newer if search.git.is_ancestor(found[0].commit.oid, newer.commit.oid) else found[0]


def _tip(git: Git, branch: str | None) -> str | None:
    try:
        return git.resolve_ref(f"refs/remotes/origin/{branch}") if branch else None
    except UsageError:  # a name that only GitHub accepts
        return None


def _of_merge_group(search: _Search) -> Base:
    if search.context.base_sha is None:
        raise _lost("The event of the merge queue names no base commit; set the input base to a branch, tag or SHA.")
    return search.held(search.context.base_sha, "merge_group")


def _of_push(search: _Search) -> Base:
    """`before` if it is an ancestor of HEAD; a rewritten or new branch is compared with HEAD's own parent."""
    before, head, git = search.context.before, search.head, search.git
    if before is None or before == head.oid:
        return search.parent(*([] if before else [_not_all("The push made this branch")]))
    if before in head.parents:
        return search.held(before, "before")
    if git.commit(before) is not None and git.is_ancestor(before, head.oid):
        return search.held(before, "before")
    if not git.is_shallow():
        return search.parent(_not_all("The push rewrote its branch"))
    # The clone is too shallow to tell; GitHub says whether it moved the branch forward or rewrote it.
    if search.context.forced is False and search.context.sha == head.oid:
        return search.held(before, "before")
    rewritten = (
        "The push rewrote its branch" if search.context.forced else "It cannot be told whether the push rewrote its branch"
    )
    return search.parent(_not_all(rewritten))


def _not_all(why: str) -> Sentence:
    return (f"{why}, so the base is the parent of HEAD: what earlier commits of the branch change is not judged here.",)


def _of_target(search: _Search) -> Base:
    """`pull_request_target` checks out a commit of the base branch: HEAD itself is base."""
    return Base(commit=search.head, how="checked_out")


def _lost(sentence: str) -> UsageError:
    return UsageError(sentence, code="base")


_FINDERS: dict[str, Finder] = {
    "pull_request": _of_pull_request,
    "merge_group": _of_merge_group,
    "push": _of_push,
    "pull_request_target": _of_target,
}
