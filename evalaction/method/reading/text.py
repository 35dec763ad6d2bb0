"""Bytes a user committed as text: UTF-8 without a byte order mark, placed errors, and characters that names may not hold."""

from __future__ import annotations

import unicodedata

from evalaction.errors import SourceError

_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def decode(data: bytes, *, file: str) -> str:
    """The text of a UTF-8 file. Raises SourceError for UTF-16, a byte order mark and bytes that are not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        raise SourceError("this file is UTF-16 or UTF-32; save it as UTF-8", file=file, line=1, column=1)
    if data.startswith(b"\xef\xbb\xbf"):
        raise SourceError("this file begins with a byte order mark; save it as UTF-8 without one", file=file, line=1, column=1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = position(before, len(before))
        sentence = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise SourceError(sentence, file=file, line=line, column=column) from None


def position(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of a character offset; lines end at a line feed only."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def invisible(text: str) -> str | None:
    """The first control, format, surrogate or separator character as `U+0007`; None when all can be seen."""
    for character in text:
        if unicodedata.category(character) in _INVISIBLE:
            return f"U+{ord(character):04X}"
    return None


def short(text: str, limit: int = 60) -> str:
    """`text` on one line and cut, for a sentence that quotes it."""
    shown = "".join(character if invisible(character) is None else "�" for character in text[: limit + 1])
    return shown if len(text) <= limit else shown[:limit] + "…"


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """`; did you mean `x`?` when one of the known words is near, else nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word[:80], known, n=1, cutoff=0.6)
    return f"; did you mean `{near[0]}`?" if near else ""
