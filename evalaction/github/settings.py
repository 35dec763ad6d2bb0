"""The action's inputs: parsed once from the variables that `action.yml` sets, one sentence for each mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar, cast

from evalaction.errors import Outcome, UsageError
from evalaction.method.reading.refs import is_name

Mode: TypeAlias = Literal["run", "verify", "draw", "judge", "report"]
OnMissingSecrets: TypeAlias = Literal["fail", "skip"]

PREFIX = "EVALACTION_"
CARD = "card.yaml"
FAIL_ON = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.UNREACHABLE)
NO_OUTCOME = "none"
"""`fail-on: none`: the four never fail the job. An empty value is the default, since it may be a variable nobody set."""
LONGEST = 1000
MOST_CARDS = 100

# Inputs of a later version: accepted when empty.
_LATER = ("shard",)
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_TOKEN = re.compile(r"[!-~]+", re.ASCII)
_BRANCH = re.compile(r"(?!refs/)[A-Za-z0-9][A-Za-z0-9._/-]{0,199}", re.ASCII)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What the workflow asked for. Empty inputs have their defaults; None where there is none."""

    card: tuple[str, ...] = (CARD,)
    """Paths and globs, relative to the repository, in the order they were written."""
    mode: Mode = "run"
    github_token: str | None = field(default=None, repr=False)
    """None: nothing is written to GitHub's API."""
    comment: bool = True
    comment_key: str = ""
    base: str | None = None
    """A full SHA, branch or tag in place of the base that the event names."""
    question: Literal["base", "head"] = "base"
    """Whose question is asked where a card is judged against base."""
    redraw: bool = False
    changed_only: bool = False
    """Of many cards only those are judged of which something differs from base."""
    fail_on: frozenset[Outcome] = frozenset(FAIL_ON)
    on_missing_secrets: OnMissingSecrets = "fail"
    history: str | None = None
    """The branch that keeps an entry for each run; None: none."""
    issue_on_breakage: bool = False
    allow_unsafe: bool = False
    """Run code of a model without isolation where this machine has none."""
    run_dir: str | None = None
    ca_bundle: str | None = None

    def non_default(self) -> Mapping[str, str]:
        """The inputs that the comment's footer prints, by name, where they are not the default."""
        shown = {
            "card": (" ".join(self.card), CARD),
            "base": (self.base or "", ""),
            "question": (self.question, "base"),
            "changed-only": ("true" if self.changed_only else "false", "false"),
            "allow-unsafe-execution": ("true" if self.allow_unsafe else "false", "false"),
            "fail-on": (_words(self.fail_on), _words(FAIL_ON)),
        }
        return {name: value for name, (value, default) in shown.items() if value != default}


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Settings from `EVALACTION_<INPUT>` variables; others are ignored. Raises UsageError."""
    raw = _Raw(environ)
    for name in _LATER:
        raw.refuse_later(name)
    return Settings(
        card=_cards(raw),
        mode=cast("Mode", raw.one_of("mode", ("run", "verify", "draw", "judge", "report"))),
        github_token=_token(raw),
        comment=raw.boolean("comment", default=True),
        comment_key=raw.line("comment-key") or "",
        base=raw.line("base"),
        question=cast("Literal['base', 'head']", raw.one_of("question", ("base", "head"))),
        changed_only=raw.boolean("changed-only", default=False),
        redraw=raw.boolean("redraw", default=False),
        fail_on=_fail_on(raw),
        on_missing_secrets=cast("OnMissingSecrets", raw.one_of("on-missing-secrets", ("fail", "skip"))),
        history=_history(raw),
        issue_on_breakage=raw.boolean("issue-on-breakage", default=False),
        allow_unsafe=raw.boolean("allow-unsafe-execution", default=False),
        run_dir=raw.line("run-dir"),
        ca_bundle=raw.line("ca-bundle"),
    )


def variable(name: str) -> str:
    """The variable that carries an input: `fail-on` is EVALACTION_FAIL_ON."""
    return PREFIX + name.upper().replace("-", "_")


class _Raw:
    """The inputs as texts, by the names that users write."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def given(self, name: str) -> str | None:
        return self._environ.get(variable(name))

    def line(self, name: str) -> str | None:
        """One line, stripped; None when empty."""
        text = (self.given(name) or "").strip()
        if not text:
            return None
        if len(text) > LONGEST or not _is_printable(text):
            raise UsageError(f"The input {name} must be one line of at most {LONGEST:,} printable characters.", code="input")
        return text

    def one_of(self, name: str, words: tuple[str, ...]) -> str:
        """A word of the list, the first when empty."""
        return self._parsed(name, self.line(name) or words[0], {word: word for word in words}.get, " or ".join(words))

    def boolean(self, name: str, *, default: bool) -> bool:
        text = self.line(name)
        return default if text is None else self._parsed(name, text, _BOOLEANS.get, "true or false")

    def refuse_later(self, name: str) -> None:
        if self.line(name) is not None:
            raise UsageError(f"The input {name} is not in this version of evalaction; leave it empty.", code="input")

    def _parsed(self, name: str, text: str, parse: Callable[[str], T | None], expected: str) -> T:
        value = parse(text)
        if value is None:
            raise UsageError(f"The input {name} is {text[:80]!r}; it must be {expected}.", code="input")
        return value


def _cards(raw: _Raw) -> tuple[str, ...]:
    text = raw.given("card")
    if text is None:
        return (CARD,)
    lines = tuple(dict.fromkeys(line.strip() for line in text.replace("\r\n", "\n").split("\n") if line.strip()))
    if not lines:
        raise UsageError(f"The input card is empty; give the path of a committed card, such as {CARD}.", code="input")
    if len(lines) > MOST_CARDS:
        raise UsageError(f"The input card has {len(lines):,} lines; at most {MOST_CARDS} are read.", code="input")
    return lines


def _history(raw: _Raw) -> str | None:
    text = raw.line("history")
    if text is None or (_BRANCH.fullmatch(text) and is_name(text)):
        return text
    raise UsageError(
        f"The input history is {text[:80]!r}; it must be the name of a branch, such as evalaction-history.", code="input"
    )


def _token(raw: _Raw) -> str | None:
    text = raw.given("github-token")
    if not text:
        return None
    if not _TOKEN.fullmatch(text):
        raise UsageError(
            "The input github-token holds a space, a line break or a character that no token has; store it again without.",
            code="input",
        )
    return text


def _fail_on(raw: _Raw) -> frozenset[Outcome]:
    text = raw.line("fail-on")
    if text is None:
        return frozenset(FAIL_ON)
    words = text.replace(",", " ").split()
    known = {outcome.value: outcome for outcome in FAIL_ON}
    unknown = next((word for word in words if word not in known and word != NO_OUTCOME), None)
    if unknown is not None:
        allowed = " ".join(known)
        raise UsageError(f"The input fail-on names {unknown[:80]!r}; it may hold {allowed}, or {NO_OUTCOME} alone.", code="input")
    if NO_OUTCOME in words and len(words) > 1:
        raise UsageError(f"The input fail-on says {NO_OUTCOME} beside other words; keep one or the other.", code="input")
    return frozenset(known[word] for word in words if word in known)


def _words(outcomes: frozenset[Outcome] | tuple[Outcome, ...]) -> str:
    return " ".join(outcome.value for outcome in FAIL_ON if outcome in outcomes) or NO_OUTCOME


def _is_printable(text: str) -> bool:
    return text.isprintable() and not any("\ud800" <= char <= "\udfff" for char in text)
