"""Candidate and check in one process, for checks that need live objects. A candidate can forge its pass here."""

from __future__ import annotations

import sys
import types

from evalaction.checks.inside import program
from evalaction.checks.inside.candidate import FILE, NAME, execute, new_module
from evalaction.checks.inside.job import read_texts
from evalaction.checks.inside.program import Outcome
from evalaction.checks.inside.verdict import Verdict

JOB, VERDICT = 3, 4


def main(_argument: bytes) -> int:
    """Descriptors: 3 the job (nonce, file, check, candidate), 4 the verdict, said after the last statement of the check."""
    nonce, file, check, candidate = read_texts(JOB)
    verdict = Verdict(VERDICT, nonce)

    def fill(module: types.ModuleType) -> None:
        module.__dict__["__source__"] = candidate
        module.__file__ = FILE
        execute(candidate, module)

    sys.meta_path.insert(0, program.Finder(NAME, new_module, fill))
    verdict.end(*_outcome(program.run(check, file), file, check))


def _outcome(error: BaseException | None, file: str, check: str) -> Outcome:
    if error is not None and (program.lacks(error, check) or _of_candidate(error, file)):
        return program.raised(error)
    return program.of_check(error, answered=NAME in sys.modules)


def _of_candidate(error: BaseException, check: str) -> bool:
    """Whether the innermost step that is of either of them is the candidate's."""
    return next((name == FILE for name, _ in reversed(program.frames(error)) if name in (FILE, check)), False)
