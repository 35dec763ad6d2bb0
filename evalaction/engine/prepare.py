"""From frozen inputs to a run that may start: every request, the plan, the digest, and the gates before the first call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalaction.checks.validate import validate_items
from evalaction.endpoints import Request, build_request, missing_variables, open_surface, secrets_of
from evalaction.engine.runner import check_runner
from evalaction.errors import NotRunError, UsageError
from evalaction.method.arms import Resolved, Source, check_allowed, connection, digested, distinct, resolve
from evalaction.method.canonical import digest
from evalaction.method.card import Card, Endpoint
from evalaction.method.exams.exam import Exam, check_question
from evalaction.method.plan import Plan, check_budget, check_halves, plan_run
from evalaction.method.question import question_digest, question_of
from evalaction.method.records import ArmName, Sentence
from evalaction.redaction import Redactor
from evalaction.registration.causes import Moved
from evalaction.registration.freeze import freeze, rehearse, verify
from evalaction.registration.frozen import Frozen, VerifyReport

SECRET_IN_CARD = "secret_in_card"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A question with everything that will be sent, before any address or key is known."""

    frozen: Frozen
    arms: Mapping[ArmName, Resolved]
    """Treatment first."""
    requests: Mapping[ArmName, tuple[Request, ...]]
    """Per arm one request an item, in exam order."""
    plan: Plan
    question_digest: str
    warnings: tuple[Sentence, ...]

    @property
    def card(self) -> Card:
        return self.frozen.card

    @property
    def exam(self) -> Exam:
        return self.frozen.exam

    @property
    def planned(self) -> int:
        return self.plan.calls

    @property
    def asked(self) -> tuple[Endpoint, ...]:
        """Every endpoint that a draw goes to."""
        return distinct(endpoint for arm in self.arms.values() for endpoint in arm.endpoints)

    @property
    def named(self) -> tuple[Endpoint, ...]:
        """Every endpoint of the cards that define the arms, asked or not: none of their secrets may be shown."""
        return named_endpoints([self.frozen.card, *(arm.source.card for arm in self.arms.values())])

    def files_of(self, endpoint: Endpoint) -> Mapping[str, bytes]:
        """The committed files beside the card that defines an asked endpoint."""
        return next(arm.source.files for arm in self.arms.values() if endpoint in arm.endpoints)

    def requests_sha256(self, arm: ArmName) -> str:
        """One digest over the request digests of all items, in exam order."""
        return digest([request.sha256 for request in self.requests[arm]])


def named_endpoints(cards: Iterable[Card]) -> tuple[Endpoint, ...]:
    return distinct(endpoint for card in cards for endpoint in card.endpoints.values())


def expected_head(environ: Mapping[str, str]) -> str | None:
    """The commit that a job on GitHub was started for; None elsewhere."""
    return environ.get("GITHUB_SHA") or None if environ.get("GITHUB_ACTIONS") == "true" else None


def load(card_path: Path, environ: Mapping[str, str], *, rehearse_only: bool) -> Frozen:
    """The inputs as the commit holds them, compared three ways; or, for a rehearsal, as they lie in the working tree."""
    return rehearse(card_path) if rehearse_only else freeze(card_path, expected_head=expected_head(environ))


def load_prepared(card_path: Path, environ: Mapping[str, str], *, rehearse_only: bool) -> Prepared:
    """`prepare` of `load`. Raises as `prepared_of` does."""
    if rehearse_only:
        return prepare(rehearse(card_path))
    return prepared_of(verify(card_path, expected_head=expected_head(environ)))


def prepared_of(report: VerifyReport) -> Prepared:
    """`prepare` of what was verified: a mistake in what the commit holds (2) comes before what has moved since (4, Moved)."""
    prepared = prepare(report.readable) if report.readable else None
    if prepared is None or report.frozen is None:
        raise Moved(report.breaks)
    return prepared


def prepare(frozen: Frozen) -> Prepared:
    """Build every request and the plan. Raises UsageError or SourceError for whatever would go wrong during the run."""
    card, exam = frozen.card, frozen.exam
    check_question(card, exam)
    warnings = validate_items(exam.items, card.checks)
    arms = {
        name: resolve(Source(card=card, arm=card.arms[name], files=frozen.files, commit=frozen.commit), exam)
        for name in card.arms
    }
    requests = {name: _requests(arm) for name, arm in arms.items()}
    for arm in arms.values():
        check_allowed(card, arm)
        _expect_replies(arm, exam)
    return Prepared(
        frozen=frozen,
        arms=arms,
        requests=requests,
        plan=plan_run(card, [item.id for item in exam.items], {name: _sizes(arms[name], rs) for name, rs in requests.items()}),
        question_digest=question_digest(
            question_of(card, exam),
            exam=exam,
            requests={name: [r.sha256 for r in rs] for name, rs in requests.items()},
            endpoints={name: digested(arm) for name, arm in arms.items()},
        ),
        warnings=(*frozen.warnings, *warnings, *dict.fromkeys(note for arm in arms.values() for note in arm.notes)),
    )


def _requests(arm: Resolved) -> tuple[Request, ...]:
    return tuple(build_request(one.endpoint, one.messages, one.output) for one in arm.asked)


def _sizes(arm: Resolved, requests: Sequence[Request]) -> list[tuple[Endpoint, int]]:
    return [(one.endpoint, len(request.body)) for one, request in zip(arm.asked, requests, strict=True)]


def _expect_replies(arm: Resolved, exam: Exam) -> None:
    """Every item of a scripted endpoint has a reply; found before the run, like everything that is known without a call."""
    for endpoint in arm.endpoints:
        if endpoint.api == "scripted":
            items = (item.id for item, one in zip(exam.items, arm.asked, strict=True) if one.endpoint == endpoint)
            open_surface(endpoint, environ={}, files=arm.source.files).expect(items)


def _refuse_secrets(prepared: Prepared, environ: Mapping[str, str]) -> None:
    """A card is kept in every run folder as it stands: one that holds a secret would only be found out after the last call."""
    held = Redactor(secrets_of(prepared.named, environ)).leaks(prepared.frozen.card_bytes)
    if held:
        raise UsageError(
            f"The card holds the value of {', '.join(held)}, a secret of this run; take it out of the card, or give the "
            "variable a value that is no ordinary word. Nothing was drawn.",
            code=SECRET_IN_CARD,
        )


def pass_gates(
    prepared: Prepared,
    environ: Mapping[str, str],
    identity: Mapping[str, str],
    *,
    rehearsal: bool,
    ca_bundle: str | None = None,
) -> None:
    """Refuse before the first call, in the method's order: runner (4), budget and allowance (2), halves (5), secrets (6).

    The values of the secrets come last: an address or key that cannot be used (2). A rehearsal may run on any machine and
    may be too small to speak.
    """
    _refuse_secrets(prepared, environ)
    if not rehearsal:
        check_runner(prepared.card.runner, identity)
    check_budget(prepared.card, prepared.plan)
    if not rehearsal:
        check_halves(prepared.plan)
    missing = missing_variables(prepared.asked, environ)
    if missing:
        raise NotRunError(f"These variables are not set, or empty: {', '.join(missing)}. Nothing was drawn.")
    for arm in prepared.arms.values():
        for endpoint in distinct(map(connection, arm.endpoints)):
            open_surface(endpoint, environ=environ, files=arm.source.files, ca_bundle=ca_bundle)
