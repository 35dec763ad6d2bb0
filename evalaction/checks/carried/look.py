"""The programs of an exam, read before any call: whether they are Python, and what would not reach them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence

from evalaction.checks.carried.reading import Finding, mentions_candidate, not_carried, run_outside
from evalaction.errors import SourceError
from evalaction.method.card import CheckLimits
from evalaction.method.records import Item, Quoted, Sentence

_SHOWN = 3


def look_at_program(item: Item, files: Mapping[str, bytes], limits: CheckLimits) -> Iterator[Sentence]:
    """Warnings about a `check.py`. Raises SourceError for a program that is not there or is not Python."""
    path = item.check.file or ""
    if path not in files:
        raise SourceError("there is no program at this path for the item to be judged by", file=path, code="bad_check")
    tree = _tree(files[path], path)
    if item.check.kind != "code":
        return
    if not mentions_candidate(tree):
        yield "Item ", Quoted(item.id), ": its check never imports _candidate, so it says the same of every output."
    if limits.isolation == "split":
        findings = not_carried(tree)
        if findings:
            yield "Item ", Quoted(item.id), ": its check ", Quoted(_listed(findings)), ", which split checking does not carry."
        if lines := run_outside(tree):
            where = f" runs what the candidate gives in its own process (line {lines[0]}): there it can say the verdict itself."
            yield "Item ", Quoted(item.id), f": its check{where}"


def _tree(data: bytes, path: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except SyntaxError as error:
        raise SourceError(f"this is not Python: {error.msg}", file=path, line=error.lineno, code="bad_check") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError("this is not Python that can be read", file=path, code="bad_check") from error


def _listed(findings: Sequence[Finding]) -> str:
    shown = [f"{one.does} (line {one.line})" for one in findings[:_SHOWN]]
    rest = len(findings) - len(shown)
    return "; ".join([*shown, *([f"{rest} more"] if rest > 0 else [])])
