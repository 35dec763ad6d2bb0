"""The worker's own memory and its one task: judge an output by a contract it was told of, whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from evalaction.checks.contract import Contract, Form, misfit, read
from evalaction.checks.kinds import PROGRAMS, Accept, BadCheck, prepare
from evalaction.checks.wire import Answer, Job, read_contract
from evalaction.method.canonical import Json
from evalaction.method.reading.strict_json import loads
from evalaction.method.records import Check

# Phase (`contract`, `check`), digest of the text, digest of the value: so the parent knows what a hanging worker was at.
Announce: TypeAlias = Callable[[str, "str | None", "str | None"], None]


class Bench:
    """Contracts by number, compiled once; `spent` after an output that used up the memory."""

    def __init__(self) -> None:
        self.spent = False
        self._schemas: dict[int, Callable[[Json], str | None]] = {}
        self._contracts: dict[int, tuple[Contract, Accept | None]] = {}

    def learn(self, message: dict[str, Any]) -> None:
        """Take in what a message defines."""
        if message.get("forget"):
            self._schemas.clear()
            self._contracts.clear()
        for number, text in message.get("schemas", ()):
            # Here: jsonschema is most of a worker's start-up, and few exams need it.
            from evalaction.checks.schema import compile_schema

            self._schemas[number] = compile_schema(loads(text))
        for number, text in message.get("contracts", ()):
            extract, schema, check = read_contract(text)
            contract = Contract(
                extract=extract,
                json=extract == "json" or schema is not None or (check.kind == "json" and check.source == "output"),
                number=check.kind == "number",
                python=check.kind == "code",
                misfit=None if schema is None else self._schemas[schema],
            )
            self._contracts[number] = (contract, None if check.kind in PROGRAMS else prepare(check))

    def judge(self, job: Job, announce: Announce) -> Answer:
        """The contract first, the check only where it is met: what uses up the limits is `limit`, a bug is a checker error.

        Where the check is a program, the answer says no more than that the contract is met.
        """
        contract, accept = self._contracts[job.contract]
        form: Form | None = None
        digests: tuple[str | None, str | None] = (None, None)
        try:
            form = read(contract, job.output, job.finish_reason)
            digests = (form.text_sha256, form.parsed_sha256)
            announce("contract", *digests)
            reason = misfit(contract, form)
        except MemoryError:
            self.spent = True
            return Answer("limit: memory", None, None, *digests)
        except RecursionError:
            return Answer("limit: depth", None, None, *digests)
        except Exception as error:  # noqa: BLE001 - a bug in here must not be blamed on the model, nor end the run
            return Answer(None, None, f"checker:crash: {type(error).__name__} in the contract", *digests)
        if reason is not None:
            return Answer(reason, None, None, *digests)
        if accept is None:
            return Answer(None, None, None, *digests)
        announce("check", *digests)
        return self._checked(accept, form, digests, job.trace)

    def _checked(self, accept: Accept, form: Form, digests: tuple[str | None, str | None], trace: str | None) -> Answer:
        """`trace` is the JSON text that the check reads instead of the output."""
        try:
            reason = accept(form.text, form.value) if trace is None else accept(trace, loads(trace))
        except MemoryError:
            self.spent = True
            return Answer(None, None, "checker:crash: memory", *digests)
        except Exception as error:  # noqa: BLE001 - see above
            return Answer(None, None, f"checker:crash: {type(error).__name__}", *digests)
        return Answer(None, reason is None, reason, *digests)


def inspect(kind: str, text: str) -> list[tuple[str, str]] | str:
    """Warnings about a schema or a pattern of the exam, or the sentence that refuses it."""
    if kind == "schema":
        from evalaction.checks.schema import BadSchema
        from evalaction.checks.schema_check import check_schema

        try:
            return check_schema(loads(text))
        except BadSchema as error:
            return str(error)
    return _inspect_pattern(text)


def _inspect_pattern(pattern: str) -> list[tuple[str, str]] | str:
    try:
        accept = prepare(Check(kind="regex", expected=pattern))
    except BadCheck as error:
        return str(error)
    if accept("", "") is None:
        return [(pattern, " matches the empty text, so the check accepts every output.")]
    return []
