"""The run folder: claimed once, locked while it is written, derived files replaced whole. The umask decides their modes."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evalaction.errors import UsageError

MANIFEST = "manifest.json"
REQUESTS = "requests.jsonl"
ROWS = "rows.jsonl"
DRAWS = "draws.jsonl"
"""In the place of the rows until a run that is judged apart has been judged; it stays beside them."""
JUDGING = "judging.json"
TEXTS = "texts.jsonl"
SUMS = "SHA256SUMS"
DERIVED = (
    "results.json", "rows.csv", "verdicts.csv", "comment.md", "summary.md", "report.html", "junit.xml", "badge.json", SUMS,
)  # fmt: skip


def create(folder: Path) -> None:
    """Make the run folder if it is not there. Raises UsageError when it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The run folder {folder} cannot be made: {error.strerror}.", code="run_dir") from error


def clear(folder: Path) -> None:
    """Take over an empty, locked run folder, or one that a refused or unchanged run left without rows.

    Raises UsageError when the folder holds anything else: a run is never overwritten.
    """
    held = {entry.name for entry in folder.iterdir()}
    if drawn := next((name.removesuffix(".jsonl") for name in (ROWS, DRAWS) if name in held), None):
        raise UsageError(
            f"The run folder {folder} already holds {drawn}; name another one with --run-dir, or finish it with --resume.",
            code="run_dir_in_use",
        )
    left = {name for name in held if not (name.startswith(".") and name.endswith(".part"))}
    if left and (MANIFEST not in left or not left <= {MANIFEST, REQUESTS, *DERIVED}):
        raise UsageError(f"The run folder {folder} is not empty; name another one with --run-dir.", code="run_dir_in_use")
    for name in held:
        (folder / name).unlink()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder against a second writer; the lock ends with the process. Raises UsageError when it is taken."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UsageError(f"There is no run folder {folder}; give the folder that `run` named.", code="run_dir") from error
    except OSError as error:
        raise UsageError(f"The run folder {folder} cannot be opened: {error.strerror}.", code="run_dir") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"Another process is writing the run in {folder}; wait for it to end.", code="run_dir_locked"
            ) from error
        except OSError as error:
            raise UsageError(f"The run folder {folder} cannot be locked: {error.strerror}.", code="run_dir") from error
        yield
    finally:
        os.close(handle)


def write_whole(path: Path, data: bytes | Iterable[bytes], *, durable: bool = True) -> None:
    """Replace a file in one step, so that nobody ever reads half of it. Raises UsageError when the disk refuses.

    durable: it survives a power cut. What can be derived again need not.
    """
    chunks = (data,) if isinstance(data, bytes) else data
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with beside.open("wb") as file:
                file.writelines(chunks)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            beside.replace(path)
            if durable:
                sync_folder(path.parent)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; the rows of the run are kept.", code="disk") from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(folder: Path) -> None:
    """SHA256SUMS over every other file of the run, in the form `sha256sum --check` reads."""
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file() and entry.name != SUMS and entry.name[0] != ".")
    lines = "".join(f"{file_sha256(folder / name)}  {name}\n" for name in names)
    write_whole(folder / SUMS, lines.encode(), durable=False)


def write_files(folder: Path, files: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write derived files and then the sums over all."""
    for name, data in files.items():
        write_whole(folder / name, data, durable=False)
    write_sums(folder)
