"""What started the job: `GITHUB_*` variables and the event file → one frozen context. Both may be hostile; neither can crash it.

Addresses come from the environment alone, so that an Enterprise server is never mistaken for github.com.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args
from urllib.parse import quote, urlsplit

from evalaction.errors import UsageError
from evalaction.github import payload
from evalaction.method.records import Quoted, Sentence

Kind: TypeAlias = Literal[
    "pull_request", "pull_request_target", "merge_group", "push", "schedule", "workflow_dispatch", "workflow_run",
    "issue_comment", "other",
]  # fmt: skip
KINDS = frozenset(get_args(Kind))
DEPENDABOT = "dependabot[bot]"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """The head of a pull request. None: the payload does not say (a deleted fork has no repository)."""

    sha: str | None
    ref: str | None
    """Branch name, without `refs/heads/` (untrusted)."""
    repository: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherRun:
    """The run that a `workflow_run` event is about."""

    id: int | None
    attempt: int | None
    event: str | None
    head: Head


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """Who asked for what, where. Names of branches, workflows and jobs are untrusted text."""

    kind: Kind
    event: str
    """The event's own name, also for `other`."""
    repository: str
    server_url: str
    api_url: str
    graphql_url: str
    sha: str | None
    """GITHUB_SHA: the commit GitHub started this job for."""
    ref: str | None
    head: Head | None
    """Of the pull request that the event is about; None without one."""
    pull_number: int | None
    """As the event says it; the ladder of `pull` finds others."""
    base_ref: str | None
    base_sha: str | None
    """Of the pull request (may be stale) or of the merge group."""
    before: str | None
    """`push`: where the branch was; None for a new branch."""
    forced: bool | None
    """`push`: whether history was rewritten; None where unknown."""
    default_branch: str | None
    is_fork: bool
    """The code under judgement comes from another repository, or from one that is gone."""
    is_dependabot: bool
    """Dependabot started it: a read-only token and other secrets, also when a person runs it again."""
    other_run: OtherRun | None
    run_id: int | None
    run_attempt: int
    run_url: str | None
    workflow: str | None
    job: str | None
    notices: tuple[Sentence, ...] = ()


def read_context(environ: Mapping[str, str], event_file: bytes | str | None) -> Context:
    """`event_file` is the content of GITHUB_EVENT_PATH; None if there is none.

    Raises UsageError where repository or addresses are missing, or a pull request event holds no pull request.
    """
    name = payload.text(environ, "GITHUB_EVENT_NAME")
    if name is None:
        raise UsageError("GITHUB_EVENT_NAME is not set; run the action in a GitHub workflow.", code="event")
    event, notices = _event(name, event_file)
    kind = cast("Kind", name if name in KINDS else "other")
    repository = _repository(environ)
    pull = _pull(kind, event)
    head = None if pull is None else head_of(pull.get("head"))
    other_run = _other_run(event) if kind == "workflow_run" else None
    server_url = _address(environ, "GITHUB_SERVER_URL")
    run_id, attempt = payload.number(environ, "GITHUB_RUN_ID"), payload.number(environ, "GITHUB_RUN_ATTEMPT") or 1
    actor = payload.text(environ, "GITHUB_ACTOR")
    ref = payload.text(environ, "GITHUB_REF")
    return Context(
        kind=kind,
        event=name,
        repository=repository,
        server_url=server_url,
        api_url=_address(environ, "GITHUB_API_URL"),
        graphql_url=_address(environ, "GITHUB_GRAPHQL_URL"),
        sha=payload.sha(environ, "GITHUB_SHA"),
        ref=ref,
        head=head,
        pull_number=_pull_number(kind, event),
        base_ref=_base_ref(environ, event, pull),
        base_sha=payload.sha(event, "merge_group", "base_sha") if kind == "merge_group" else payload.sha(pull, "base", "sha"),
        before=payload.sha(event, "before") if kind == "push" else None,
        forced=_boolean(event.get("forced")) if kind == "push" else None,
        default_branch=payload.text(event, "repository", "default_branch")
        or (payload.branch(ref) if kind == "schedule" else None),
        is_fork=_is_fork(repository, head, other_run),
        is_dependabot=actor == DEPENDABOT,
        other_run=other_run,
        run_id=run_id,
        run_attempt=attempt,
        run_url=_run_url(server_url, repository, run_id, attempt),
        workflow=payload.text(environ, "GITHUB_WORKFLOW"),
        job=payload.text(environ, "GITHUB_JOB"),
        notices=notices,
    )


