"""Files that an imported configuration names: read only below the folder that it lies in or that the command was started in."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from evalaction.errors import UsageError
from evalaction.importers.imported import NotCarried

MAX_BYTES = 64 * 1024 * 1024


def read_source(path: Path, *, shown: str) -> bytes:
    """The file that the user named. Raises UsageError."""
    try:
        return _bounded(path)
    except NotCarried as error:
        raise UsageError(f"{shown} {error.why}.") from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearby:
    """Reads by path relative to the configuration's folder."""

    folder: Path
    roots: tuple[Path, ...]

    @classmethod
    def of(cls, source: Path, cwd: Path) -> Nearby:
        return cls(folder=source.parent.resolve(), roots=(source.parent.resolve(), cwd.resolve()))

    def __call__(self, path: str) -> bytes:
        """Raises NotCarried for a file that is not there, too large, no file, or outside of both folders."""
        try:
            place = (self.folder / path).resolve()
        except (OSError, ValueError, RuntimeError):
            raise NotCarried("is no path that can be read") from None
        if not any(place.is_relative_to(root) for root in self.roots):
            raise NotCarried("lies outside of the folder that the import was started in; start it in a folder above both")
        return _bounded(place)


def _bounded(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotCarried("is not a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotCarried("is not there") from None
    except (OSError, ValueError) as error:
        raise NotCarried(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_BYTES:
        raise NotCarried(f"has more than {MAX_BYTES:,} bytes")
    return data
