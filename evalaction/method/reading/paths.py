"""Which paths a card may name: relative, below its own folder or the repository's, the same on every system."""

from __future__ import annotations

from evalaction.method.reading.text import invisible, short

MAX_LENGTH = 500


def refusal(path: str, folder: str = "the card's folder") -> str | None:
    """Why a path below `folder` may not be used, as the end of a sentence; None for a good one."""
    if not path:
        return "is empty"
    if len(path) > MAX_LENGTH:
        return f"has more than {MAX_LENGTH} characters"
    bad = invisible(path)
    if bad:
        return f"holds {bad}, which cannot be seen"
    for character in "\\:":
        if character in path:
            return f"holds `{character}`; write parts with `/` between them"
    if path.startswith(("/", "~")):
        return f"must be relative to {folder}"
    return _part_refusal(path.split("/"), folder)


def _part_refusal(parts: list[str], folder: str) -> str | None:
    if "" in parts:
        return "has an empty part"
    if "." in parts or ".." in parts:
        return f"must not hold `.` or `..` parts; name a file below {folder}"
    git = next((part for part in parts if part.casefold().rstrip(". ") == ".git" or part.casefold() == "git~1"), None)
    return f"must not lead into `{short(git)}`" if git else None
