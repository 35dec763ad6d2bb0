"""Names of commits that a person or a workflow writes: a full SHA or a plain ref name, and nothing that git would calculate."""

from __future__ import annotations

import re

from evalaction.errors import UsageError

FULL_SHA = re.compile(r"[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
LONGEST = 250
# The rules of git-check-ref-format(1), and no one-letter `@`. What git itself thinks of the name is asked as well.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\A[-./]|[./]\Z|/\.|\.lock(?=/|\Z)|\A@\Z")


def full_sha(text: str) -> str | None:
    """A full object id in lower case; None for anything else."""
    return text.lower() if FULL_SHA.fullmatch(text) else None


def check_name(name: str) -> None:
    """Raises UsageError for what is no plain name of a ref: `HEAD~1`, `main@{1}`, `:/fix`, `--upload-pack=…`."""
    if not name or len(name) > LONGEST or _FORBIDDEN.search(name) or not name.isprintable():
        raise UsageError(
            f"{name[:LONGEST]!r} does not name a commit; give a full SHA, a branch or a tag, without ~, ^, : or @{{ .", code="ref"
        )


def candidates(name: str) -> tuple[str, ...]:
    """The full names that a short one may stand for: tag, branch here, branch at origin or at a remote that is named."""
    if name.startswith("refs/"):
        return (name,)
    return (f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/origin/{name}", f"refs/remotes/{name}")
