"""Names of commits: a full SHA or a plain ref name, and nothing that git would have to calculate."""

from __future__ import annotations

import re

LONGEST = 250
_SHA = re.compile(r"[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
# The rules of git-check-ref-format(1), no `HEAD` and no one-letter `@`. What git itself thinks of the name is asked later.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\A[-./]|[./]\Z|/\.|\.lock(?=/|\Z)|\A(?:@|HEAD)\Z")


def full_sha(text: str) -> str | None:
    """A full object id in lower case; None for anything else."""
    return text.lower() if _SHA.fullmatch(text) else None


def is_name(text: str) -> bool:
    """False for what is no plain name of a branch or tag: `HEAD~1`, `main@{1}`, `:/fix`, `a..b`, `--upload-pack=…`."""
    return 0 < len(text) <= LONGEST and text.isprintable() and not _FORBIDDEN.search(text)
