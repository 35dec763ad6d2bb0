"""Committed Python that will judge: read as text and parsed before any call, never run here."""

from __future__ import annotations

import ast
import warnings

from evalaction.errors import SourceError
from evalaction.method.reading.text import decode

MAX_BYTES = 1024 * 1024


def python_source(data: bytes, *, file: str) -> str:
    """The text of a Python file that parses. Raises SourceError with line and column."""
    _parse(data, file)
    return decode(data, file=file)


def expect_checker(data: bytes, *, file: str) -> None:
    """Raises SourceError for a file that binds no `checker` at its top level, beside what `python_source` refuses."""
    tree = _parse(data, file)
    if not any("checker" in _bound(statement) for statement in tree.body):
        raise SourceError("this file has no function `checker(parsed, fixture)`; define it at the top level", file=file)


def _parse(data: bytes, file: str) -> ast.Module:
    if len(data) > MAX_BYTES:
        raise SourceError(f"this file has {len(data):,} bytes; the limit of a checker is {MAX_BYTES:,}", file=file)
    text = decode(data, file=file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        sentence = f"this is not Python: {error.msg}"
        raise SourceError(sentence, file=file, line=error.lineno or 1, column=max(error.offset or 1, 1)) from None
    except (ValueError, RecursionError, MemoryError):
        raise SourceError("this is not Python that can be read: a null byte, or nested too deep", file=file, line=1) from None


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds, as far as a reader sees them without running it."""
    match statement:
        case ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name for alias in names}
        case _:
            return set()
