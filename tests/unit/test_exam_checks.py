from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from support.cards import item, jsonl

from evalaction.errors import SourceError
from evalaction.method.exams.exam import load_exam
from evalaction.method.records import Check


def check(**fields: Any) -> Check:
    base = {key: value for key, value in (item(1) | fields).items() if value is not ...}
    return load_exam({"t.jsonl": jsonl([base])}, tasks="t.jsonl").items[0].check


def refusal(**fields: Any) -> str:
    with pytest.raises(SourceError) as caught:
        check(**fields)
    assert (caught.value.file, caught.value.line) == ("t.jsonl", 1)
    return caught.value.sentence


@pytest.mark.parametrize(
    ("fields", "kind", "expected"),
    [
        ({"expected": "x"}, "exact", "x"),
        ({"check": "exact", "expected": " x "}, "exact", " x "),
        ({"check": {"kind": "exact", "value": "x"}, "expected": ...}, "exact", "x"),
        ({"check": "contains", "expected": "x"}, "contains", "x"),
        ({"check": "regex", "expected": "^a+$"}, "regex", "^a+$"),
        ({"check": {"kind": "regex", "pattern": "a"}, "expected": ...}, "regex", "a"),
        ({"check": {"kind": "regex", "value": "a"}, "expected": ...}, "regex", "a"),
        ({"check": "number", "expected": 4}, "number", 4),
        ({"check": "number", "expected": "4"}, "number", 4),
        ({"check": "number", "expected": " -1.50 "}, "number", Decimal("-1.50")),
        ({"check": "json", "expected": None}, "json", None),
        ({"check": "json", "expected": ..., "fixture": {"a": [1]}}, "json", {"a": [1]}),
        ({"check": {"kind": "json", "value": False}, "expected": ...}, "json", False),
    ],
)
def test_one_answer_in_each_place(fields: dict[str, Any], kind: str, expected: object) -> None:
    found = check(**fields)
    assert (found.kind, found.expected) == (kind, expected)
    assert type(found.expected) is type(expected)


def test_tolerance_and_pointer() -> None:
    found = check(check={"kind": "number", "tolerance": "0.10"}, expected="4")
    assert (found.tolerance and found.tolerance.text, found.pointer) == ("0.10", None)
    assert check(check="number", expected=1).tolerance is None
    assert check(check={"kind": "json", "pointer": "/a~1b/0"}).pointer == "/a~1b/0"
    assert check(check={"kind": "json", "pointer": ""}).pointer == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"expected": ...}, "this item has no checker"),
        ({"expected": None}, "`exact` compares text; its answer is null, put it in quotes"),
        ({"expected": True}, "its answer is true"),
        ({"expected": 5}, "its answer is the number 5"),
        ({"expected": ["x"]}, "its answer is a list"),
        ({"expected": ""}, "the answer of `exact` is blank"),
        ({"check": "contains", "expected": " \n"}, "the answer of `contains` is blank"),
        (
            {"expected": ..., "fixture": {"a": 1}},
            "judged by a Python checker, as a `fixture` alone means; name its file as `exam.checker`",
        ),
        ({"fixture": {"a": 1}}, "`fixture` is not read by a check of kind `exact`"),
        (
            {"check": "exakt"},
            "unknown check `exakt`; the kinds are exact, regex, contains, number, json, python, code; did you mean `exact`?",
        ),
        ({"check": "python"}, "judged by a Python checker, as `check: python` says; name its file as `exam.checker`"),
        ({"check": {"kind": "code"}}, "a `code` check is a `check.py` beside its `task.json`, in a folder of its own"),
        ({"check": {"kind": "json", "source": "body"}}, "the `source` of a check is `output` or `trace`"),
        ({"check": {"kind": "exact", "source": "trace"}}, "has no field `source`"),
        ({"check": {"kind": "python", "value": 1}}, "`check` of kind `python` has no field `value`"),
        ({"check": {"kind": 5}}, "unknown check the number 5"),
        ({"check": {"value": "x"}}, "`check` needs a `kind`"),
        ({"check": None}, "not null"),
        ({"check": ["exact"]}, "not a list"),
        ({"check": {"kind": "exact", "tolerance": 1}}, "`check` of kind `exact` has no field `tolerance`"),
        ({"check": {"kind": "number", "tolerence": 1}}, "has no field `tolerence`; did you mean `tolerance`?"),
        ({"check": {"kind": "exact", "value": "x"}}, "`check.value` and `expected` are two answers"),
        ({"check": {"kind": "regex", "value": "x", "pattern": "x"}, "expected": ...}, "two answers"),
        ({"check": "json", "fixture": 1}, "`expected` and `fixture` are two answers"),
        ({"check": "json", "expected": ...}, "has no answer; give `expected` or `fixture`"),
        ({"check": "number", "expected": ...}, "has no answer; give `expected`"),
        ({"check": "number", "expected": "four"}, "must be one number"),
        ({"check": "number", "expected": "4 5"}, "must be one number"),
        ({"check": "number", "expected": True}, "must be one number"),
        ({"check": {"kind": "number", "tolerance": -1}, "expected": 1}, "`tolerance` must not be below 0"),
        ({"check": {"kind": "number", "tolerance": "x"}, "expected": 1}, "`tolerance` of a `number` check must be one number"),
        ({"check": {"kind": "json", "pointer": "a"}}, "`pointer` must be a JSON Pointer"),
        ({"check": {"kind": "json", "pointer": "/~2"}}, "`pointer` must be a JSON Pointer"),
        ({"check": {"kind": "json", "pointer": None}}, "`pointer` must be a JSON Pointer"),
    ],
)
def test_refused(fields: dict[str, Any], words: str) -> None:
    assert words in refusal(**fields)
