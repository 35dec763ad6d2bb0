from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.runs import card, facts, say, sign, tally

from evalaction.method.report import Change, QuestionChange
from evalaction.method.telling.changed import question_sentence, what_changed
from evalaction.method.telling.summary import build_report

STRIPS = {"treatment": ["pp", "kp", "kk", "pp"], "control": ["pp", "pp", "pp", "kp"]}


def told(**fields: Any) -> list[str]:
    grid = tally(STRIPS)
    made = card(draws=2, claim=sign("none"))
    return [say(each) for each in build_report(made, grid, facts(grid, made, **fields)).callouts]


MARGIN = QuestionChange(field="sign.margin", old="0.1", new="0.2", loosened=True)
NEW = QuestionChange(field="limits.min_check", old=None, new="0.9")


def test_whose_question_was_asked_comes_first() -> None:
    first = ("Said by the caller.",)
    assert told(question="head", callouts=(first,)) == [
        "Judged by the question of this change itself (`question: head`), not by the one at base.",
        "Said by the caller.",
    ]
    assert told(question="head", question_changes=(NEW,)) == [
        "Judged by the question of this change itself (`question: head`), not by the one at base; against base it changes: "
        "‹limits.min_check› none → ‹0.9›."
    ]
    assert told(question="base", question_changes=(MARGIN, NEW)) == [
        "This change alters the question, which applies from the next pull request on: "
        "‹sign.margin› ‹0.1› → ‹0.2› (loosened); ‹limits.min_check› none → ‹0.9›."
    ]
    assert told(question="base") == []


def test_many_changes_are_counted() -> None:
    many = tuple(QuestionChange(field=f"f{number}", old="1", new="2") for number in range(23))
    assert say(question_sentence(many)).endswith("‹f19› ‹1› → ‹2›; and 3 more")


def test_without_a_base_there_is_no_sign() -> None:
    assert told(base_missing=True) == [
        "There is no base here: no base, no sign. The treatment alone is judged, under its limits."
    ]


def test_what_changed_is_one_sentence() -> None:
    grid = tally(STRIPS)
    model = Change(lever="model", name="model", old="a", new="b")
    prompt = Change(lever="prompt", name="p.md", old="0" * 12, new="1" * 12, diff=("@@ -1 +1,2 @@", "-x", "+y", "+z", " w"))
    assert what_changed(facts(grid)) is None and what_changed(facts(grid, levers=("model",))) is None
    one = what_changed(facts(grid, levers=("model",), changes=(model,)))
    assert one is not None and say(one) == "One lever moved: model (‹model› ‹a› → ‹b›)."
    two = what_changed(facts(grid, levers=("model", "prompt"), changes=(model, prompt)))
    assert two is not None and say(two) == "2 levers moved: model and prompt (‹model› ‹a› → ‹b›; ‹p.md› +2 −1 lines)."
    cut = replace(prompt, diff=("@@ -1,50 +1,50 @@", "-x", "+y", "… 98 more"))
    long = what_changed(facts(grid, levers=("prompt",), changes=(cut,)))
    assert long is not None and say(long) == "One lever moved: prompt (‹p.md› at least +1 −1 lines)."
    moved = what_changed(facts(grid, changes=(Change(lever="prompt", name="system", old="a.md", new="b.md"),)))
    assert moved is not None and say(moved) == "Nothing that is sent (‹system› ‹a.md› → ‹b.md›)."
    many = what_changed(facts(grid, levers=("model",), changes=(model,) * 8))
    assert many is not None and say(many).endswith("; and 2 more).")


def test_items_that_ask_the_same_differ_by_luck() -> None:
    assert told(unchanged=frozenset({0, 3})) == [
        "2 of 4 items ask the same in both arms: a difference there is luck (1 of the 3 that are lost or gained)."
    ]
    assert told(left_out=("a", "b")) == [
        "2 items of the exam ask the same in both arms and were not drawn (`sign.items: changed`)."
    ]
    grid = tally({"treatment": ["p"], "control": ["p"]})
    made = card(claim=sign("none"))
    same = build_report(made, grid, facts(grid, made, unchanged=frozenset({0})))
    assert [say(each) for each in same.callouts] == ["1 of 1 item ask the same in both arms: a difference there is luck."]
    assert same.unchanged == {"t0000"}


def test_items_that_go_another_way() -> None:
    routes = {"treatment": ("default", "code", "code", "default"), "control": ("default", "default", "code", None)}
    grid = tally(STRIPS)
    made = card(draws=2, claim=sign("none"))
    report = build_report(made, grid, facts(grid, made, routes=routes))
    assert report.rerouted == {"t0001": ("default", "code"), "t0003": ("", "default")}
    assert [(group.control, group.treatment, group.items) for group in report.routes] == [
        ("default", "default", 1), ("default", "code", 1), ("code", "code", 1), ("", "default", 1),
    ]  # fmt: skip
    columns, draws = report.routes[1].arms["treatment"]
    assert str(columns.check) == "1/2" and draws.first.low == 0
    assert [say(each) for each in report.callouts] == [
        "The route of 2 of 4 items changed; 1 of the 2 lost and 1 of the 1 gained are among them."
    ]


def test_a_route_that_moved_nothing_is_said_without_counts() -> None:
    routes = {"treatment": ("a",), "control": ("b",)}
    grid = tally({"treatment": ["p"], "control": ["p"]})
    made = card(claim=sign("none"))
    told = build_report(made, grid, facts(grid, made, routes=routes)).callouts
    assert [say(each) for each in told] == ["The route of 1 of 1 item changed."]


def test_one_arm_with_rules_has_nothing_to_compare() -> None:
    grid = tally({"treatment": ["p"]})
    report = build_report(card(), grid, facts(grid, routes={"treatment": ("a",)}))
    assert report.routes == () and report.rerouted == {} and report.callouts == ()
