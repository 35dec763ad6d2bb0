"""What is appended to the runner's GITHUB_OUTPUT and GITHUB_STEP_SUMMARY files: data for the edge to write, never a path to read.

The runner drops a whole summary that is over 1 MiB, and a job's output that holds anything masked, both almost silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalaction.method.records import Quoted, Sentence
from evalaction.method.telling.words import listed
from evalaction.redaction import Redactor

SUMMARY_BYTES = 1_000_000
"""Of the whole file, with what is in it already; GitHub's own limit is 1,048,576."""
OUTPUT_CHARACTERS = 20_000
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}", re.ASCII)
_LINE_END = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Addition:
    """Bytes to append to a file, as they are, and what had to be left out."""

    data: bytes
    warnings: tuple[Sentence, ...] = ()


def output_file(outputs: Mapping[str, str], secrets: Mapping[str, str]) -> Addition:
    """`name=value` lines for GITHUB_OUTPUT. `secrets` is name to value, short ones too: the runner masks every length.

    Left out with a warning: a value that holds a secret in any encoding, or is too long. Raises ValueError for a name that is no
    output's and for a value of more than one line: none of ours is.
    """
    redactor = Redactor(secrets)
    lines, warnings = [], []
    for name, value in outputs.items():
        if not _NAME.fullmatch(name) or _LINE_END.search(value):
            raise ValueError(f"not an output of one line: {name!r}")
        if leaked := _leaked(value, secrets, redactor):
            warnings.append(_left_out(name, "it holds the value of ", leaked))
        elif len(value) > OUTPUT_CHARACTERS:
            warnings.append(_left_out(name, f"it has {len(value):,} characters", ()))
        else:
            lines.append(f"{name}={value}\n")
    return Addition(data="".join(lines).encode("utf-8", "replace"), warnings=tuple(warnings))


def summary_file(documents: Sequence[Callable[[int], str]], *, already: int) -> Addition:
    """The job summary within 1,000,000 bytes, of which `already` are written.

    Each document is a function from the bytes it may take to its Markdown, the most important first; one that does not fit, even
    so, is left out whole and named in a line at the end.
    """
    room = SUMMARY_BYTES - already - _RESERVE
    parts: list[bytes] = []
    lost = 0
    for number, document in enumerate(documents):
        share = room // (len(documents) - number)
        data = _encoded(document(max(share, 0)))
        if len(data) > room:
            lost += 1
            continue
        parts.append(data)
        room -= len(data)
    if not lost:
        return Addition(data=_joined(parts, already))
    line = f"{lost:,} of {len(documents):,} sections left out for size; the artifact has all of them."
    if room >= 0:
        parts.append(f"{line}\n".encode())
    return Addition(data=_joined(parts, already), warnings=((f"Job summary: {line}",),))


_RESERVE = 1000


def _joined(parts: Sequence[bytes], already: int) -> bytes:
    # What an earlier tool wrote may not end its last line.
    return (b"\n\n" if already and parts else b"") + b"\n".join(parts)


def _encoded(text: str) -> bytes:
    return text.rstrip("\n").encode("utf-8", "replace") + b"\n"


def _leaked(value: str, secrets: Mapping[str, str], redactor: Redactor) -> tuple[str, ...]:
    plain = {
        name for name, secret in secrets.items() if any(part and part in value for part in (secret.strip(), *_lines(secret)))
    }
    return tuple(sorted(plain | set(redactor.leaks(value.encode("utf-8", "replace")))))


def _lines(secret: str) -> list[str]:
    return [line.strip() for line in secret.splitlines()]


def _left_out(name: str, reason: str, secrets: Sequence[str]) -> Sentence:
    return (f"The output {name} is left empty: {reason}", Quoted(listed(secrets)) if secrets else "", ", see the results file.")
