"""From frozen inputs to a run that may start: every request, the plan, the digest, and the gates before the first call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from evalaction.checks.validate import validate_items
from evalaction.endpoints import Request, build_request, missing_variables, open_surface, secrets_of, unset
from evalaction.engine.isolation import rung_for
from evalaction.engine.runner import check_runner
from evalaction.engine.trial import Trial
from evalaction.errors import NotRunError, Outcome, Settled, UnregisteredError, UsageError
from evalaction.method.arms import Resolved, check_allowed, connection, digested, distinct, identity_of, resolve_arms
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
from evalaction.sandbox.records import Rung

SECRET_IN_CARD = "secret_in_card"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A question with everything that will be sent, before any address or key is known."""

    trial: Trial
    exam: Exam
    """The items that are drawn, numbered anew; its digests are those of the whole exam."""
    left_out: tuple[str, ...]
    """Items that are not drawn because both arms ask the same."""
    arms: Mapping[ArmName, Resolved]
    """Treatment first; of the drawn items."""
    requests: Mapping[ArmName, tuple[Request, ...]]
    """Per arm one request an item, in the order of the drawn items."""
    unchanged: frozenset[int]
    """Positions of the drawn items of which both arms ask the same at the same endpoint."""
    plan: Plan
    question_digest: str
    warnings: tuple[Sentence, ...]

    @property
    def frozen(self) -> Frozen:
        """The question."""
        return self.trial.question

    @property
    def card(self) -> Card:
        """The card that asks the question."""
        return self.frozen.card

    @property
    def path(self) -> str:
        """Of the card, as the judged commit has it."""
        return self.trial.judged.card_path

    @property
    def planned(self) -> int:
        return self.plan.calls

    @property
    def asked(self) -> tuple[Endpoint, ...]:
        """Every endpoint that a draw goes to."""
        return distinct(endpoint for arm in self.arms.values() for endpoint in arm.endpoints)

    @property
    def named(self) -> tuple[Endpoint, ...]:
        """Every endpoint of the cards that define question and arms, asked or not: none of their secrets may be shown."""
        cards = (self.frozen.card, self.trial.judged.card)
        return named_endpoints([*cards, *(arm.source.card for arm in self.arms.values())])

    def files_of(self, endpoint: Endpoint) -> Mapping[str, bytes]:
        """The committed files beside the card that defines an asked endpoint."""
        return next(arm.source.files for arm in self.arms.values() if endpoint in arm.endpoints)

    def requests_sha256(self, arm: ArmName) -> str:
        """One digest over the request digests of all drawn items, in their order."""
        return digest([request.sha256 for request in self.requests[arm]])

    @property
    def same(self) -> bool:
        """Whether there are two arms that ask the same of every drawn item."""
        return len(self.arms) == 2 and len(self.unchanged) == len(self.exam.items)


def named_endpoints(cards: Iterable[Card]) -> tuple[Endpoint, ...]:
    return distinct(endpoint for card in cards for endpoint in card.endpoints.values())


def expected_head(environ: Mapping[str, str]) -> str | None:
    """The commit that a job on GitHub was started for; None elsewhere."""
    return environ.get("GITHUB_SHA") or None if environ.get("GITHUB_ACTIONS") == "true" else None


def load(card_path: Path, environ: Mapping[str, str], *, rehearse_only: bool) -> Frozen:
    """The inputs as the commit holds them, compared three ways; or, for a rehearsal, as they lie in the working tree."""
    return rehearse(card_path) if rehearse_only else freeze(card_path, expected_head=expected_head(environ))


Opposed: TypeAlias = "Callable[[Frozen], Trial]"
"""From what was judged to its trial: where base is looked for is the caller's business."""


def load_prepared(card_path: Path, environ: Mapping[str, str], opposed: Opposed, *, rehearse_only: bool) -> Prepared:
    """`prepare` of the trial of `load`. Raises as `prepared_of` does."""
    if rehearse_only:
        return prepare(opposed(rehearse(card_path)))
    return prepared_of(verify(card_path, expected_head=expected_head(environ)), opposed)


