"""Contract: has the output the form that its item declares? Pure; what may hang in here is run by the worker under limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

from evalaction.checks.extract import NoForm, fenced, last_number, one_number
from evalaction.checks.python_text import not_python
from evalaction.checks.words import one_line
from evalaction.method.canonical import Json, digest, sha256
from evalaction.method.counting.reasons import CUT_BY_LENGTH
from evalaction.method.reading.strict_json import NotJson, loads
from evalaction.method.records import Extract

_UNFINISHED = re.compile(r"-|\.|[eE][+-]?|t(?:r(?:u)?)?|f(?:a(?:l(?:s)?)?)?|n(?:u(?:l)?)?|\\?u[0-9a-fA-F]{0,4}|\\")
_EXACT = Context(prec=10_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True, kw_only=True, slots=True)
class Contract:
    """What one item declares."""

    extract: Extract
    json: bool
    """The extracted text must be JSON: the item has a schema or a `json` check, or extracts `json`."""
    number: bool = False
    """A `number` check compares values, so that 4 and 4.0 are the same parsed output."""
    python: bool = False
    """A `code` check runs the text, so it must be Python."""
    misfit: Callable[[Json], str | None] | None = None
    """The compiled schema: None where a value fits, else what does not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """An output read by its contract, the schema not yet applied."""

    text: str
    """The extracted text; the whole output where nothing could be extracted."""
    value: Json = None
    """The parsed value, or the stripped text where the contract is not JSON; meaningless with a reason."""
    reason: str | None = None

    @property
    def text_sha256(self) -> str:
        return sha256(self.text.encode("utf-8", "surrogatepass"))

    @property
    def parsed_sha256(self) -> str | None:
        """Digest of the value, equal for equal numbers however they are written; None where nothing was parsed."""
        return None if self.reason else digest(_uniform(self.value))


def read(contract: Contract, output: str, finish_reason: str | None = None) -> Form:
    """Extract and parse, never raising.

    Reasons: `not_json`, `not_python`, `no_block`, `many_blocks`, `no_number`, `truncated`, each followed by a colon and a detail.
    """
    try:
        text = extracted(contract.extract, output)
    except NoForm as error:
        return Form(text=output, reason=_reason(error, finish_reason))
    if contract.python:
        wrong = not_python(text, whole=contract.extract != "fenced")
        return Form(text=text, value=text.strip(), reason=_reason(wrong, finish_reason) if wrong else None)
    if not contract.json:
        stripped = text.strip()
        number = one_number(stripped) if contract.number else None
        return Form(text=text, value=stripped if number is None else Decimal(number))
    try:
        return Form(text=text, value=loads(text))
    except NotJson as error:
        at_end = contract.extract != "fenced" and broke_off(text, error)
        return Form(text=text, reason=_reason(NoForm("not_json", _explained(text, error), at_end=at_end), finish_reason))


def misfit(contract: Contract, form: Form) -> str | None:
    """The contract's reason for an output that was read: None where it is met."""
    if form.reason is not None or contract.misfit is None:
        return form.reason
    wrong = contract.misfit(form.value)
    return one_line(f"schema: {wrong}") if wrong else None


def broke_off(text: str, error: NotJson) -> bool:
    """Whether the parser failed because the text ended too early: the rest at that place could still have become JSON."""
    if error.position is None:
        return False
    rest = text[error.position :].rstrip(" \t\r\n")
    return not rest or error.detail.startswith("unterminated string") or _UNFINISHED.fullmatch(rest) is not None


def extracted(extract: Extract, output: str) -> str:
    """The part of an output that is judged. Raises NoForm."""
    if extract == "fenced":
        return fenced(output)
    return last_number(output) if extract == "last_number" else output


def _reason(error: NoForm, finish_reason: str | None) -> str:
    if error.at_end and (finish_reason or "").lower() in CUT_BY_LENGTH:
        return one_line(f"truncated: {error.detail}")
    return one_line(str(error))


def _explained(text: str, error: NotJson) -> str:
    place = "" if error.position is None else f" at character {error.position}"
    hint = "; the output is in a code fence, which `extract: fenced` takes" if text.lstrip().startswith(("```", "~~~")) else ""
    return f"{error.detail.removesuffix(' at')}{place}{hint}"


def _uniform(value: Json) -> Json:
    """The same value with one spelling for each number: 1, 1.0 and 1e0 are equal under every check."""
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return Decimal(value).normalize(_EXACT) if value else 0
    if isinstance(value, dict):
        return {key: _uniform(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_uniform(part) for part in value]
    return value
