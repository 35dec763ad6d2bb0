"""Which pull request a run is about: the event says so, or exactly one open pull request fits. Everything else is none.

More than one that fits, a number below 1, or an API that does not answer is none with a warning, never a guess: a comment on
somebody else's pull request is worse than no comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias
from urllib.parse import quote

from evalaction.github import payload
from evalaction.github.event import Context, Head, head_of
from evalaction.github.replies import Ok, Refused
from evalaction.method.records import Quoted, Sentence
from evalaction.method.telling.words import listed

Source: TypeAlias = Literal["event", "workflow_run", "merge_queue", "commit"]

NEEDS = ("pull-requests: read",)
_DOING = "say which pull request this run belongs to"
_QUEUE = re.compile(r"refs/heads/gh-readonly-queue/(?P<base>.+)/pr-(?P<number>[0-9]{1,18})-(?:[0-9a-f]{40}|[0-9a-f]{64})")
# Runs of these are about no commit of a pull request: a schedule runs on the default branch, a comment on an issue is on none.
_NEVER_BY_COMMIT = frozenset({"schedule", "issue_comment", "workflow_run", "merge_group", "pull_request", "pull_request_target"})


class Reads(Protocol):
    """The part of the API client that is used: one object, or all entries of a list, or why not."""

    def request(self, method: Literal["GET"], path: str, *, doing: str, needs: tuple[str, ...] = ()) -> Ok[Any] | Refused: ...

    def pages(
        self, path: str, *, doing: str, params: Mapping[str, str | int] | None = None, needs: tuple[str, ...] = ()
    ) -> Ok[list[Any]] | Refused: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Pull:
    """A pull request of this repository."""

    number: int
    head: Head | None
    """None where only the number is known."""
    source: Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """`pull` is None when there is none, or none for sure; then `warnings` or `notice` says why."""

    pull: Pull | None
    notice: Sentence | None = None
    """Nothing is wrong, this event just has no pull request."""
    warnings: tuple[Sentence, ...] = ()


_UNASKED = Found(pull=None, notice=("Without a github-token GitHub cannot be asked for the pull request; nothing is commented.",))


def find_pull(context: Context, api: Reads | None) -> Found:
    """The pull request of a run. Without `api` only what the event itself says."""
    if context.kind in {"pull_request", "pull_request_target"} or (context.kind == "other" and context.head is not None):
        return _from_event(context)
    if context.kind == "issue_comment" or context.pull_number is not None:
        return _listed(context, api, context.pull_number)
    if context.kind == "workflow_run":
        return _of_other_run(context, api)
    queue = queued(context.ref)
    if queue is not None or context.kind == "merge_group":
        return _of_queue(context, api, queue)
    return _of_commit(context, api)


def queued(ref: str | None) -> tuple[str, int] | None:
    """(base branch, number) out of a merge queue's ref; None for any other ref."""
    match = _QUEUE.fullmatch(ref or "")
    number = payload.number(match["number"]) if match else None
    return (match["base"], number) if match and number else None


def _from_event(context: Context) -> Found:
    if context.pull_number is None:
        return Found(pull=None, warnings=(("The event names no pull request with a number from 1 up; nothing is commented.",),))
    return Found(pull=Pull(number=context.pull_number, head=context.head, source="event"))


def _listed(context: Context, api: Reads | None, number: int | None) -> Found:
    """A comment or a dispatch names a number only; it must be an open pull request of this repository.

    A dispatch judges the commit of the ref it was started on: where that is not the pull request's head, the verdict is not its.
    """
    if number is None:
        return Found(pull=None, notice=("The comment that started this run is not on a pull request; nothing is commented.",))

    def fits(pull: object) -> bool:
        elsewhere = context.kind == "workflow_dispatch" and payload.sha(pull, "head", "sha") != context.sha
        return _open_here(pull, context) and not elsewhere

    return _numbered(context, api, "event", number, fits)


