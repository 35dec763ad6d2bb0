from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from support.runs import card, limit, sign

from evalaction.method.card import Arm, AtCommit, Card, CheckLimits, Draws, ExamRef, Sign, Validity
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.numbers import Threshold
from evalaction.method.question_changes import question_changes, renamed_from, same_question

ONE = card()


def told(old: Card, new: Card, exams: tuple[Exam, Exam] | None = None) -> list[str]:
    return [
        f"{one.field} {one.old} → {one.new}{' (loosened)' if one.loosened else ''}" for one in question_changes(old, new, exams)
    ]


def signed(**fields: Any) -> Card:
    return replace(ONE, control=AtCommit(), sign=sign("not_behind", margin=Threshold.of("0.10"), **fields))


def test_what_is_not_part_of_the_question() -> None:
    new = replace(ONE, name="another", exam=replace(ONE.exam, tasks="moved.jsonl", checker="c.py"))
    assert question_changes(ONE, new) == () and same_question(ONE, new)
    assert told(signed(), replace(signed(), sign=replace(_sign(signed()), margin=Threshold.of("0.1")))) == []


def _sign(of: Card) -> Sign:
    assert of.sign is not None
    return of.sign


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"draws": Draws(count=5, timeout_ms=1000)}, ["draws.count 1 → 5"]),
        ({"draws": Draws(count=1, timeout_ms=2000)}, ["draws.timeout_ms 1000 → 2000 (loosened)"]),
        ({"checks": CheckLimits(isolation="in_process")}, ["checks.isolation split → in_process (loosened)"]),
        ({"checks": CheckLimits(cpu_ms=9_000)}, ["checks.cpu_ms 10000 → 9000"]),
        ({"checks": CheckLimits(image="x@sha256:1")}, ["checks.image None → x@sha256:1"]),
        (
            {"validity": Validity(max_transport_error_rate=Threshold.of("0.5"), min_scored_fraction=Threshold.of("0.99"))},
            ["validity.max_transport_error_rate 0.05 → 0.5 (loosened)", "validity.min_scored_fraction 0.95 → 0.99"],
        ),
        ({"exam": ExamRef(tasks="t", data="public", sha256="1")}, ["exam.data synthetic → public", "exam.sha256 None → 1"]),
        ({"draws": Draws(count=1, timeout_ms=1000, max_body_bytes=2_000_000)},
         ["draws.max_body_bytes 1048576 → 2000000 (loosened)"]),
        ({"control": AtCommit(ref="v1")}, ["arms.control None → ref v1"]),
        ({"sign": sign("ahead"), "control": Arm(endpoint="main")}, ["arms.control None → endpoint main", "sign None → ahead"]),
        (
            {"limits": (limit("min_check", "0.9", tag="code"), replace(limit("max_counter", "3"), counter="hops"))},
            ["limits.treatment.code.min_check None → 0.9", "limits.treatment.max_counter.hops None → 3"],
        ),
    ],
)  # fmt: skip
def test_one_arm(changes: Mapping[str, Any], said: list[str]) -> None:
    assert told(ONE, replace(ONE, **changes)) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": "none", "margin": None}, ["sign.claim not_behind → none (loosened)", "sign.margin 0.10 → None"]),
        ({"claim": "ahead", "margin": None}, ["sign.claim not_behind → ahead", "sign.margin 0.10 → None"]),
        ({"margin": Threshold.of("0.2")}, ["sign.margin 0.10 → 0.2 (loosened)"]),
        ({"margin": Threshold.of("0.05")}, ["sign.margin 0.10 → 0.05"]),
        ({"min_items_per_half": 5}, ["sign.min_items_per_half 30 → 5 (loosened)"]),
        ({"min_abs_gap": Threshold.of("0.001"), "min_item_gap": 1},
         ["sign.min_abs_gap 0.02 → 0.001", "sign.min_item_gap 2 → 1"]),
        ({"min_abs_gap": Threshold.of("0.2"), "min_item_gap": 9},
         ["sign.min_abs_gap 0.02 → 0.2 (loosened)", "sign.min_item_gap 2 → 9 (loosened)"]),
        ({"claim": "differ", "margin": None}, ["sign.claim not_behind → differ (loosened)", "sign.margin 0.10 → None"]),
        ({"seed": "another", "items": "changed"}, ["sign.seed freeze-me-before-running → another", "sign.items all → changed"]),
    ],
)  # fmt: skip
def test_the_sign(changes: Mapping[str, Any], said: list[str]) -> None:
    assert told(signed(), replace(signed(), sign=replace(_sign(signed()), **changes))) == said


def test_a_floor_is_lowered_for_a_claim_that_needs_a_lead() -> None:
    ahead = replace(signed(), sign=sign("ahead"))
    lower = replace(ahead, sign=replace(_sign(ahead), min_item_gap=1))
    assert told(ahead, lower) == ["sign.min_item_gap 2 → 1 (loosened)"] and told(lower, ahead) == ["sign.min_item_gap 1 → 2"]


