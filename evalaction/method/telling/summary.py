"""From a run to the report object that every renderer shows."""

from __future__ import annotations

from evalaction.errors import EvalactionError, Outcome, Settled
from evalaction.method.card import Card
from evalaction.method.counting.paired import discordant, flips, moved_column, pairs
from evalaction.method.counting.rates import column_rates, percentile_ms, rates_of, tag_reports
from evalaction.method.counting.tally import ArmTally, Tally
from evalaction.method.judging.facts import ArmFacts, RunFacts
from evalaction.method.judging.verdict import SMALL, Findings, weigh
from evalaction.method.numbers import Rate
from evalaction.method.records import ARMS, ArmName, Break, Quoted, Sentence
from evalaction.method.report import ArmReport, CounterReport, Counts, Provenance, Report, Title, Verdict
from evalaction.method.telling.advice import Case, heading, todo
from evalaction.method.telling.callouts import callouts, limit_callouts, plain_callouts
from evalaction.method.telling.changed import question_callouts, rerouted, route_groups, what_changed
from evalaction.method.telling.words import ranked


def build_report(card: Card, tally: Tally, facts: RunFacts) -> Report:
    """Judge a run and put everything that is shown in one object. Without a whole grid: counts and reasons, no rates."""
    findings = weigh(card, tally, facts)
    paired = findings.judged and "control" in tally.sides
    counts = discordant(tally) if paired else {}
    case = Case(
        card=card,
        arms=facts.arms,
        tally=tally,
        findings=findings,
        moved=moved_column(counts) if paired else None,
        pairs=pairs(tally) if paired else (),
    )
    return Report(
        name=card.name,
        titles=_titles(len(tally.ids), scripted=facts.scripted, rehearsal=facts.rehearsal),
        items=len(tally.ids),
        draws=card.draws.count,
        claim=card.sign.claim if card.sign else None,
        metric=card.sign.metric if card.sign else None,
        verdict=findings.verdict,
        heading=heading(case),
        todo=todo(case),
        callouts=_callouts(case, facts),
        arms=_arms(facts, tally, findings),
        moved=case.moved,
        halves=findings.split.halves if findings.split else (),
        discordant=counts,
        pairs=case.pairs,
        flips=flips(tally) if findings.judged and tally.draws > 1 else (),
        limits=findings.limits,
        counts=Counts(planned=facts.planned, sent=facts.sent, written=facts.written),
        provenance=facts.provenance,
        gated=case.gated,
        asked_callouts=len(tuple(question_callouts(facts))),
        changed=what_changed(facts),
        changes=facts.changes,
        unchanged=frozenset(tally.ids[place] for place in facts.unchanged),
        rerouted=rerouted(tally, facts) if paired else {},
        routes=route_groups(tally, facts) if paired else (),
    )


def _callouts(case: Case, facts: RunFacts) -> tuple[Sentence, ...]:
    if not case.findings.judged:
        return plain_callouts(facts)
    return (*callouts(case.tally, facts, case.pairs), *limit_callouts(case.card, case.tally))


def _titles(items: int, *, scripted: bool, rehearsal: bool) -> tuple[Title, ...]:
    true: dict[Title, bool] = {"SMALL": items < SMALL, "SYNTHETIC": scripted, "REHEARSAL": rehearsal}
    return tuple(title for title, holds in true.items() if holds)


def _arms(facts: RunFacts, tally: Tally, findings: Findings) -> tuple[ArmReport, ...]:
    if not findings.judged:
        return ()
    return tuple(_arm(facts.arms[arm], tally, arm) for arm in reversed(ARMS) if arm in tally.sides)


def _arm(asked: ArmFacts, tally: Tally, arm: ArmName) -> ArmReport:
    side = tally.sides[arm]
    items = range(side.items)
    columns, draws = rates_of(side, items)
    return ArmReport(
        arm=arm,
        endpoint=asked.endpoint,
        model=asked.model,
        columns=columns,
        first_columns=column_rates(side.first_letters()),
        draws=draws,
        reasons=side.reasons(),
        tar_raw=Rate(side.same_texts(), side.items) if side.draws > 1 else None,
        tar_parsed=Rate(side.same_parsed(), side.items) if side.draws > 1 else None,
        p50_ms=percentile_ms(side, items, 50, unreached_ms=None),
        p95_ms=percentile_ms(side, items, 95, unreached_ms=None),
        tokens_in=side.tokens_in,
        tokens_out=side.tokens_out,
        served=ranked(side.served),
        fingerprints=ranked(side.fingerprints),
        counters=tuple(_counter(side, name) for name in side.counters.names),
        polls=side.polls,
        retries=side.retries,
        by_tag=tag_reports(side, tally.tagged),
    )


def _counter(side: ArmTally, name: str) -> CounterReport:
    spread = side.counters.spread(name, range(len(side.letters)))
    return CounterReport(
        name=name, draws=spread.draws, missing=spread.missing, low=spread.low, median=spread.median, high=spread.high
    )


_SKIPPED = "skipped: nothing of this card differs from base"
_REFUSED = {
    Outcome.USAGE: "not judged: the card, its files or the call need a correction",
    Outcome.UNREGISTERED: "not judged: something that was frozen has moved",
    Outcome.INCONCLUSIVE: "nothing can be said, and nothing was drawn",
    Outcome.NOT_RUN: "not run: secrets are missing",
    Outcome.UNCHANGED: "nothing to judge: both arms send the same requests",
    Outcome.REGISTERED: "registered: this card judges from the next change on",
}


def refusal_report(
    error: EvalactionError,
    *,
    name: str,
    provenance: Provenance,
    card: Card | None = None,
    items: int = 0,
    scripted: bool = False,
    callouts: tuple[Sentence, ...] = (),
    breaks: tuple[Break, ...] = (),
    facts: RunFacts | None = None,
) -> Report:
    """The report of a run that drew nothing: `error` gives outcome, break and sentence (0, 2, 4, 5, 6).

    `card` where it was read, `facts` where its arms were resolved; `breaks` where there are several reasons: they stand in the
    place of the error's own. What is settled (0) breaks nothing: its sentence is a callout.
    """
    if isinstance(error, Settled):
        callouts = (*callouts, (Quoted(error.sentence),))
    # A card that is skipped is the one of base: how its arms differ is no news of this change.
    shown = None if error.code == "skipped" else facts
    titles: tuple[Title, ...] = ("NOT RUN",) if error.outcome is Outcome.NOT_RUN else ()
    small: tuple[Title, ...] = _titles(items, scripted=scripted, rehearsal=False) if card and items else ()
    found = () if isinstance(error, Settled) else (Break(error.code, (Quoted(error.sentence),)),)
    return Report(
        name=name,
        titles=small + titles,
        items=items,
        draws=card.draws.count if card else 0,
        claim=card.sign.claim if card and card.sign else None,
        metric=card.sign.metric if card and card.sign else None,
        verdict=Verdict(outcome=error.outcome, earned=False, sign=0, half_signs=None, breaks=breaks or found),
        heading=(_SKIPPED if error.code == "skipped" else _REFUSED.get(error.outcome, "not judged"),),
        todo=None,
        callouts=callouts,
        arms=(),
        moved=None,
        halves=(),
        discordant={},
        pairs=(),
        flips=(),
        limits=(),
        counts=Counts(planned=0, sent=0, written=0),
        provenance=provenance,
        changed=what_changed(shown) if shown else None,
        changes=shown.changes if shown else (),
        gated=True,
    )
