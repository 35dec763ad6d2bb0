"""The exception tree, the outcomes and the exit codes.

EvalactionError
├── UsageError            2  flag, card, exam, endpoint configuration, budget, run folder in use
│   └── SourceError       2  the same, with file, line and column
├── UnregisteredError     4  something that was frozen has moved; nothing is drawn
├── InconclusiveError     5  the data cannot speak, known before or without a verdict
├── NotRunError           6  secrets are missing
├── Settled               0  answered without a draw: `registered` or `unchanged`
└── Interrupted         130  a signal ended the run; rows so far are on disk

Any other exception is a bug of ours and ends with 3.
"""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """The one word a job ends with; `exit_code` is what the process returns."""

    PASS = "pass"
    UNCHANGED = "unchanged"
    REGISTERED = "registered"
    FAIL = "fail"
    USAGE = "usage"
    INTERNAL = "internal"
    UNREGISTERED = "unregistered"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not_run"
    UNREACHABLE = "unreachable"
    INTERRUPTED = "interrupted"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self]


EXIT_CODES = {
    Outcome.PASS: 0,
    Outcome.UNCHANGED: 0,
    Outcome.REGISTERED: 0,
    Outcome.FAIL: 1,
    Outcome.USAGE: 2,
    Outcome.INTERNAL: 3,
    Outcome.UNREGISTERED: 4,
    Outcome.INCONCLUSIVE: 5,
    Outcome.NOT_RUN: 6,
    Outcome.UNREACHABLE: 7,
    Outcome.INTERRUPTED: 130,
}


class EvalactionError(Exception):
    """Something we can explain; `code` is the machine word of the break, the text is one plain sentence."""

    outcome = Outcome.INTERNAL
    default_code = "internal"

    def __init__(self, sentence: str, *, code: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code or self.default_code

    def explain(self, more: str) -> None:
        """Add a sentence; unlike a note it is said wherever the error is."""
        self.sentence = f"{self.sentence.removesuffix('.')}. {more}"
        self.args = (self.sentence,)


class UsageError(EvalactionError):
    outcome = Outcome.USAGE
    default_code = "usage"


class SourceError(UsageError):
    """A mistake in a file the user wrote, placed by file, line and column (1-based; None where unknown)."""

    def __init__(
        self,
        sentence: str,
        *,
        file: str,
        line: int | None = None,
        column: int | None = None,
        code: str | None = None,
    ) -> None:
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {sentence}", code=code)
        self.file = file
        self.line = line
        self.column = column


class UnregisteredError(EvalactionError):
    outcome = Outcome.UNREGISTERED
    default_code = "unregistered"


class InconclusiveError(EvalactionError):
    outcome = Outcome.INCONCLUSIVE
    default_code = "inconclusive"


class NotRunError(EvalactionError):
    outcome = Outcome.NOT_RUN
    default_code = "secrets_missing"


class Settled(EvalactionError):
    """No mistake: the end of a run, before its first call, that has nothing to draw."""

    def __init__(self, sentence: str, *, outcome: Outcome, code: str | None = None) -> None:
        super().__init__(sentence, code=code or outcome.value)
        self.outcome = outcome


class Interrupted(EvalactionError):
    outcome = Outcome.INTERRUPTED
    default_code = "interrupted"
