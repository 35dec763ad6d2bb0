"""Decisions apart from the verdict: does the job fail, which outcome stands for all cards, what missing secrets and events mean.

Pure. None of them changes what a card's outcome is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from evalaction.errors import Outcome, UsageError
from evalaction.github.event import Context
from evalaction.github.settings import Mode, OnMissingSecrets
from evalaction.method.records import Sentence

WORST_FIRST = (
    Outcome.INTERRUPTED, Outcome.INTERNAL, Outcome.USAGE, Outcome.UNREGISTERED, Outcome.FAIL, Outcome.UNREACHABLE,
    Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.REGISTERED, Outcome.UNCHANGED, Outcome.PASS,
)  # fmt: skip
"""Of those that end with 0, the one that judged least goes first: `pass` for all means that all were judged."""
ALWAYS_FAIL = frozenset({Outcome.INTERRUPTED, Outcome.INTERNAL, Outcome.USAGE, Outcome.UNREGISTERED})
# Events whose job has secrets and a token that writes, whoever opened the pull request.
_PRIVILEGED = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
# Modes that run what is checked out, or send secrets where it says.
_OF_A_CHECKOUT = frozenset({"run", "draw", "judge"})
# `other`: reviews of a pull request come from forks too.
_FORK_KINDS = frozenset({"pull_request", "other"})
_DEPENDABOT_KINDS = frozenset({"pull_request", "push", "other"})


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome that stands for several cards. Raises ValueError without any: nothing judged is no pass."""
    return min(outcomes, key=WORST_FIRST.index)


def exit_code(outcomes: Collection[Outcome], fail_on: Collection[Outcome]) -> int:
    """What the step ends with: the code of the worst outcome that fails the job, else 0.

    A job without any outcome is a bug of ours, and fails as one.
    """
    if not outcomes:
        return Outcome.INTERNAL.exit_code
    found = failing(outcomes, fail_on)
    return worst(found).exit_code if found else 0


def failing(outcomes: Iterable[Outcome], fail_on: Collection[Outcome]) -> tuple[Outcome, ...]:
    """Those that fail the job: usage, internal, unregistered and interrupted always do, the others where `fail_on` has them."""
    return tuple(one for one in outcomes if one in ALWAYS_FAIL or (one.exit_code != 0 and one in fail_on))


@dataclass(frozen=True, kw_only=True, slots=True)
class MissingSecrets:
    """The outcome is `not_run` either way. `skips`: the step ends 0, whatever fail-on says."""

    skips: bool
    sentence: Sentence


def on_missing_secrets(setting: OnMissingSecrets, context: Context) -> MissingSecrets:
    """What it means that a card's secrets are missing in this job. `skip` counts only where GitHub withholds them."""
    withheld = _withheld(context)
    if withheld is None:
        ignored = " `on-missing-secrets: skip` does not apply: it is for forks and Dependabot." if setting == "skip" else ""
        return MissingSecrets(skips=False, sentence=(f"Set the variables in the step's `env:`, from secrets.{ignored}",))
    return MissingSecrets(skips=setting == "skip", sentence=(withheld,))


def _withheld(context: Context) -> str | None:
    if context.is_dependabot and context.kind in _DEPENDABOT_KINDS:
        return (
            "GitHub keeps the repository's secrets from runs that Dependabot started; a maintainer can store them as Dependabot "
            "secrets, or judge this pull request by dispatch."
        )
    if context.is_fork and context.kind in _FORK_KINDS:
        return (
            "GitHub keeps secrets from pull requests of forks; a maintainer can have this one judged by dispatch or label, "
            "without running its code."
        )
    return None


def check_event(mode: Mode, context: Context, head_oid: str) -> None:
    """Refuse to run what a stranger wrote where secrets are. `head_oid` is the commit that is checked out.

    On these events GITHUB_SHA is a commit of the base repository's own branch; anything else that is checked out, like a pull
    request's head or merge commit, brings its own card, checkers and code. Raises UsageError.
    """
    if mode not in _OF_A_CHECKOUT or context.kind not in _PRIVILEGED:
        return
    if context.kind == "workflow_run":
        raise UsageError(
            "On workflow_run only `mode: report` is possible; draw in the workflow that runs before it.", code="event"
        )
    if context.kind == "issue_comment":
        raise UsageError(
            "On issue_comment nothing of the pull request is checked out, and its comment would show the verdict of another "
            "commit; have it judged by label or dispatch.",
            code="event",
        )
    if head_oid != context.sha:
        own = (context.sha or "unknown")[:12]
        raise UsageError(
            f"On {context.kind} the checked out commit must be the base repository's own ({own}), not {head_oid[:12]}: its "
            "card and code would run beside the secrets; remove `ref:` at actions/checkout, "
            "or use pull_request.",
            code="event",
        )


def check_redraw(redraw: bool, context: Context) -> None:
    """A forced redraw is for dispatch only, or rerolling until green would work. Raises UsageError."""
    if redraw and context.kind != "workflow_dispatch":
        raise UsageError(
            f"The input redraw is for workflow_dispatch, not for {context.event!r}; start the workflow by hand to draw again.",
            code="input",
        )
