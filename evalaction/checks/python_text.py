"""Whether a text is Python: compiled, never run. What may hang or overflow in here is run by the worker under limits."""

from __future__ import annotations

import ast
import warnings

from evalaction.checks.extract import NoForm

FILE = "_candidate.py"
_INCOMPLETE = 0x4000  # PyCF_ALLOW_INCOMPLETE_INPUT, which the module codeop uses for its prompt


def not_python(text: str, *, whole: bool) -> NoForm | None:
    """None for a text that compiles. `whole`: it is all that the model wrote, so that its end may have been cut off.

    Raises MemoryError and RecursionError for a text that is nested too deep for the parser.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, FILE, "exec", dont_inherit=True)
    except SyntaxError as error:
        place = f" at line {error.lineno}" if error.lineno else ""
        return NoForm("not_python", f"{error.msg}{place}{_hint(text)}", at_end=whole and _unfinished(text, error))
    except (ValueError, OverflowError) as error:  # null bytes, lone surrogates
        return NoForm("not_python", str(error))
    return None


def _unfinished(text: str, first: SyntaxError) -> bool:
    """Whether more text could still have made it Python."""
    lines = text.rstrip().splitlines() or [""]
    if first.lineno == len(lines) and (first.offset or 0) > len(lines[-1]):
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, FILE, "exec", ast.PyCF_ONLY_AST | _INCOMPLETE, dont_inherit=True)
    except SyntaxError as error:
        if "incomplete input" in error.msg:
            return True
        return error.msg.startswith("unterminated string literal") and error.lineno == len(lines)
    return False


def _hint(text: str) -> str:
    return "; the output is in a code fence, which `extract: fenced` takes" if text.lstrip().startswith(("```", "~~~")) else ""
