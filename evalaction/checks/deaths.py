"""What the death of a worker says about the output it was at."""

from __future__ import annotations

import signal

from evalaction.checks import judgement
from evalaction.checks.judgement import Judgement
from evalaction.checks.link import Cause
from evalaction.checks.process import Death
from evalaction.checks.spot import Noted
from evalaction.method.canonical import sha256
from evalaction.method.card import CheckLimits
from evalaction.method.records import Item

_STACK_OVERFLOWS = (-signal.SIGSEGV, -signal.SIGBUS)


def blame(item: Item, output: str, cause: Cause | None, death: Death, noted: Noted, limits: CheckLimits) -> Judgement:  # noqa: PLR0917
    """Who is to blame for a death: a limit reached in the contract is the output's doing, everything else a checker error."""
    text = noted.text_sha256 or sha256(output.encode("utf-8", "surrogatepass"))
    parsed = noted.parsed_sha256
    used_up = _used_up(item, cause, death, noted, limits) if noted.phase != "check" else None
    if used_up is not None:
        return judgement.contract_limit(used_up, text, parsed)
    if cause in ("output", "protocol"):
        return judgement.checker_error(f"checker:{cause}", text, parsed)
    if death.by_cpu_limit:
        return judgement.checker_error(f"checker:timeout: over {limits.cpu_ms} ms of CPU time", text, parsed)
    if cause == "timeout":
        starved = "" if _busy(death, noted, limits) else ", most of them spent waiting for the machine"
        return judgement.checker_error(f"checker:timeout: over {limits.timeout_ms} ms{starved}", text, parsed)
    return judgement.checker_error(f"checker:crash: {how(death)}", text, parsed)


def how(death: Death) -> str:
    return signal.Signals(-death.code).name if death.code < 0 else f"exit code {death.code}"


def _used_up(item: Item, cause: Cause | None, death: Death, noted: Noted, limits: CheckLimits) -> str | None:
    """What an output used up while its contract was looked at."""
    if cause in ("output", "protocol"):
        return None
    if death.by_cpu_limit:
        return f"over {limits.cpu_ms} ms of CPU time"
    if cause == "timeout":
        return f"over {limits.timeout_ms} ms" if _busy(death, noted, limits) else None
    # Python's own parser is what reads a program, and some nesting is too deep for it.
    return "depth" if item.check.kind == "code" and death.code in _STACK_OVERFLOWS else None


def _busy(death: Death, noted: Noted, limits: CheckLimits) -> bool:
    return (death.cpu_s - noted.cpu_s) * 2 >= limits.timeout_ms / 1000
