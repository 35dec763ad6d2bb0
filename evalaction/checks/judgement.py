"""What the judging of one completion gives: three columns and two digests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from evalaction.checks.wire import Answer
from evalaction.method.records import Columns, Completion


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """In a reason, the text before the first ": " is the machine's word, what follows is a detail with text of others in it."""

    columns: Columns
    text_sha256: str | None = None
    """Of the extracted text, or of the whole output where nothing could be extracted; None without an output."""
    parsed_sha256: str | None = None
    """Of the value that the check compares: parsed JSON, a number, else the stripped text; None where nothing was parsed."""


def unreached(completion: Completion) -> Judgement:
    """The judgement of a draw that brought nothing to judge."""
    return Judgement(columns=Columns(reach=False, reach_reason=completion.reason))


def of_answer(answer: Answer) -> Judgement:
    """Raises ValueError or TypeError for an answer that contradicts itself."""
    columns = _columns(answer.contract_reason, answer.passed, answer.check_reason)
    return Judgement(columns=columns, text_sha256=answer.text_sha256, parsed_sha256=answer.parsed_sha256)


@lru_cache(maxsize=64, typed=True)  # a run has a handful of answers over and over
def _columns(contract_reason: str | None, passed: bool | None, check_reason: str | None) -> Columns:
    return Columns(
        reach=True,
        contract=contract_reason is None,
        contract_reason=contract_reason,
        check=passed,
        check_reason=check_reason,
    )


def contract_limit(detail: str, text_sha256: str | None, parsed_sha256: str | None) -> Judgement:
    """The output used up what a contract may use: the output's doing."""
    return of_answer(Answer(f"limit: {detail}", None, None, text_sha256, parsed_sha256))


def checker_error(reason: str, text_sha256: str | None, parsed_sha256: str | None) -> Judgement:
    """Nobody can say whether the output is right; `reason` begins with `checker:`."""
    return of_answer(Answer(None, None, reason, text_sha256, parsed_sha256))
