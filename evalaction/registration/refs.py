"""Names of commits that a person or a workflow writes: a full SHA or a plain ref name, and nothing that git would calculate."""

from __future__ import annotations

from evalaction.errors import UsageError
from evalaction.method.reading.refs import LONGEST, full_sha, is_name

__all__ = ["candidates", "check_name", "full_sha"]


def check_name(name: str) -> None:
    """Raises UsageError for what is no plain name of a ref: `HEAD~1`, `main@{1}`, `:/fix`, `--upload-pack=…`."""
    if not is_name(name):
        raise UsageError(
            f"{name[:LONGEST]!r} does not name a commit; give a full SHA, a branch or a tag, without ~, ^, : or @{{ .", code="ref"
        )


def candidates(name: str) -> tuple[str, ...]:
    """The full names that a short one may stand for: tag, branch here, branch at origin or at a remote that is named."""
    if name.startswith("refs/"):
        return (name,)
    return (f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/origin/{name}", f"refs/remotes/{name}")
