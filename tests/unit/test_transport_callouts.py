"""Limits of the transport are told, each with its counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from support.runs import SEED, card, counted, facts, names, row, say, sign, tally

from evalaction.method.card import Card
from evalaction.method.counting.tally import Tally
from evalaction.method.records import ARMS, ArmName
from evalaction.method.telling.transport import transport_callouts


def said(grid: Tally, of: Card | None = None) -> list[str]:
    made = of or card(draws=grid.draws, claim=sign("none") if len(grid.sides) > 1 else None)
    return [say(one) for one in transport_callouts(grid, facts(grid, made))]


def drawn(*fields: Mapping[str, Any], arm: ArmName = "treatment") -> Tally:
    """One draw of one item each, with these fields in its row."""
    grid = Tally(names(len(fields)), {}, [arm], 1, SEED)
    for name, more in zip(names(len(fields)), fields, strict=True):
        grid.add(row(name, arm, **more))
    return grid


def test_nothing_is_told_where_there_is_nothing() -> None:
    assert said(tally({"treatment": ["pp", "kc"], "control": ["pp", "pe"]})) == []
    assert said(drawn({"finish_reason": "stop"}, {"finish_reason": "tool_calls", "retries": None})) == []


def test_answers_that_were_cut() -> None:
    rows = [{"finish_reason": word} for word in ("length", "max_tokens", "length", "content_filter", "stop")]
    assert said(drawn(*rows, {"letter": "u", "finish_reason": "length"})) == [
        "treatment: the length limit cut 4 of 6 answers (‹length› × 3, ‹max_tokens› × 1); what had come is graded as it is.",
        "treatment: the filter of the provider cut 1 of 6 answers (‹content_filter› × 1); what had come is graded as it is.",
    ]


def test_attempts_that_a_gateway_admits() -> None:
    assert said(drawn({"retries": 2}, {"retries": 1}, {})) == [
        "treatment: a gateway says that it made 3 further attempts behind 2 of 3 draws; these are not single attempts."
    ]


def test_counters_that_count_retries_and_counters_that_are_not_told() -> None:
    told: list[list[Mapping[str, int] | None]] = [
        [{"server_retries": 2, "hops": 9}],
        [{"server_retries": 0, "hops": 1}],
        [None],
        [{"hops": 0}],
    ]
    assert said(counted({"treatment": told}, "server_retries", "hops", "entries")) == [
        "treatment: the counter ‹server_retries› counts 2 behind 1 of 4 draws; these are not single attempts.",
        "treatment: the counter ‹server_retries› is not in the trace of 1 of 3 draws that reached; it is not counted there.",
        "treatment: the counter ‹entries› is not in the trace of 3 of 3 draws that reached; it is not counted there.",
    ]


@pytest.mark.parametrize(("lost", "told"), [(0, False), (2, False), (3, True)])
def test_arms_that_do_not_reach_alike(lost: int, told: bool) -> None:
    strips = ["u" * lost + "p" * (100 - lost)]
    found = said(tally({"treatment": ["p" * 100], "control": strips}))
    apart = "treatment 100/100, control 97/100, 3 points apart"
    assert found == ([f"The arms do not reach alike: {apart}; that difference is the path's, not the model's."] if told else [])
    assert said(tally({"treatment": strips, "control": strips})) == []


def served(ours: str | None, theirs: str | None) -> Tally:
    grid = Tally(names(1), {}, ARMS, 1, SEED)
    for arm, model in (("treatment", ours), ("control", theirs)):
        grid.add(row("t0000", "treatment" if arm == "treatment" else "control", served_model=model))
    return grid


def test_one_model_asked_for_and_two_served() -> None:
    made = card(claim=sign("none"))
    assert said(served("m-2026", "m-2025"), made) == [
        "Both arms ask for the same model and were served different ones; treatment ‹m-2026›; control ‹m-2025›."
    ]
    assert said(served("m", "m"), made) == said(served("m", None), made) == []
    local = card(
        claim=sign("none"),
        endpoints={
            **made.endpoints,
            "local": made.endpoints["main"].__class__(name="local", api="openai", model="other", url="https://model.example/v1"),
        },
    )
    assert said(served("m-2026", "m-2025"), local) == []
