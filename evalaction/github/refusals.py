"""A reply of GitHub that is not what we asked for → `Refused`, with the missing `permissions:` line where that is the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from evalaction.github.replies import Kind, Refused
from evalaction.github.waits import limited
from evalaction.report.encode import log

DETAIL_CHARACTERS = 240
_PERMISSION = re.compile(r"([a-z]+(?:_[a-z]+)*)=(read|write|admin)", re.ASCII)
_ALWAYS_GRANTED = "metadata"


def refused(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    doing: str,
    needs: tuple[str, ...],
    redact: Callable[[str], str],
) -> Refused:
    """`doing` completes "GitHub did not …", `needs` are the `permissions:` lines to name where GitHub does not say them.

    Nothing of the body is in the sentence; GitHub's message is kept in `detail`, redacted first and cut then.
    """
    message = message_of(body)
    kind = _kind(status, headers, message)
    lines: tuple[str, ...] = ()
    extra = ""
    if kind == "permission" and status != 401:
        accepted = headers.get("x-accepted-github-permissions", "")
        lines = permission_lines(accepted, needs)
        if accepted.strip() and not _PERMISSION.search(accepted):
            extra = f" GitHub's words for what is missing: {log(redact(accepted)[:DETAIL_CHARACTERS])}."
    return Refused(
        status=status,
        kind=kind,
        sentence=_sentence(kind, status, doing, lines) + extra,
        permissions=lines,
        detail=redact(message)[:DETAIL_CHARACTERS],
    )


def permission_lines(accepted: str, needs: tuple[str, ...]) -> tuple[str, ...]:
    """The `permissions:` lines of one alternative of x-accepted-github-permissions (`a=write; b=write,c=read`).

    `needs` where one alternative asks for nothing else, since write includes read; else the first; without the header, `needs`.
    """
    alternatives = []
    documented = {line.split(":")[0] for line in needs}
    for part in accepted.split(";"):
        found = [(name, level) for name, level in _PERMISSION.findall(part) if name != _ALWAYS_GRANTED]
        if found:
            alternatives.append(tuple(f"{name.replace('_', '-')}: {level}" for name, level in found[:8]))
    if not alternatives or any({line.split(":")[0] for line in lines} <= documented for lines in alternatives):
        return needs
    return alternatives[0]


def message_of(body: bytes) -> str:
    """GitHub's `message` with those of its `errors`; of anything else the beginning of the text."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text[:4096]
    if not isinstance(value, dict):
        return ""
    parts = [value.get("message")]
    errors = value.get("errors")
    for error in errors[:20] if isinstance(errors, list) else ():
        parts.append(error.get("message") if isinstance(error, dict) else error)
    return "; ".join(part for part in parts if isinstance(part, str))[:4096]


def _kind(status: int, headers: Mapping[str, str], message: str) -> Kind:
    words = message.lower()
    if limited(status, headers, message):
        return "rate"
    if status in {401, 403}:
        return "locked" if "locked" in words else "permission"
    if status in {404, 410}:
        return "gone"
    if status == 413 or (status == 422 and "too long" in words):
        return "too_long"
    return "rejected" if 400 <= status < 500 else "server"


def _sentence(kind: Kind, status: int, doing: str, lines: tuple[str, ...]) -> str:
    if kind == "permission" and status == 401:
        return f"GitHub did not {doing}: it does not accept the token (401); check the github-token input."
    if kind == "permission":
        wanted = " and ".join(f"`{line}`" for line in lines) or "the missing line"
        return f"GitHub did not {doing}: the token may not (403); add {wanted} under `permissions:` of the job."
    if 300 <= status < 400:
        return f"GitHub did not {doing}: it points to another address ({status}), which is not followed; check GITHUB_API_URL."
    reasons: dict[Kind, str] = {
        "locked": "the conversation is locked; unlock it, or read the result in the job summary.",
        "gone": "it is not there, or this token may not see it; check the repository, the number and the token.",
        "too_long": "the text is too long; the whole result is in the artifact.",
        "rate": "its rate limit is used up; run again later, or read the result in the job summary.",
        "rejected": "it rejected the request; the result is in the job summary.",
        "server": "its answer was an error of its own or cannot be read; run again later, or read the job summary.",
    }
    return f"GitHub did not {doing} ({status}): {reasons[kind]}"
