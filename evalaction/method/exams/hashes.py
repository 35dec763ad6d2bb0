"""The three digests that freeze an exam (method, registration): 64 lower-case hex digits each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalaction.method.canonical import sha256


def folder_digest(digests: Iterable[str]) -> str:
    """Over the sorted hex digests of the item files, joined with a line feed: renaming a file does not change it."""
    return sha256("\n".join(sorted(digests)).encode())


def ids_digest(items: Iterable[tuple[str, str, str | None]]) -> str:
    """Over the sorted lines `id TAB sha256 of the item TAB sha256 of its check file, or -`, joined with a line feed."""
    lines = (f"{item_id}\t{item}\t{check or '-'}".encode() for item_id, item, check in items)
    return sha256(b"\n".join(sorted(lines)))


def other_files_digest(files: Mapping[str, bytes], checker: bytes | None = None) -> str | None:
    """Over the sorted lines `path TAB sha256` of the files that are not items, joined with a line feed; None without any.

    Paths are relative to the folder of the exam. The exam's Python checker, wherever it lies, has a line with an empty path,
    so that no other file of the folder can take its place.
    """
    lines = [f"{path}\t{sha256(data)}".encode() for path, data in files.items()]
    if checker is not None:
        lines.append(f"\t{sha256(checker)}".encode())
    return sha256(b"\n".join(sorted(lines))) if lines else None
