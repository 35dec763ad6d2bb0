"""From frozen inputs to a run that may start: every request, the plan, the digest, and the gates before the first call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalaction.checks.validate import validate_items
from evalaction.endpoints import Request, build_request, missing_variables, open_surface, secrets_of
from evalaction.engine.runner import check_runner
from evalaction.errors import NotRunError, UsageError
from evalaction.method.canonical import Json, digest
from evalaction.method.card import Card
from evalaction.method.exams.exam import Exam, check_question
from evalaction.method.exams.prompt import messages_for
from evalaction.method.plan import Plan, check_budget, check_halves, plan_run
from evalaction.method.question import endpoint_of, question_digest, question_of
from evalaction.method.records import ARMS, ArmName, Sentence
from evalaction.redaction import Redactor
from evalaction.registration.causes import Moved
from evalaction.registration.freeze import freeze, rehearse, verify
from evalaction.registration.frozen import Frozen, VerifyReport

SECRET_IN_CARD = "secret_in_card"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A question with everything that will be sent, before any address or key is known."""

    frozen: Frozen
    requests: Mapping[ArmName, tuple[Request, ...]]
    """Per arm one request an item, in exam order; treatment first."""
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
    def synthetic(self) -> bool:
        return any(self.card.endpoints[arm.endpoint].api == "scripted" for arm in self.card.arms.values())

    def requests_sha256(self, arm: ArmName) -> str:
        """One digest over the request digests of all items, in exam order."""
        return digest([request.sha256 for request in self.requests[arm]])


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
    requests = {arm: _requests(frozen, arm) for arm in ARMS if arm in card.arms}
    _expect_replies(frozen)
    return Prepared(
        frozen=frozen,
        requests=requests,
        plan=plan_run(card, [item.id for item in exam.items], {arm: [len(r.body) for r in rs] for arm, rs in requests.items()}),
        question_digest=question_digest(
            question_of(card, exam),
            exam=exam,
            requests={arm: [r.sha256 for r in rs] for arm, rs in requests.items()},
            endpoints={arm: _endpoint(frozen, arm) for arm in requests},
        ),
        warnings=(*frozen.warnings, *warnings),
    )


def _requests(frozen: Frozen, name: ArmName) -> tuple[Request, ...]:
    arm = frozen.card.arms[name]
    endpoint = frozen.card.endpoints[arm.endpoint]
    texts = frozen.texts()
    system = texts[arm.system] if arm.system else None
    template = texts[arm.template] if arm.template else None
    return tuple(
        build_request(endpoint, messages_for(item, system=system, template=template), item.output or endpoint.output)
        for item in frozen.exam.items
    )


def _endpoint(frozen: Frozen, arm: ArmName) -> Json:
    endpoint = frozen.card.endpoints[frozen.card.arms[arm].endpoint]
    return endpoint_of(endpoint, replies=frozen.files[endpoint.replies] if endpoint.replies else None)


def _expect_replies(frozen: Frozen) -> None:
    """Every item of a scripted endpoint has a reply; found before the run, like everything that is known without a call."""
    for arm in frozen.card.arms.values():
        endpoint = frozen.card.endpoints[arm.endpoint]
        if endpoint.api == "scripted":
            open_surface(endpoint, environ={}, files=frozen.files).expect(item.id for item in frozen.exam.items)


def _refuse_secrets(prepared: Prepared, environ: Mapping[str, str]) -> None:
    """A card is kept in every run folder as it stands: one that holds a secret would only be found out after the last call."""
    held = Redactor(secrets_of(prepared.card, environ)).leaks(prepared.frozen.card_bytes)
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
    missing = missing_variables(prepared.card, environ)
    if missing:
        raise NotRunError(f"These variables are not set, or empty: {', '.join(missing)}. Nothing was drawn.")
    card = prepared.card
    for name in sorted({arm.endpoint for arm in card.arms.values()}):
        open_surface(card.endpoints[name], environ=environ, files=prepared.frozen.files, ca_bundle=ca_bundle)
