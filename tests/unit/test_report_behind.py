"""What lies behind the draws in every renderer: polls, attempts of a gateway, counters of traces, limits on them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.cards import exam_text
from support.hosted_runner import card_endpoint, poll
from support.runs import SEED, asked_by, card, counted, endpoint, facts, limit, names, row, sign

from evalaction import schemas
from evalaction.engine.manifest import ArmRecord, Manifest, manifest_from_json, manifest_to_json
from evalaction.method.arms import connection
from evalaction.method.card import Endpoint, HttpShape, Poll
from evalaction.method.counting.tally import Tally
from evalaction.method.exams.exam import load_exam
from evalaction.method.judging.facts import ArmFacts, EndpointFacts
from evalaction.method.question import question_of
from evalaction.method.report import CounterReport, Report
from evalaction.method.telling.summary import build_report
from evalaction.report import figures, tables
from evalaction.report.blocks import Table
from evalaction.report.results_json import results
from evalaction.report.text import render_text


def told() -> Report:
    """Two arms: the treatment at a hosted runner with two counters, the control without."""
    grid = Tally(names(2), {}, ["treatment", "control"], 1, SEED, counters={"treatment": ("hops", "entries")})
    grid.add(row("t0000", counters={"hops": 1_200}, polls=3, retries=2))
    grid.add(row("t0001", counters={"hops": 1_203}, polls=1_000))
    for name in names(2):
        grid.add(row(name, "control"))
    made = card(limit("max_counter", "1300", counter="hops"), limit("max_counter", "5", counter="entries"), claim=sign("none"))
    return build_report(made, grid, facts(grid, made))


def cells(table: Table) -> dict[str, list[str]]:
    def plain(text: Any) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in text)

    return {plain(first): [plain(cell) for cell in rest] for first, *rest in table.rows}


def test_the_report_has_a_spread_for_each_counter() -> None:
    control, treatment = told().arms
    assert treatment.counters == (
        CounterReport(name="hops", draws=2, missing=0, low=1_200, median=Fraction(2403, 2), high=1_203),
        CounterReport(name="entries", draws=0, missing=2, low=None, median=None, high=None),
    )
    assert (treatment.polls, treatment.retries, control.polls, control.retries, control.counters) == (1_003, 2, 0, 0, ())


def test_tables_show_it_only_where_there_is_any() -> None:
    shown = cells(tables.costs(told()))
    assert shown["polls beside the submissions"] == ["0", "1,003"]
    assert shown["further attempts of a gateway"] == ["0", "2"]
    assert shown["hops (least / median / most)"] == ["–", "1,200 / 1,201.5 / 1,203"]
    assert shown["entries (least / median / most)"] == ["–", "n/a, not in 2 draws"]
    grid = counted({"treatment": [[{}]]})
    assert not any("polls" in name or "least" in name for name in cells(tables.costs(build_report(card(), grid, facts(grid)))))


def test_limits_are_named_with_their_counter() -> None:
    shown = cells(tables.limits(told()))
    assert shown["treatment max_counter hops"] == ["at most 1300", "1,203", "✓ held"]
    assert shown["treatment max_counter entries"] == ["at most 5", "n/a", "? undecided"]
    assert "treatment max_counter entries" in render_text(told())


def test_results_fit_their_schema() -> None:
    value = results(told())
    Draft202012Validator(schemas.load("results")).validate(value)
    assert [one.get("counter") for one in value["limits"]] == ["hops", "entries"]
    assert {"polls", "retries", "counters"}.isdisjoint(value["arms"][0])
    assert value["arms"][1]["counters"][1] == {
        "name": "entries", "draws": 0, "missing": 2, "low": None, "median": None, "high": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (1_204, "1,204"), (Fraction(5, 2), "2.5"), (Fraction(2_401, 2), "1,200.5")]
)
def test_numbers(value: int | Fraction, text: str) -> None:
    assert figures.number(value) == text


def test_a_manifest_keeps_the_names_of_the_counters() -> None:
    known = asked_by(card(), "treatment").endpoints[0]
    asked = ArmFacts(
        endpoints=(EndpointFacts(name="h", api="http", model=None, identity=known.identity, counters=("hops", "n")),)
    )
    assert asked.counters == ("hops", "n")
    both = ArmFacts(
        endpoints=(*asked.endpoints, EndpointFacts(name="l", api="http", model=None, identity="0" * 64, counters=("n",)))
    )
    assert both.counters == ("hops", "n")
    made = Manifest(
        tool_version="0",
        started_at="2026-03-01T09:30:00.000Z",
        card_path="card.yaml",
        card_text="",
        card_sha256="0" * 64,
        commit=None,
        exam_sha256="0" * 64,
        ids_sha256="0" * 64,
        question_digest="0" * 64,
        items=(("t1", ()),),
        arms=(ArmRecord(arm="treatment", asked=both, requests_sha256="0" * 64),),
        planned=1,
    )
    assert manifest_from_json(manifest_to_json(made)).arms[0].asked == both


def hosted(**fields: Any) -> Endpoint:
    how = poll()
    polled = Poll(**(how | {"pending": tuple(how["pending"]), "failed": tuple(how["failed"])}))
    shape = card_endpoint("https://r.example")
    return endpoint(api="http", model=None, http=HttpShape(body=shape["body"], text="/t"), **({"poll": polled} | fields))


def test_what_may_share_a_connection() -> None:
    one, other = (endpoint(api="azure-openai", model=model, api_version="2024-10-21") for model in ("a", "b"))
    assert connection(one) != connection(other)
    assert connection(endpoint(model="a")) == connection(endpoint(model="b", params={"x": 1}))
    assert connection(hosted()) != connection(hosted(poll=None))


def test_the_counter_of_a_limit_is_part_of_the_question() -> None:
    exam = load_exam({"tasks.jsonl": exam_text(2)}, tasks="tasks.jsonl")

    def asked(*counters: str) -> Any:
        return question_of(card(*(limit("max_counter", "3", counter=name) for name in counters)), exam)

    assert asked("a") != asked("b")
    assert asked("a", "b") == asked("b", "a")


def test_tokens_that_nobody_told_are_not_none_of_them() -> None:
    silent = replace(told(), arms=tuple(replace(arm, tokens_in=0, tokens_out=1_234) for arm in told().arms))
    shown = cells(tables.costs(silent))
    assert set(shown["tokens in"]) == {"–"} and set(shown["tokens out"]) == {"1,234"}