def test_a_control_that_is_chosen_instead_of_base() -> None:
    assert told(signed(), replace(signed(), control=AtCommit(ref="v1"))) == ["arms.control base → ref v1 (loosened)"]
    assert told(replace(signed(), control=AtCommit(ref="v1")), signed()) == ["arms.control ref v1 → base"]


def test_a_control_that_the_card_defines_is_told_as_it_is() -> None:
    one, other = (replace(ONE, control=Arm(endpoint="main", system=name)) for name in ("a.md", "b.md"))
    assert told(one, one) == []
    assert told(one, other) == ["arms.control endpoint main, system a.md → endpoint main, system b.md"]


def test_a_control_that_is_dropped_takes_the_sign_along() -> None:
    assert told(signed(), ONE) == ["arms.control base → None (loosened)", "sign not_behind → None (loosened)"]
    assert told(ONE, signed()) == ["arms.control None → base", "sign None → not_behind"]


@pytest.mark.parametrize(
    ("name", "old", "new", "loosened"),
    [("min_check", "0.9", "0.8", True), ("min_check", "0.8", "0.9", False), ("max_flip_rate", "0.1", "0.2", True),
     ("max_flip_rate", "0.2", "0.1", False), ("max_flip_rate", "0.1", None, True), ("max_flip_rate", None, "0.1", False)],
)  # fmt: skip
def test_limits(name: str, old: str | None, new: str | None, loosened: bool) -> None:
    before, after = (card(*([limit(name, bound)] if bound else [])) for bound in (old, new))
    [change] = question_changes(before, after)
    assert (change.field, change.old, change.new, change.loosened) == (f"limits.treatment.{name}", old, new, loosened)


def test_the_same_limit_in_other_digits() -> None:
    assert told(card(limit("min_check", "0.90")), card(limit("min_check", "0.9"))) == []


def exam(items: Mapping[str, str], **files: bytes) -> Exam:
    lines = [{"id": name, "prompt": text, "expected": "x"} for name, text in items.items()]
    return load_exam({"t.jsonl": "\n".join(map(json.dumps, lines)).encode(), **files}, tasks="t.jsonl")


def test_items_are_counted() -> None:
    old = exam({"a": "1", "b": "2", "c": "3"})
    assert told(ONE, ONE, (old, old)) == []
    assert told(ONE, ONE, (old, exam({"a": "1", "b": "9", "d": "4", "e": "5"}))) == [
        "exam.items 3 → 4 (2 added, 1 removed, 1 changed)"
    ]
    reordered = told(ONE, ONE, (old, exam({"c": "3", "b": "2", "a": "1"})))
    assert [line.split()[0] for line in reordered] == ["exam.sha256"] and re.fullmatch(r"\S+ \w{12} → \w{12}", reordered[0])


def folder(check: bytes) -> Exam:
    task = json.dumps({"prompt": "1"}).encode()
    return load_exam({"t/a/task.json": task, "t/a/check.py": check}, tasks="t")


def test_an_item_is_its_own_checker_too() -> None:
    one, other = folder(b"assert True\n"), folder(b"assert 1\n")
    counted, checker = told(ONE, ONE, (one, other))
    assert counted == "exam.items 1 → 1 (1 changed)" and checker.startswith("exam.checker_sha256 ")


def judged(text: str, checker: bytes) -> Exam:
    line = json.dumps({"id": "a", "prompt": text, "fixture": 1, "check": "python"}).encode()
    return load_exam({"t.jsonl": line, "c.py": checker}, tasks="t.jsonl", checker="c.py")


def test_a_checker_that_changes_beside_the_items_is_named() -> None:
    strict, lax = (f"def checker(parsed, fixture):\n    return {told}, ''\n".encode() for told in ("parsed == fixture", "True"))
    fields = [line.split()[0] for line in told(ONE, ONE, (judged("1", strict), judged("2", lax)))]
    assert fields == ["exam.items", "exam.checker_sha256"]
    assert [line.split()[0] for line in told(ONE, ONE, (judged("1", strict), judged("2", strict)))] == ["exam.items"]


def test_a_card_that_was_moved_is_found_again() -> None:
    other = card(limit("min_check", "0.5"))
    assert renamed_from(ONE, {}) is None
    assert renamed_from(ONE, {"x": replace(other, name="another")}) is None
    same_name, same_question, both = other, replace(ONE, name="another"), ONE
    assert renamed_from(ONE, {"b": same_question}) == "b"
    assert renamed_from(ONE, {"a": same_question, "b": same_name}) == "b"
    assert renamed_from(ONE, {"a": same_question, "b": same_name, "d": both, "c": both}) == "c"
