"""Why a frozen file is not what the commit says: one named cause a file, and the sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalaction.errors import UnregisteredError
from evalaction.method.records import Break, Quoted, Sentence
from evalaction.registration.paths import Absence

Committed: TypeAlias = Literal["absent", "symlink", "submodule", "folder", "elsewhere"]
Staged: TypeAlias = Literal["same", "other", "absent"]

BOM = b"\xef\xbb\xbf"
LFS = b"version https://git-lfs.github.com/spec/v1"

# code, and the sentence after the path; a cause that several observations share keeps one code.
_SENTENCES: Mapping[str, tuple[str, str]] = {
    "symlink": ("symlink", " is a symlink, or lies behind one; commit the file itself in its place."),
    "submodule": ("submodule", " lies in a submodule, which this commit does not hold; copy it into this repository."),
    "elsewhere": (
        "shallow",
        " is committed, but its content is not in this clone (a partial clone, or a damaged one); run `git fetch --refetch`, "
        "or check out without a filter.",
    ),
    "lfs": (
        "lfs_pointer",
        " is in Git LFS, so the commit holds only a pointer; run `git lfs untrack` on it and commit the file itself.",
    ),
    "folder": ("missing", " is a folder in the commit; name a file."),
    "new": ("uncommitted", " is staged but not committed; commit it."),
    "untracked": ("untracked", " is not tracked by git; add and commit it, or ignore it if the exam does not need it."),
    "missing": ("missing", " is neither in the commit nor in the working tree; correct the path or commit the file."),
    "deleted": ("missing", " is committed but gone from the working tree; restore it, or commit its removal."),
    "replaced": ("uncommitted", " is no longer a readable file in the working tree; restore it."),
    "bom": ("bom", " differs from the commit only by a byte order mark; save it as UTF-8 without one."),
    "line_endings": (
        "line_endings",
        " differs from the commit only in its line endings; add `-text` for it in .gitattributes and check it out again.",
    ),
    "edited": (
        "uncommitted",
        " has edits that are not committed; commit or undo them. Where `git status` shows none, a filter makes them: add "
        "`-filter -ident -working-tree-encoding` for it in .gitattributes.",
    ),
    "staged": ("uncommitted", " is staged with another content than the commit has; commit it or unstage it."),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FileState:
    """One file as the commit, the index and the working tree have it."""

    path: str
    """As the card writes it."""
    committed: bytes | Committed
    """`elsewhere`: the commit names a blob that this clone does not hold."""
    staged: Staged
    work: bytes | Absence


class Moved(UnregisteredError):
    """Something that was frozen has moved; `breaks` holds every cause that was found, the first one names the code."""

    def __init__(self, breaks: tuple[Break, ...]) -> None:
        super().__init__(" ".join(plain(one.sentence) for one in breaks), code=breaks[0].code)
        self.breaks = breaks


def cause(state: FileState) -> Break | None:
    """The one cause that explains a file best; None where commit, index and working tree agree."""
    seen = _seen(state)
    if seen is None:
        return None
    code, words = _SENTENCES[seen]
    return Break(code, (Quoted(state.path), words))


def plain(sentence: Sentence) -> str:
    """The sentence as text; quoted parts keep no character that could forge a line."""
    return "".join(part if isinstance(part, str) else _printable(part.text) for part in sentence)


def same_but_line_endings(one: bytes, other: bytes) -> bool:
    return one != other and one.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def _seen(state: FileState) -> str | None:
    if state.committed == "absent":
        return _seen_uncommitted(state)
    if isinstance(state.committed, str):
        return state.committed
    if state.committed.startswith(LFS):
        return "lfs"
    if isinstance(state.work, str):
        return {"missing": "deleted", "symlink": "symlink"}.get(state.work, "replaced")
    if state.work != state.committed:
        return _difference(state.committed, state.work)
    return None if state.staged == "same" else "staged"


def _seen_uncommitted(state: FileState) -> str:
    if state.work == "symlink":
        return "symlink"
    if state.staged != "absent":
        return "new"
    return "missing" if state.work == "missing" else "untracked"


def _difference(committed: bytes, work: bytes) -> str:
    if work.removeprefix(BOM) == committed.removeprefix(BOM):
        return "bom"
    return "line_endings" if same_but_line_endings(committed, work) else "edited"


def _printable(text: str) -> str:
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii") for char in text
    )
