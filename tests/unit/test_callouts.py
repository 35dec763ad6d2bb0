from __future__ import annotations

from typing import Any

from support.runs import card, endpoint, facts, names, row, rows, say, sign, tally

from evalaction.method.counting.tally import Tally
from evalaction.method.records import Columns
from evalaction.method.telling.callouts import callouts, plain_callouts


def said(grid: Tally, **fields: Any) -> list[str]:
    made = card(draws=grid.draws, claim=sign("none") if "control" in grid.sides else None)
    return [say(each) for each in callouts(grid, facts(grid, made, **fields))]


def test_nothing_is_called_out_when_nothing_is_true() -> None:
    assert said(tally({"treatment": ["pp", "pk"], "control": ["pp", "pp"]})) == []


def test_draws_without_a_verdict_are_counted() -> None:
    grid = tally({"treatment": ["pu", "ek"], "control": ["pp", "pp"]})
    assert said(grid) == ["treatment: no verdict on 2 of 4 draws (‹checker:crash› × 1, ‹status:503› × 1)."]


def test_an_item_whose_checker_never_worked_is_named() -> None:
    assert said(tally({"treatment": ["ee", "pe"]}))[1:] == ["treatment: the checker failed on every draw of ‹t0000›."]


def test_a_changed_model_or_fingerprint_is_called_out() -> None:
    grid = Tally(names(3), {}, ["treatment"], 1, "freeze-me-before-running")
    for number, draw in enumerate(rows({"treatment": ["p"] * 3})):
        grid.add(row(draw.item, served_model=f"m-{min(number, 1)}", fingerprint=f"fp{number % 2}"))
    assert said(grid) == [
        "treatment: the served model changed during the run: ‹m-1› × 2, ‹m-0› × 1.",
        "treatment: the fingerprint changed during the run: ‹fp0› × 2, ‹fp1› × 1.",
    ]


def test_identical_replies_everywhere_are_called_out() -> None:
    grid = Tally(names(2), {}, ["treatment"], 2, "freeze-me-before-running")
    for draw in rows({"treatment": ["pp"] * 2}):
        grid.add(row(draw.item, draw=draw.draw, text_sha256=draw.item))
    assert said(grid) == [
        "treatment: all 2 replies are identical on each of 2 items; the draws may be cached, and flip is understated."
    ]


def test_what_the_engine_knows_is_said_too() -> None:
    grid = tally({"treatment": ["p"]})
    told = said(grid, rehearsal=True, long_waits=3, longest_wait="3600", callouts=(("First.",),))
    assert told == [
        "First.",
        "A rehearsal: nothing was frozen, and this is not a result.",
        "3 replies asked for a longer wait than `pace.max_wait_ms`; not waited for (Retry-After: ‹3600›).",
    ]
    assert said(grid, redacted=2) == ["2 replies held the value of a secret, which was taken out before they were judged."]
    assert said(grid, long_waits=1) == ["1 reply asked for a longer wait than `pace.max_wait_ms`; not waited for."]
    assert said(grid, sent=2) == ["The counts differ: 1 draw planned, 2 sent, 1 written."]
    assert said(grid, sent=0, ended="deadline") == []


def test_more_than_one_lever_and_a_seed_are_called_out() -> None:
    endpoints = {"main": endpoint(params={"seed": 1}), "local": endpoint("local", model="other", params={"seed": 1, "top_p": 1})}
    grid = tally({"treatment": ["p"], "control": ["p"]})
    made = card(claim=sign("none"), endpoints=endpoints)
    told = [say(each) for each in plain_callouts(facts(grid, made, levers=("model", "parameters")))]
    assert told == [
        "More than one lever moved: model and parameters; a difference cannot be put down to one of them.",
        "A sampling seed is fixed for treatment and control: the draws are not independent, stable and flip say nothing.",
    ]


def test_an_arm_that_never_passes_is_called_out_before_anybody_reads_its_gaps() -> None:
    grid = tally({"treatment": ["kc", "ku"], "control": ["kp", "kk"]})
    assert said(grid)[1:] == [
        "treatment: none of 4 draws passed; see whether the exam and its checks fit this endpoint before reading anything else."
    ]
    assert said(tally({"treatment": ["uu", "ue"]}))[1:] == [], "what was never graded says nothing of the exam"


def test_how_programs_were_kept_apart_is_said_where_it_is_not_enough() -> None:
    grid = tally({"treatment": ["p"]})
    kept = {"name": "namespaces", "how": "root", "checks": "split"}
    assert said(grid, isolation=kept) == []
    assert said(grid, isolation={**kept, "checks": "in_process"}) == [
        "Candidate and check shared a process (`isolation: in_process`), where a candidate can forge its pass."
    ]
    assert said(grid, isolation={**kept, "name": "unsafe"}) == [
        "Code of a model ran without any isolation on this machine: it could read and change whatever its user can."
    ]


def test_a_task_that_split_checking_cannot_carry_is_named() -> None:
    grid = Tally(names(2), {}, ["treatment"], 2, "freeze-me-before-running")
    for draw in rows({"treatment": ["kk", "kk"]}):
        lost = draw.item == names(2)[0] or draw.draw == 0
        reason = "candidate:not_plain: Stack" if lost else "assert: 1"
        grid.add(row(draw.item, draw=draw.draw, columns=Columns(True, None, True, None, False, reason)))
    assert said(grid)[1:] == [
        "treatment: every draw returned something else than plain data (candidate:not_plain) on ‹t0000›; "
        "ask for plain data there, or judge with `isolation: in_process`."
    ]
