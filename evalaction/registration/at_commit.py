"""A card and what it names as the blobs of another commit than HEAD. Nothing is read from the working tree or the index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalaction.errors import UsageError
from evalaction.method.canonical import sha256
from evalaction.method.card import Card
from evalaction.method.cards.parse import parse_card
from evalaction.method.exams.exam import check_question, load_exam
from evalaction.method.records import Break, Quoted
from evalaction.registration.causes import LFS, Committed, Moved
from evalaction.registration.collect import committed_below, committed_files
from evalaction.registration.frozen import Frozen, limit_of, named_files
from evalaction.registration.git import Commit, Git
from evalaction.registration.paths import CARD_BYTES, EXAM_BYTES, Place
from evalaction.registration.pins import broken_pins, pins
from evalaction.registration.programs import keyed, programs_at
from evalaction.schemas import load as load_schema

_WHY: Mapping[Committed, tuple[str, str]] = {
    "absent": ("missing", "is not in it"),
    "symlink": ("symlink", "is a symlink there, or lies behind one"),
    "submodule": ("submodule", "lies in a submodule there, whose files this repository does not hold"),
    "folder": ("missing", "is a folder there"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Defined:
    """What a card of one commit defines: its arms and endpoints with their files. The exam is not looked at."""

    commit: Commit
    card_path: str
    card: Card
    card_bytes: bytes
    files: Mapping[str, bytes]
    """Bytes by path as the card writes it."""


def card_at(git: Git, commit: Commit, card_path: str) -> tuple[bytes, Card]:
    """The card alone. Raises Moved where the commit has no such file of its own, SourceError for a card that cannot be read."""
    data = _read(git, commit, {card_path: CARD_BYTES})[card_path]
    return data, parse_card(data, file=card_path, schema=load_schema("card"))


def defined_at(git: Git, commit: Commit, card_path: str) -> Defined:
    """The card with the files that arms and endpoints name. Raises as `card_at` does."""
    data, card = card_at(git, commit, card_path)
    return Defined(
        commit=commit, card_path=card_path, card=card, card_bytes=data, files=_named(git, commit, _place(git, card_path), card)
    )


def frozen_at(git: Git, commit: Commit, card_path: str) -> Frozen:
    """Card, exam and every named file at `commit` (whose objects are in this clone), by the card's path below the root.

    Raises Moved, naming the commit, for a file that it does not hold as a regular file and for a hash of the card that its own
    blobs do not have; UsageError or SourceError where card or exam cannot be used.
    """
    held = defined_at(git, commit, card_path)
    card, place = held.card, _place(git, card_path)
    files = _exam_files(git, commit, place, card) | {
        path: held.files[path] for path, role in named_files(card).items() if role == "checker"
    }
    exam = load_exam(files, tasks=card.exam.tasks, checker=card.exam.checker)
    broken = tuple(broken_pins(card, pins(card, exam, files, files), files))
    if broken:
        raise Moved(tuple(_said(commit, one) for one in broken))
    check_question(card, exam)
    frozen = Frozen(
        root=git.root,
        commit=commit.oid,
        parents=commit.parents,
        card_path=card_path,
        card=card,
        card_bytes=held.card_bytes,
        card_sha256=sha256(held.card_bytes),
        exam=exam,
        files=held.files,
        warnings=exam.warnings,
    )
    frozen.texts()
    return frozen


def resolve_commit(git: Git, ref: str, *, ca_bundle: str | None = None) -> Commit:
    """The commit that a card's `control.ref` names, once for the whole run; a full SHA is fetched if it is not here.

    Raises UsageError with the remedy.
    """
    oid = git.resolve_ref(ref)
    if oid is None:
        raise UsageError(
            f"There is no branch or tag {ref!r} in this clone, which `arms.control.ref` names; set `fetch-depth: 0` at "
            "actions/checkout, or write a full SHA into the card.",
            code="ref",
        )
    try:
        return git.fetch_commit(oid, ca_bundle=ca_bundle)
    except UsageError as error:
        raise UsageError(
            f"Commit {oid[:12]}, which `arms.control.ref` names, is not in this clone and could not be fetched "
            f"({error.sentence}); set `fetch-depth: 0` at actions/checkout.",
            code="ref",
        ) from error


def _place(git: Git, card_path: str) -> Place:
    folder, _, name = card_path.rpartition("/")
    return Place(git.root, git, folder, name)


def _named(git: Git, commit: Commit, place: Place, card: Card) -> dict[str, bytes]:
    limits = {place.below(path): limit_of(role) for path, role in named_files(card).items()}
    files = {place.shown(path): data for path, data in _read(git, commit, limits).items()}
    return files | keyed(_regular(commit, programs_at(git, commit, place, card)))


def _exam_files(git: Git, commit: Commit, place: Place, card: Card) -> dict[str, bytes]:
    tasks = place.below(card.exam.tasks)
    found = committed_files(git, commit, {tasks: EXAM_BYTES})
    if found[tasks] == "folder":
        found = committed_below(git, commit, tasks)
    return {place.shown(path): data for path, data in _regular(commit, found).items()}


def _read(git: Git, commit: Commit, limits: Mapping[str, int]) -> dict[str, bytes]:
    return _regular(commit, committed_files(git, commit, limits))


def _regular(commit: Commit, found: Mapping[str, bytes | Committed]) -> dict[str, bytes]:
    """The files' bytes. Raises Moved with every one that has none of its own."""
    broken = tuple(_absence(commit, path, data) for path, data in found.items() if isinstance(data, str) or data.startswith(LFS))
    if broken:
        raise Moved(broken)
    return {path: data for path, data in found.items() if isinstance(data, bytes)}


def _absence(commit: Commit, path: str, found: bytes | Committed) -> Break:
    code, why = _WHY[found] if isinstance(found, str) else ("lfs_pointer", "is in Git LFS there, so the commit holds a pointer")
    return Break(code, ("Commit ", Quoted(commit.oid[:12]), ": ", Quoted(path), f" {why}."))


def _said(commit: Commit, broken: Break) -> Break:
    return Break(broken.code, ("Commit ", Quoted(commit.oid[:12]), ": ", *broken.sentence))