def prepared_of(report: VerifyReport, opposed: Opposed) -> Prepared:
    """`prepare` of what was verified: a mistake in what the commit holds (2) comes before what has moved since (4, Moved)."""
    prepared = prepare(opposed(report.readable)) if report.readable else None
    if prepared is None or report.frozen is None:
        raise Moved(report.breaks)
    return prepared


def prepare(trial: Trial) -> Prepared:
    """Build every request and the plan. Raises UsageError or SourceError for whatever would go wrong during the run."""
    card, exam = trial.question.card, trial.question.exam
    check_question(card, exam)
    warnings = validate_items(exam.items, card.checks, exam.files)
    with _told_whose_items(trial):
        arms = resolve_arms(trial.arms, exam)
        for arm in arms.values():
            check_allowed(card, arm)
            _expect_replies(arm, exam)
    requests = {name: _requests(arm) for name, arm in arms.items()}
    same = _unchanged(arms, requests)
    drawn = _drawn(card, len(exam.items), same)
    few = len(drawn) < len(exam.items)
    return Prepared(
        trial=trial,
        exam=_part(exam, drawn) if few else exam,
        left_out=tuple(item.id for place, item in enumerate(exam.items) if place in same) if few else (),
        arms={name: replace(arm, asked=tuple(arm.asked[place] for place in drawn)) for name, arm in arms.items()},
        requests={name: tuple(own[place] for place in drawn) for name, own in requests.items()},
        unchanged=frozenset(new for new, old in enumerate(drawn) if old in same),
        plan=plan_run(
            card,
            [exam.items[place].id for place in drawn],
            {name: _sizes(arms[name], own, drawn) for name, own in requests.items()},
            left_out=len(exam.items) - len(drawn),
        ),
        question_digest=question_digest(
            question_of(card, exam),
            exam=exam,
            requests={name: [r.sha256 for r in rs] for name, rs in requests.items()},
            endpoints={name: digested(arm) for name, arm in arms.items()},
        ),
        warnings=(*trial.question.warnings, *warnings, *dict.fromkeys(note for arm in arms.values() for note in arm.notes)),
    )


@contextmanager
def _told_whose_items(trial: Trial) -> Iterator[None]:
    """An arm that does not fit the items may well fit those that its own commit has."""
    try:
        yield
    except UsageError as error:
        if trial.asked_by == "base" and trial.question.exam.ids_sha256 != trial.judged.exam.ids_sha256:
            error.explain(
                "A change is judged by base's question, and these are base's items, not its own: merge the exam first, or judge "
                "by `question: head`."
            )
        if trial.card_ignored:
            error.explain("Card and exam are base's here: those of a fork are not read.")
        raise


def _unchanged(arms: Mapping[ArmName, Resolved], requests: Mapping[ArmName, tuple[Request, ...]]) -> frozenset[int]:
    """Positions of the items of which both arms send the same to the same endpoint."""
    if len(arms) < 2:
        return frozenset()
    ours, theirs = arms["treatment"], arms["control"]
    known: dict[tuple[int, int], bool] = {}

    def alike(place: int) -> bool:
        one, other = ours.asked[place].endpoint, theirs.asked[place].endpoint
        key = (id(one), id(other))
        if key not in known:
            known[key] = identity_of(one, ours.source.files) == identity_of(other, theirs.source.files)
        return known[key]

    pairs = zip(requests["treatment"], requests["control"], strict=True)
    return frozenset(place for place, (one, other) in enumerate(pairs) if one.sha256 == other.sha256 and alike(place))


def _drawn(card: Card, items: int, same: frozenset[int]) -> Sequence[int]:
    """Positions of the items that are drawn; all of them where nothing changes, which is settled without a draw."""
    if card.sign is None or card.sign.items == "all" or len(same) == items:
        return range(items)
    return [place for place in range(items) if place not in same]


def _part(exam: Exam, places: Sequence[int]) -> Exam:
    return replace(exam, items=tuple(replace(exam.items[old], index=new) for new, old in enumerate(places)))


