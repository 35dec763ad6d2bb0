"""The first line of our comment: by it a later run finds the comment again, and takes no other for it."""

from __future__ import annotations

from evalaction.method.canonical import digest


def key_of(*parts: str) -> str:
    """64 hex digits for one comment: its workflow and `comment-key`. Hashed, so that no key is the beginning of another."""
    return digest(list(parts))


def marker(key: str) -> str:
    """The whole line, its closing ` -->` included. Raises ValueError for a key that is not from `key_of`."""
    if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise ValueError("the key of a comment is 64 lower-case hex digits")
    return f"<!-- evalaction:comment {key} -->"


def is_marked(body: str, key: str) -> bool:
    return body.startswith(marker(key))


def marked(body: str, key: str) -> str:
    """The body with its marker on the first line, whether it had one or not."""
    return body if is_marked(body, key) else f"{marker(key)}\n{body}"
