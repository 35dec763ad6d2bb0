"""Plain tables for the terminal; every cell goes through the terminal encoder."""

from __future__ import annotations

from collections.abc import Sequence

from evalaction.report.encode import term


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    cells = [[term(str(cell)) for cell in row] for row in rows]
    return tabulate(cells, headers=head, tablefmt="plain", disable_numparse=True)
