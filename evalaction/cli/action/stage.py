"""The stage of one job: inputs, event, repository, and where its files go. Built once, handed to everything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from evalaction.cli.action.log import Log
from evalaction.errors import UsageError
from evalaction.github import payload
from evalaction.github.event import Context, read_context
from evalaction.github.settings import Settings, read_settings, variable

if TYPE_CHECKING:
    from evalaction.cli.world import World
    from evalaction.github.api import Api
    from evalaction.github.base import Base
    from evalaction.registration.git import Commit, Git

EVENT_BYTES = 64 << 20
JUDGED_DIR = "EVALACTION_JUDGED_DIR"
"""Where start.py says that `judge` writes, since `run-dir` is what it reads."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, kw_only=True)
class Stage:
    world: World = field(repr=False)
    settings: Settings
    context: Context
    event: Mapping[str, Any] = field(repr=False)
    """The event file's object; empty where it cannot be read."""
    log: Log = field(repr=False)
    folder: Path
    """Where this job writes; in `judge` and `report` mode beside the artifact, which is only read."""
    asked_number: int | None = None
    """`judge-fork`, which is `run` on a label or a dispatch: the pull request."""
    asked_sha: str | None = None
    asked_digest: str | None = None
    """`report` and `judge`: the digest that the job which drew handed over."""
    asked_judged_digest: str | None = None
    """`report`: that of the job which judged, where another one drew."""

    @cached_property
    def git(self) -> Git:
        from evalaction.registration.git import Git, find_root

        root = find_root(self.world.cwd.resolve())
        if root is None:
            raise UsageError("There is no checkout here; run actions/checkout before this step.", code="not_a_repository")
        return Git(root)

    @cached_property
    def head(self) -> Commit:
        head = self.git.head()
        if head is None:
            raise UsageError("There is no commit checked out; run actions/checkout before this step.", code="not_a_repository")
        return head

    @property
    def base(self) -> Base | None:
        """Raises UsageError where the event has a base that cannot be found."""
        if isinstance(self._base, UsageError):
            raise self._base
        return self._base

    @cached_property
    def _base(self) -> Base | UsageError | None:
        """Looked for once, since a fetch that fails takes its time."""
        from evalaction.github.base import find_base

        try:
            return find_base(self.git, self.context, ref=self.settings.base, ca_bundle=self.settings.ca_bundle)
        except UsageError as error:
            return error

    @cached_property
    def api(self) -> Api | None:
        """None without a token. Raises UsageError for an address or token that cannot be used."""
        from evalaction.github.api import Api

        if self.settings.github_token is None:
            return None
        return Api(
            self.context.api_url,
            self.settings.github_token,
            graphql_url=self.context.graphql_url,
            environ=self.world.environ,
            ca_bundle=self.settings.ca_bundle,
        )

    def close(self) -> None:
        """Ends the connection to GitHub, where one was opened."""
        api = vars(self).get("api")  # asked for as a property it would be opened now
        if api is not None:
            api.close()

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs that the footer prints."""
        return dict(self.settings.non_default())

    def folder_of(self, card: str) -> Path:
        """A folder of its own for each card, named after it."""
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", card.removesuffix(".yaml").removesuffix(".yml")).strip("-")[-60:] or "card"
        return self.folder / f"{slug}-{sha256(card.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def open_stage(world: World, log: Log) -> Stage:
    """Read inputs and event. Raises UsageError."""
    environ = world.environ
    log.mask({"github-token": environ.get(variable("github-token"), "")})
    settings = read_settings(environ)
    text = _event_text(environ)
    context = read_context(environ, text)
    event = payload.parse(text) if text else None
    for notice in context.notices:
        log.warn(notice)
    return Stage(
        world=world,
        settings=settings,
        context=context,
        event=event or {},
        log=log,
        folder=_folder(world, settings),
        asked_number=_number(environ, settings, context, event),
        asked_sha=_sha(environ, settings, context, event),
        asked_digest=_given(environ, "rows-digest", _DIGEST, "the output rows-digest of the job that drew"),
        asked_judged_digest=_given(environ, "judged-digest", _DIGEST, "the output rows-digest of the job that judged"),
    )


def _event_text(environ: Mapping[str, str]) -> str | None:
    path = environ.get("GITHUB_EVENT_PATH")
    if not path:
        return None
    try:
        with Path(path).open("rb") as file:
            data = file.read(EVENT_BYTES + 1)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if len(data) <= EVENT_BYTES else None


def _folder(world: World, settings: Settings) -> Path:
    temp = Path(world.environ.get("RUNNER_TEMP") or world.cwd)
    fresh = temp / "evalaction-runs" / uuid4().hex
    if settings.mode == "judge":
        return Path(world.environ.get(JUDGED_DIR) or fresh)
    if settings.run_dir is None or settings.mode == "report":
        return fresh
    return world.cwd / settings.run_dir


def _given(environ: Mapping[str, str], name: str, form: re.Pattern[str], what: str) -> str | None:
    text = environ.get(variable(name), "").strip().lower()
    if not text:
        return None
    if not form.fullmatch(text):
        raise UsageError(f"The input {name} must be {what}.", code="input")
    return text


def _number(environ: Mapping[str, str], settings: Settings, context: Context, event: Mapping[str, Any] | None) -> int | None:
    text = _asked(environ, "pull-request", _NUMBER, "the number of an open pull request", settings.mode, context.kind)
    if text is None:
        return context.pull_number if _is_label(settings, context, event) else None
    return int(text)


def _sha(environ: Mapping[str, str], settings: Settings, context: Context, event: Mapping[str, Any] | None) -> str | None:
    text = _asked(environ, "head-sha", _SHA, "the full SHA of the pull request's head", settings.mode, context.kind)
    if text is None and _is_label(settings, context, event) and context.head:
        return context.head.sha
    return text


def _asked(environ: Mapping[str, str], name: str, form: re.Pattern[str], what: str, *where: str) -> str | None:
    """What a dispatch asks for. In another mode, or elsewhere, it would be believed unchecked, and a status set for it."""
    text = _given(environ, name, form, what)
    if text is not None and where != ("run", "workflow_dispatch"):
        raise UsageError(
            f"The input {name} is for `mode: run` on workflow_dispatch; in other modes and on other events leave it empty.",
            code="input",
        )
    return text


def _is_label(settings: Settings, context: Context, event: Mapping[str, Any] | None) -> bool:
    labeled = context.kind == "pull_request_target" and payload.text(event or {}, "action") == "labeled"
    return labeled and settings.mode == "run"