def head_of(value: object) -> Head:
    """The head of a pull request as payloads and API replies have it."""
    return Head(
        sha=payload.sha(value, "sha"),
        ref=payload.text(value, "ref"),
        repository=payload.repository(value, "repo", "full_name"),
    )


def _event(name: str, event_file: bytes | str | None) -> tuple[Mapping[str, Any], tuple[Sentence, ...]]:
    event = None if event_file is None else payload.parse(event_file)
    if event is not None:
        return event, ()
    what = "There is no event file" if event_file is None else "The event file is not a JSON object"
    return {}, ((what, " for the event ", Quoted(name), "; what only it could say is left out."),)


def _pull(kind: Kind, event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The pull request object, which reviews and other events about one carry too."""
    pull = payload.mapping(event, "pull_request")
    if kind not in {"pull_request", "pull_request_target"}:
        return pull if kind == "other" else None
    if payload.number(pull, "number") is None or payload.sha(pull, "head", "sha") is None:
        raise UsageError(
            f"The event file of this {kind} event holds no pull request with a number and a head commit; "
            "run the action in the job that the event started.",
            code="event",
        )
    return pull


def _pull_number(kind: Kind, event: Mapping[str, Any]) -> int | None:
    if kind in {"pull_request", "pull_request_target", "other"}:
        return payload.number(event, "pull_request", "number")
    if kind == "issue_comment" and payload.mapping(event, "issue", "pull_request") is not None:
        return payload.number(event, "issue", "number")
    if kind == "workflow_dispatch":
        return payload.number(event, "inputs", "pr-number")
    return None


def _other_run(event: Mapping[str, Any]) -> OtherRun:
    run = payload.mapping(event, "workflow_run")
    return OtherRun(
        id=payload.number(run, "id"),
        attempt=payload.number(run, "run_attempt"),
        event=payload.text(run, "event"),
        head=Head(
            sha=payload.sha(run, "head_sha"),
            ref=payload.text(run, "head_branch"),
            repository=payload.repository(run, "head_repository", "full_name"),
        ),
    )


def _is_fork(repository: str, head: Head | None, other_run: OtherRun | None) -> bool:
    asked = head or (other_run.head if other_run else None)
    return asked is not None and not payload.same_repository(asked.repository, repository)


def _repository(environ: Mapping[str, str]) -> str:
    found = payload.repository(environ, "GITHUB_REPOSITORY")
    if found is None:
        raise UsageError("GITHUB_REPOSITORY is not of the form owner/name; run the action in a GitHub workflow.", code="event")
    return found


def _address(environ: Mapping[str, str], name: str) -> str:
    value = (payload.text(environ, name) or "").rstrip("/")
    try:
        parts = urlsplit(value)
        host = parts.hostname
        usable = (
            parts.port != 0 and parts.scheme in {"https", "http"} and parts.username is None and not parts.query + parts.fragment
        )
    except ValueError:
        host, usable = None, False
    if not host or not usable or not value.isascii() or " " in value:
        raise UsageError(f"{name} is not the address of a GitHub server; run the action in a GitHub workflow.", code="event")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise UsageError(f"{name} must begin with https://, or the token would travel in the open.", code="event")
    return value


def _base_ref(environ: Mapping[str, str], event: Mapping[str, Any], pull: Mapping[str, Any] | None) -> str | None:
    queue = payload.branch(payload.text(event, "merge_group", "base_ref"))
    return payload.text(pull, "base", "ref") or queue or payload.text(environ, "GITHUB_BASE_REF")


def _run_url(server_url: str, repository: str, run_id: int | None, attempt: int) -> str | None:
    if run_id is None:
        return None
    address = f"{server_url}/{quote(repository)}/actions/runs/{run_id}"
    return address if attempt == 1 else f"{address}/attempts/{attempt}"


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
