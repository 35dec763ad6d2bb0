"""The one message that decides: written by the check's side to a file that the candidate never sees, then the process ends."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Literal, NoReturn, TypeAlias

from evalaction.checks.inside.channel import pack

Word: TypeAlias = Literal["pass", "fail", "error"]
EXITS: dict[Word, int] = {"pass": 0, "fail": 1, "error": 2}
REASON_LENGTH = 4_000
"""Far more than is shown: a cut could leave half of a secret, which no search finds."""


class Verdict:
    """`nonce` is fresh for each check: nothing that was written before it was known can contain it."""

    def __init__(self, file: int, nonce: str) -> None:
        self._file = file
        self._nonce = nonce

    def end(self, word: Word, reason: str = "") -> NoReturn:
        """Say it and end at once: an exception could be caught by the check."""
        os.write(self._file, pack([self._nonce, word, reason[:REASON_LENGTH]]))
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(EXITS[word])
