"""Before any call: schemas, patterns and checks of an exam are tried in a worker that they cannot outlive."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.judging import item

from evalaction.checks import validate
from evalaction.checks.validate import validate_items
from evalaction.errors import SourceError
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check, Quoted

GOOD = Check(kind="exact", expected="yes")


def test_a_good_exam_is_silent_and_starts_no_worker_without_need(monkeypatch: pytest.MonkeyPatch) -> None:
    assert validate_items([item(Check(kind="regex", expected="^a$"), schema={"type": "string"}, extract="json")]) == ()
    monkeypatch.setattr("evalaction.checks.process.Child.start", None)
    assert validate_items([item(GOOD), item(Check(kind="json", expected=1, pointer="/a"), index=1)]) == ()


@pytest.mark.parametrize(
    ("bad", "sentence", "code"),
    [
        (item(GOOD, index=4, schema={"type": "strin"}), "not valid JSON Schema", "bad_schema"),
        (item(GOOD, index=4, schema={"$ref": "https://example.org/a.json"}), "nothing is fetched", "bad_schema"),
        (item(GOOD, index=4, schema={"$ref": "#"}), "never ends", "bad_schema"),
        (item(Check(kind="regex", expected="(")), "does not compile", "bad_pattern"),
        (item(Check(kind="regex", expected=5)), "expects a text", "bad_check"),
        (item(Check(kind="number", expected="x")), "one number", "bad_check"),
        (item(Check(kind="json", expected=1, pointer="x")), "JSON Pointer", "bad_check"),
    ],
)
def test_the_first_item_with_the_mistake_is_named(bad: Any, sentence: str, code: str) -> None:
    with pytest.raises(SourceError, match=sentence) as refused:
        validate_items([item(GOOD, index=90), bad, item(bad.check, index=91, schema=bad.schema)])
    assert (refused.value.file, refused.value.line, refused.value.code) == ("tasks.jsonl", bad.index + 1, code)


def test_warnings_name_the_first_item_and_count_the_others() -> None:
    schema = {"requird": ["a"]}
    warnings = validate_items([item(Check(kind="contains", expected="x"), index=n, schema=schema) for n in range(3)])
    assert warnings == (
        (
            "Item ",
            Quoted("item-0"),
            " and 2 more: ",
            Quoted("requird"),
            " is no keyword of JSON Schema and checks nothing. Did you mean required?",
        ),
    )


def test_checks_that_cannot_fail_are_warned_of() -> None:
    warnings = validate_items([item(Check(kind="contains", expected="")), item(Check(kind="regex", expected="a*"), index=1)])
    assert ["accepts every output" in "".join(map(str, sentence)) for sentence in warnings] == [True, True]
    [warning] = validate_items([item(GOOD, schema={"type": "string"})])
    assert "kind json compares values" in str(warning[2])


def test_equal_schemas_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    original = validate._Inspector.try_out

    def counting(self: Any, pieces: Any) -> Any:
        asked.extend(pieces)
        return original(self, pieces)

    monkeypatch.setattr(validate._Inspector, "try_out", counting)
    validate_items([item(GOOD, index=n, extract="json", schema={"type": "object", "title": f"{n % 2}"}) for n in range(1_000)])
    assert len(asked) == 2


def test_a_pattern_that_takes_forever_to_try_is_refused_and_the_others_are_still_tried() -> None:
    endless = {
        "allOf": [{"$ref": "#/$defs/n0"}],
        "$defs": {f"n{i}": {"anyOf": [{"$ref": f"#/$defs/n{i + 1}"}] * 4} for i in range(30)} | {"n30": False},
    }
    began = time.monotonic()
    with pytest.raises(SourceError, match="more time or memory") as refused:
        validate_items(
            [item(Check(kind="json", expected=1), index=7, schema=endless), item(GOOD, schema={"type": "null"})],
            CheckLimits(cpu_ms=500),
        )
    assert refused.value.line == 8
    assert time.monotonic() - began < 30
