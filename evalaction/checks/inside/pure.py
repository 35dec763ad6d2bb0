"""A committed `checker(parsed, fixture)`: called once, with plain data of its own, in a process of its own."""

from __future__ import annotations

import json
import sys
import types
from typing import Any

from evalaction.checks.inside.job import read_texts
from evalaction.checks.inside.program import named
from evalaction.checks.inside.verdict import Verdict

JOB, VERDICT = 3, 4


def main(_argument: bytes) -> int:
    """Descriptors: 3 the job (nonce, file, checker, form, parsed, fixture), 4 the verdict.

    `form` says what `parsed` is: `json`, or `text` as it stands. The fixture is JSON.
    """
    nonce, file, source, form, parsed, fixture = read_texts(JOB)
    verdict = Verdict(VERDICT, nonce)
    try:
        answer = _checker(source, file)(json.loads(parsed) if form == "json" else parsed, json.loads(fixture))
    except BaseException as error:  # noqa: BLE001 - SystemExit too: a checker returns
        verdict.end("error", f"checker:crash: {named(error)}")
    if not isinstance(answer, tuple) or len(answer) != 2 or type(answer[0]) is not bool or not isinstance(answer[1], str):
        verdict.end("error", f"checker:protocol: it returned {_named(answer)}, not (bool, text)")
    verdict.end("pass" if answer[0] else "fail", answer[1])


def _checker(source: str, file: str) -> Any:
    module = types.ModuleType("checker")
    module.__file__ = file
    sys.modules["checker"] = module
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the frozen checker, in the box
    return module.__dict__["checker"]


def _named(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(type(part).__name__ for part in value[:4])})"
    return type(value).__name__