def _of_other_run(context: Context, api: Reads | None) -> Found:
    """Found by what the run itself was: an artifact's number, or `pull_requests` of the payload, proves nothing."""
    run = context.other_run
    if run is None or run.event != "pull_request":
        event = run.event if run and run.event else "unknown"
        return Found(
            pull=None, notice=("The run before this one was started by the event ", Quoted(event), ", so it has no pull request.")
        )
    head = run.head
    if head.sha is None or head.ref is None or head.repository is None:
        return Found(
            pull=None, warnings=(("The run before this one has lost its head repository or branch; nothing is commented.",),)
        )
    owner = head.repository.split("/")[0]

    def fits(pull: object) -> bool:
        theirs = head_of(payload.mapping(pull, "head"))
        same = payload.same_repository(theirs.repository, head.repository)
        return _open_here(pull, context) and same and (theirs.sha, theirs.ref) == (head.sha, head.ref)

    return _asked(api, "workflow_run", _path(context), fits, state="open", head=f"{owner}:{head.ref}")


def _of_queue(context: Context, api: Reads | None, queue: tuple[str, int] | None) -> Found:
    if queue is None:
        return Found(pull=None, warnings=(("The merge queue's branch names no pull request; nothing is commented.",),))
    base, number = queue

    def fits(pull: object) -> bool:
        return _open_here(pull, context) and payload.text(pull, "base", "ref") == base

    return _numbered(context, api, "merge_queue", number, fits)


def _of_commit(context: Context, api: Reads | None) -> Found:
    if context.kind in _NEVER_BY_COMMIT or context.sha is None:
        return Found(
            pull=None, notice=("A run on ", Quoted(context.event), " has no pull request; the job summary has the result.")
        )

    branch = payload.branch(context.ref)

    def fits(pull: object) -> bool:
        # From this repository's own branch: anybody can open a pull request from a fork's branch that points at this commit.
        head = head_of(payload.mapping(pull, "head"))
        own = payload.same_repository(head.repository, context.repository) and branch in {None, head.ref}
        return _open_here(pull, context) and own and head.sha == context.sha

    return _asked(api, "commit", f"/repos/{quote(context.repository)}/commits/{context.sha}/pulls", fits)


class _Fits(Protocol):
    def __call__(self, pull: object, /) -> bool: ...


def _numbered(context: Context, api: Reads | None, source: Source, number: int, fits: _Fits) -> Found:
    if api is None:
        return _UNASKED
    result = api.request("GET", f"{_path(context)}/{number}", doing=_DOING, needs=NEEDS)
    if isinstance(result, Refused):
        return Found(pull=None, warnings=((result.sentence,),))
    right = payload.number(result.data, "number") == number and fits(result.data)
    return _only([result.data] if right else [], source)


def _asked(api: Reads | None, source: Source, path: str, fits: _Fits, **params: str) -> Found:
    if api is None:
        return _UNASKED
    result = api.pages(path, doing=_DOING, params=params or None, needs=NEEDS)
    if isinstance(result, Refused):
        return Found(pull=None, warnings=((result.sentence,),))
    return _only([pull for pull in result.data if fits(pull)], source)


def _only(pulls: Iterable[object], source: Source) -> Found:
    """Exactly one. The same pull request listed twice, as when the list moved between two pages, is one."""
    by_number = {number: pull for pull in pulls if (number := payload.number(pull, "number")) is not None}
    if len(by_number) > 1:
        numbers = listed([f"#{number}" for number in sorted(by_number)])
        return Found(pull=None, warnings=((f"The pull requests {numbers} all fit this run, so none of them is commented on.",),))
    for number, pull in by_number.items():
        return Found(pull=Pull(number=number, head=head_of(payload.mapping(pull, "head")), source=source))
    return Found(pull=None, notice=("No open pull request of this repository fits this run; the job summary has the result.",))


def _open_here(pull: object, context: Context) -> bool:
    base = payload.repository(pull, "base", "repo", "full_name")
    return payload.text(pull, "state") == "open" and payload.same_repository(base, context.repository)


def _path(context: Context) -> str:
    return f"/repos/{quote(context.repository)}/pulls"
