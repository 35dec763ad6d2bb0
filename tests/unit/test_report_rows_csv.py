"""rows.csv: CRLF, ids as they are, nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from evalaction.method.records import ArmName, Columns, Row, Usage
from evalaction.report.rows_csv import COLUMNS, FIRST_PROTOCOL, first_protocol_line, heading, row_line

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "statistics.json").read_text(encoding="utf-8"))
PASS = Columns(reach=True, contract=True, check=True)
FAIL = Columns(reach=True, contract=True, check=False, check_reason="differs")


def row(index: int, item: str, draw: int, columns: Columns, arm: ArmName = "treatment", finish: str | None = "stop") -> Row:
    return Row(
        index=index, item=item, arm=arm, draw=draw, half=0, columns=columns, request_sha256="a" * 64, endpoint="main",
        started_at="2026-05-14T09:30:00.000Z", ms=812, status=200, finish_reason=finish, usage=Usage(input=7, output=3),
        text_sha256="b" * 64, parsed_sha256=None,
    )  # fmt: skip


def fixture() -> list[Row]:
    verdicts = {"parse_int": "ppf", "slug": "fff", "clamp": "ppp"}
    flat = [(item, draw, letter) for item, letters in verdicts.items() for draw, letter in enumerate(letters)]
    return [row(index, item, draw, PASS if letter == "p" else FAIL) for index, (item, draw, letter) in enumerate(flat)]


def rows_csv(rows: Iterable[Row]) -> str:
    return "".join([heading(COLUMNS), *map(row_line, rows)])


def verdicts_csv(rows: Iterable[Row]) -> str:
    return "".join([heading(FIRST_PROTOCOL), *map(first_protocol_line, rows)])


def read(text: str) -> Sequence[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_three_columns_of_the_first_protocol_byte_for_byte() -> None:
    data = verdicts_csv(fixture()).encode()
    assert hashlib.sha256(data).hexdigest() == GOLDEN["seed1_fixture"]["csv_sha256"]
    assert len(data) == GOLDEN["seed1_fixture"]["csv_bytes"]


def test_every_column() -> None:
    unreached = Columns(reach=False, reach_reason="status:503")
    broken = Columns(reach=True, contract=True, check_reason="checker:timeout")
    text = rows_csv([row(0, "a", 0, PASS), row(1, "a", 1, unreached), row(2, "a", 2, broken)])
    first, second, third = read(text)
    assert tuple(first) == COLUMNS
    assert text.count("\r\n") == 4
    assert [first[name] for name in ("task", "arm", "draw", "verdict", "reach", "contract", "check")] == [
        "a", "treatment", "0", "pass", "true", "true", "true",
    ]  # fmt: skip
    assert [second[name] for name in ("verdict", "reach", "reach_reason", "contract", "check")] == [
        "runner_error",
        "false",
        "status:503",
        "",
        "",
    ]
    assert [third[name] for name in ("verdict", "check", "check_reason")] == ["runner_error", "", "checker:timeout"]
    assert (first["ms"], first["status"], first["tokens_in"], first["tokens_out"], first["parsed_sha256"]) == (
        "812",
        "200",
        "7",
        "3",
        "",
    )


@pytest.mark.parametrize("item", ['a,"b"', "a|b", "x y", "日本 🤖", "'quoted'"])
def test_an_id_reads_back_as_it_is(item: str) -> None:
    assert read(rows_csv([row(0, item, 0, PASS)]))[0]["task"] == item


@pytest.mark.parametrize("words", ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1", "\t=1"])
def test_a_providers_words_are_no_formula(words: str) -> None:
    failed = Columns(reach=True, contract=True, check=False, check_reason=words)
    read_back = read(rows_csv([row(0, "a", 0, failed, finish=words)]))[0]
    assert read_back["finish_reason"] == read_back["check_reason"] == "'" + words


@pytest.mark.parametrize("item", ["=1+1", "+1", "-1", "@sum(a1)", "\tx"])
def test_only_rows_csv_keeps_an_id_that_a_spreadsheet_would_run(item: str) -> None:
    """No exam has such an id; a stranger's run may."""
    held = row(0, item, 0, PASS)
    assert list(csv.reader(io.StringIO(verdicts_csv([held]))))[1][0] == f"'{item}"
    assert list(csv.reader(io.StringIO(rows_csv([held]))))[1][0] == item
