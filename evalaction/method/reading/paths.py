"""Which paths a card may name: relative, below its own folder, the same on every system."""

from __future__ import annotations

from evalaction.method.reading.text import invisible, short

MAX_LENGTH = 500


def refusal(path: str) -> str | None:
    """Why a path may not be used, as the end of a sentence; None for a good one."""
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
        return "must be relative to the card's folder"
    return _part_refusal(path.split("/"))


def _part_refusal(parts: list[str]) -> str | None:
    if "" in parts:
        return "has an empty part"
    if "." in parts or ".." in parts:
        return "must not hold `.` or `..` parts; name a file below the card's folder"
    git = next((part for part in parts if part.casefold().rstrip(". ") == ".git" or part.casefold() == "git~1"), None)
    return f"must not lead into `{short(git)}`" if git else None
