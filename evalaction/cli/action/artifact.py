"""The folder of a downloaded artifact, taken as hostile: bounded, its links not followed, copied before anything is believed.

Of it only `cards.json` and some files of each card's folder are read. What they say about outcomes, Markdown or addresses counts
for nothing.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalaction.cli.action.results import CARDS, FORMAT
from evalaction.engine.folder import DRAWS, JUDGING, MANIFEST, ROWS, TEXTS, create, write_whole
from evalaction.engine.manifest import REFUSAL_FORMAT
from evalaction.errors import EvalactionError, Outcome, UnregisteredError, UsageError
from evalaction.github.shown import restore_lines
from evalaction.method.reading.strict_json import loads
from evalaction.method.records import Sentence

MOST_ENTRIES = 5_000
MOST_CARDS = 100
TOTAL_BYTES = 1 << 30
_LIMITS = {
    CARDS: 4 << 20, MANIFEST: 64 << 20, DRAWS: 512 << 20, ROWS: 512 << 20, JUDGING: 1 << 20, TEXTS: TOTAL_BYTES,
}  # fmt: skip
_CHUNK = 1 << 20
REFUSALS: dict[Outcome, type[EvalactionError]] = {
    Outcome.USAGE: UsageError,
    Outcome.UNREGISTERED: UnregisteredError,
    Outcome.INTERNAL: EvalactionError,
}
_TOLD = "The drawing job refused this card before anything was drawn; its summary says why."
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,119}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """One card of an artifact, by what it says of itself."""

    card: str
    folder: Path | None
    """Of ours, with the copies of its files."""
    question_digest: str | None
    refused: Outcome | None = None
    """The drawing job says that it refused the card before it could be read."""
    said: tuple[Sentence, ...] = ()
    """What the drawing job found out beside the run; shown only where its digest vouches for it."""

    def refuse(self) -> None:
        """Raise the refusal of the drawing job, if there was one."""
        if self.refused is not None:
            raise REFUSALS[self.refused](_TOLD)


def read_artifact(source: Path, target: Path, names: Sequence[str]) -> tuple[bytes, tuple[Received, ...]]:
    """`cards.json`, and the cards in it with copies of these files of each, as far as they are there, below `target`.

    Raises UsageError (`artifact`, `run_dir`) for a folder that is not of this form.
    """
    _check_entries(source)
    listed = _read(source / CARDS, CARDS)
    return listed, tuple(_cards(source, target, listed, names))


def _check_entries(source: Path) -> None:
    """Names, kinds, number and sizes of all entries, before any is opened. Links are not followed."""
    entries = total = 0
    try:
        for entry in _walk(source, depth=0):
            entries += 1
            mode = entry.stat(follow_symlinks=False)
            total += mode.st_size if stat.S_ISREG(mode.st_mode) else 0
            if not (stat.S_ISREG(mode.st_mode) or stat.S_ISDIR(mode.st_mode)) or not _NAME.fullmatch(entry.name):
                raise _odd("it holds a link, or a name that no file of ours has")
            if entries > MOST_ENTRIES or total > TOTAL_BYTES:
                raise _odd(f"it has over {MOST_ENTRIES:,} entries or over 1 GiB")
    except OSError as error:
        raise UsageError(
            f"The run folder cannot be read: {error.strerror}; download the artifact first.", code="run_dir"
        ) from error


def _walk(folder: Path, *, depth: int) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                if depth > 0:
                    raise _odd("it has folders within folders")
                yield from _walk(Path(entry.path), depth=depth + 1)


def _cards(source: Path, target: Path, data: bytes, names: Sequence[str]) -> Iterator[Received]:
    try:
        listed = loads(data.decode())
    except (ValueError, RecursionError):
        raise _odd(f"its {CARDS} is not strict JSON") from None
    cards = listed.get("cards") if isinstance(listed, dict) and listed.get("format") == FORMAT else None
    if not isinstance(cards, list) or not 0 < len(cards) <= MOST_CARDS:
        raise _odd(f"its {CARDS} is not in the form {FORMAT}")
    seen = set()
    for card in cards:
        entry = card if isinstance(card, dict) else {}
        path, name, held = entry.get("card"), entry.get("folder"), entry.get("question_digest")
        if not isinstance(path, str) or not 0 < len(path) <= 300 or not path.isprintable() or path in seen:
            raise _odd("a card in it has no path, or the path of another")
        seen.add(path)
        question = held if isinstance(held, str) and _DIGEST.fullmatch(held) else None
        folder = None if name is None else _copied(source, target, name, names)
        outcome = _refusal(entry.get("outcome"), folder)
        said = restore_lines(entry.get("said", []))
        yield Received(card=path, folder=folder, question_digest=question, refused=outcome, said=said)


def _refusal(outcome: object, folder: Path | None) -> Outcome | None:
    """A refusal is believed, since it always fails the job; a verdict is not, it is derived."""
    said = next((one for one in REFUSALS if one.value == outcome), None)
    if folder is None:
        return said
    head = (folder / MANIFEST).read_bytes()[:4096]
    return (said or Outcome.USAGE) if REFUSAL_FORMAT.encode() in head else None


def _copied(source: Path, target: Path, name: object, names: Sequence[str]) -> Path:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not (source / name).is_dir():
        raise _odd("a card in it names a folder that is not there")
    folder = target / name
    if folder.exists():
        raise _odd("two cards in it name one folder")
    create(folder)
    write_whole(folder / MANIFEST, _read(source / name / MANIFEST, MANIFEST))
    for kind in names:
        if os.path.lexists(source / name / kind):
            write_whole(folder / kind, _pieces(source / name / kind, kind))
    return folder


def _read(path: Path, kind: str) -> bytes:
    return b"".join(_pieces(path, kind))


def _pieces(path: Path, kind: str) -> Iterator[bytes]:
    """A regular file's bytes, within its bound."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _odd(f"{kind} cannot be read ({error.strerror})") from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _odd(f"{kind} is no file")
        room = _LIMITS[kind]
        while chunk := file.read(_CHUNK):
            room -= len(chunk)
            if room < 0:
                raise _odd(f"{kind} has over {_LIMITS[kind]:,} bytes")
            yield chunk


def _odd(why: str) -> UsageError:
    return UsageError(f"The artifact is not one of this action: {why}.", code="artifact")
