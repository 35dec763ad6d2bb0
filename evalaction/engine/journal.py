"""The journal of a run: `rows.jsonl`, one whole line per finished draw, with the kept texts beside it and a seal at its end.

A run that is judged apart is drawn into `draws.jsonl` in the same form.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evalaction.engine.folder import ROWS, TEXTS, sync_folder
from evalaction.errors import UsageError


def _number(value: object) -> float:
    """A reply's number with a point is a Decimal; in a kept trace its nearest double stands."""
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"not JSON: {type(value).__name__}")


_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_number)
_ESCAPED = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_number)


def line_of(value: Mapping[str, Any]) -> bytes:
    """One JSON line; text that UTF-8 cannot hold (a lone surrogate) is written as its escape."""
    try:
        return _PLAIN.encode(value).encode() + b"\n"
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode() + b"\n"


class Journal:
    """Appends to a locked run folder. Lines are handed to the kernel before `add` returns, so a killed process loses none."""

    def __init__(self, folder: Path, *, written: int = 0, name: str = ROWS) -> None:
        """Open the file `name` for appending after `written` rows. Raises UsageError when the folder cannot be written."""
        self.written = written
        self.sealed = False
        self._folder = folder
        self._digest = hashlib.sha256()
        self._texts: _File | None = None
        path = folder / name
        self._rows = _File(path)
        try:
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    self._digest.update(chunk)
            sync_folder(folder)
        except OSError as error:
            self._rows.close()
            raise _refusal(path, error, written) from error

    def add(self, row: Mapping[str, Any], text: Mapping[str, Any] | None = None) -> None:
        """Append one finished draw; see `add_lines`."""
        self.add_lines([(line_of(row), b"" if text is None else line_of(text))])

    def add_lines(self, draws: Sequence[tuple[bytes, bytes]]) -> None:
        """Append finished draws, each a row's line and its text's line (empty: none is kept), in one go.

        The texts come first, so that no row ever lacks its own. Raises UsageError when the disk refuses; the draws that still
        fit are kept then, the files end with a whole line and the run stays unsealed.
        """
        if self.sealed:
            raise ValueError("the journal is sealed")
        texts = b"".join(text for _, text in draws)
        if texts and self._texts is None:
            self._texts = _File(self._folder / TEXTS)
        before = self._texts.size if self._texts else 0
        try:
            if texts and self._texts:
                self._append(self._texts, texts)
            rows = b"".join(row for row, _ in draws)
            self._append(self._rows, rows)
        except UsageError:
            if self._texts:
                self._texts.cut(before)
            if len(draws) == 1:
                raise
            for draw in draws:
                self.add_lines([draw])
        else:
            self._digest.update(rows)
            self.written += len(draws)

    def seal(self, *, planned: int, sent: int, ended: str, ms: int) -> None:
        """Append the last line: the sha256 of every byte before it and the counts. Raises UsageError as `add` does."""
        self.sync()
        counts = {"planned": planned, "sent": sent, "written": self.written, "ended": ended, "ms": ms}
        self._append(self._rows, line_of({"seal": {"sha256": self._digest.hexdigest(), **counts}}))
        self.sealed = True
        self.sync()

    def sync(self) -> None:
        """Force everything written so far to the disk. Raises UsageError when the disk refuses."""
        for file in (self._texts, self._rows):
            if file is not None:
                try:
                    file.sync()
                except OSError as error:
                    raise _refusal(file.path, error, self.written) from error

    def close(self) -> None:
        for file in (self._texts, self._rows):
            if file is not None:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _append(self, file: _File, lines: bytes) -> None:
        try:
            file.append(lines)
        except OSError as error:
            raise _refusal(file.path, error, self.written) from error


class _File:
    """An append-only file of whole lines: what does not fit is taken back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise _refusal(path, error, 0) from error
        self.size = os.fstat(self._handle).st_size

    def append(self, lines: bytes) -> None:
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            self.cut(self.size)
            raise
        self.size += len(lines)

    def cut(self, size: int) -> None:
        os.ftruncate(self._handle, size)
        self.size = size

    def sync(self) -> None:
        os.fsync(self._handle)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _refusal(path: Path, error: OSError, kept: int) -> UsageError:
    return UsageError(
        f"{path} cannot be written: {error.strerror}; {kept} rows are kept and nothing was overwritten. "
        "Make room, then finish the run with --resume.",
        code="disk",
    )
