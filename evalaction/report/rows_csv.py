"""Rows → lines of CSV, ended by CRLF; whoever writes them keeps to the planned order.

`task` is the item's id as it is: an exam refuses ids that a spreadsheet would take for a formula. Words of a provider or
a checker are encoded.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Final

from evalaction.method.records import Row
from evalaction.report.encode import csv_cell

FIRST_PROTOCOL = ("task", "draw", "verdict")
COLUMNS = (
    "task", "arm", "draw", "verdict", "half", "reach", "reach_reason", "contract", "contract_reason", "check", "check_reason",
    "endpoint", "ms", "status", "finish_reason", "tokens_in", "tokens_out", "text_sha256", "parsed_sha256", "request_sha256",
)  # fmt: skip


def heading(columns: Sequence[str]) -> str:
    """The first line, of COLUMNS or of FIRST_PROTOCOL."""
    return _line(columns)


def row_line(row: Row) -> str:
    """One row's line under COLUMNS; no cell holds a line break."""
    return _line(_cells(row))


def first_protocol_line(row: Row) -> str:
    """One row's line under FIRST_PROTOCOL."""
    return _line((csv_cell(row.item), row.draw, row.verdict))


class _Handed:
    """In place of a file: its `write` hands back what it is given, and `writerow` answers with that."""

    def write(self, text: str) -> str:
        return text


_WRITER: Final = csv.writer(_Handed())


def _line(cells: Sequence[object]) -> str:
    line: str = _WRITER.writerow(cells)
    return line


def _cells(row: Row) -> Sequence[object]:
    columns = row.columns
    return (
        row.item, row.arm, row.draw, row.verdict, row.half,
        _flag(columns.reach), _word(columns.reach_reason), _flag(columns.contract), _word(columns.contract_reason),
        _flag(columns.check), _word(columns.check_reason), _word(row.endpoint), row.ms, row.status, _word(row.finish_reason),
        row.usage.input, row.usage.output, row.text_sha256, row.parsed_sha256, row.request_sha256,
    )  # fmt: skip


def _flag(value: bool | None) -> str:
    return "" if value is None else "true" if value else "false"


def _word(text: str | None) -> str:
    return "" if text is None else csv_cell(text)
