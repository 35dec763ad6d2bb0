"""Reasons: the machine's word and the detail behind it."""

from __future__ import annotations

import pytest

from evalaction.method.counting.reasons import code_of, without_details
from evalaction.method.records import Columns


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("not_json", "not_json"),
        ("schema: /status: 'x' is not one of ['y']", "schema"),
        ("checker:timeout: over 300 ms of CPU time", "checker:timeout"),
        ("status:500", "status:500"),
        ("differs: at /a: expected 1, got 2", "differs"),
    ],
)
def test_the_code_is_what_stands_before_the_first_colon_and_space(reason: str, code: str) -> None:
    assert code_of(reason) == code


@pytest.mark.parametrize(
    ("columns", "bare"),
    [
        (Columns(False, "status:500"), Columns(False, "status:500")),
        (Columns(True, None, False, "schema: x"), Columns(True, None, False, "schema")),
        (Columns(True, None, True, None, False, "differs: x"), Columns(True, None, True, None, False, "differs")),
        (Columns(True, None, True, None, None, "checker:crash: x"), Columns(True, None, True, None, None, "checker:crash")),
        (Columns(True, None, True, None, True), Columns(True, None, True, None, True)),
    ],
)
def test_without_details_the_verdict_stays(columns: Columns, bare: Columns) -> None:
    assert without_details(columns) == bare
    assert without_details(columns).verdict == columns.verdict