def _requests(arm: Resolved) -> tuple[Request, ...]:
    return tuple(build_request(one.endpoint, one.messages, one.output) for one in arm.asked)


def _sizes(arm: Resolved, requests: Sequence[Request], places: Sequence[int]) -> list[tuple[Endpoint, int]]:
    return [(arm.asked[place].endpoint, len(requests[place].body)) for place in places]


def _expect_replies(arm: Resolved, exam: Exam) -> None:
    """Every item of a scripted endpoint has a reply; found before the run, like everything that is known without a call."""
    for endpoint in arm.endpoints:
        if endpoint.api == "scripted":
            items = (item.id for item, one in zip(exam.items, arm.asked, strict=True) if one.endpoint == endpoint)
            open_surface(endpoint, environ={}, files=arm.source.files).expect(items)


def _refuse_secrets(prepared: Prepared, environ: Mapping[str, str]) -> None:
    """A card is kept in every run folder as it stands: one that holds a secret would only be found out after the last call."""
    redactor = Redactor(secrets_of(prepared.named, environ))
    held = redactor.leaks(prepared.frozen.card_bytes) or redactor.leaks(prepared.trial.judged.card_bytes)
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
    allow_unsafe: bool = False,
    judged_apart: bool = False,
) -> Rung | None:
    """Refuse before the first call, in the method's order: isolation (2), runner (4), nothing to draw (0, Settled), budget and
    allowance (2), halves (5), secrets (6). What comes back keeps the programs of the exam apart; None where it has none.

    The values of the secrets come last: an address or key that cannot be used (2). A rehearsal may run on any machine and
    may be too small to speak. Where another job judges, no program of the exam needs isolation here, and the texts must be kept.
    """
    _refuse_secrets(prepared, environ)
    if judged_apart:
        _need_texts(prepared)
    rung = rung_for(prepared, allow_unsafe=allow_unsafe, checks=not judged_apart)
    if not rehearsal:
        check_runner(prepared.card.runner, identity)
    settle(prepared)
    check_budget(prepared.card, prepared.plan)
    if not rehearsal:
        check_halves(prepared.plan)
    missing = missing_variables(prepared.asked, environ)
    if missing:
        raise NotRunError(f"{unset(missing)}. Nothing was drawn.")
    for arm in prepared.arms.values():
        for endpoint in distinct(map(connection, arm.endpoints)):
            open_surface(endpoint, environ=environ, files=arm.source.files, ca_bundle=ca_bundle, rung=rung)
    return rung


def _need_texts(prepared: Prepared) -> None:
    keep = prepared.card.draws.keep_text
    if keep != "full":
        raise UsageError(
            f"Replies that are judged by another job have to be kept whole, and the card has `keep_text: {keep}`; set "
            "`draws.keep_text: full`, or judge where you draw. Nothing was drawn.",
            code="keep_text",
        )


def settle(prepared: Prepared) -> None:
    """Raise Settled where no call is needed: for a card that is new, and for arms of two commits that ask the same."""
    if prepared.trial.new:
        raise Settled(prepared.trial.new, outcome=Outcome.REGISTERED)
    if prepared.same and prepared.card.elsewhere:
        if prepared.trial.card_ignored:
            raise UnregisteredError(
                "The arms' files are those of base, and the card is not; the card of a fork counts for nothing here. Take its "
                "change into a branch of this repository to have it judged.",
                code="card_not_judged",
            )
        if prepared.trial.program_ignored:
            raise UnregisteredError(
                "The arms' files are those of base, and the program of an endpoint is not; the code of a fork is not run. Take "
                "its change into a branch of this repository to have it judged.",
                code="program_not_judged",
            )
        raise Settled(_why_same(prepared.trial), outcome=Outcome.UNCHANGED)


def _why_same(trial: Trial) -> str:
    if trial.base is not None and trial.base == trial.judged.commit:
        return "Base is the judged commit itself, so nothing was drawn; to judge a change, name the commit before it as base."
    return "Both arms send the same requests to the same endpoints, so nothing was drawn."
