"""The history on a branch of its own, through GitHub's git data: blobs, a tree, a commit, and the branch moved on, never forced.

The caller's checkout is not touched. Where somebody else was faster everything is read and tried again, a few times; runs lie in
places of their own, so that all of them land. A branch without our marker at its root is somebody's work and is left alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalaction.errors import SourceError
from evalaction.github import payload
from evalaction.github.replies import Ok, Refused
from evalaction.method.series.entry import Entry
from evalaction.method.series.entry_json import read_entry
from evalaction.method.series.places import MARKER, MAX_ENTRY, Place, marker_file, read_place

if TYPE_CHECKING:
    from evalaction.github.api import Api, Method

READS = ("contents: read",)
WRITES = ("contents: write",)
TRIES = 12
"""How often the branch may have moved on while we wrote: in each round one of those who write at once lands."""
BLOCK = 50
"""Of a series the newest 50 to 99 runs are read, a request each of the 1,000 an hour that a job's token has for its repository.

What is left out goes fifty at a time, so that drift has a fixed start.
"""
INLINE = 256 << 10
"""Bytes of a file that goes with its tree: a request less, of those that GitHub wants a second apart."""
_WRITE = "write the history"
_READ = "show the history"


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """Where the history lies."""

    api: Api
    root: str
    """`/repos/owner/name`"""
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tip:
    """What the branch holds now. Without a commit there is no such branch yet."""

    commit: str | None = None
    tree: str | None = None
    cards: Mapping[str, str] = field(default_factory=dict)
    """Folder of a card to its tree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Past:
    """Earlier runs of one card: those of the series asked for, and the newest run of another series before it."""

    entries: tuple[Entry, ...] = ()
    left_out: int = 0
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class _Blob:
    sha: str
    size: int


def find_branch(api: Api, repository: str, name: str) -> Ok[Branch] | Refused:
    """The branch, unless it is the default one."""
    from evalaction.github.api import repo_path

    root = repo_path(repository)
    if root is None:
        return _refused("the repository has no name that can be asked for")
    answer = api.request("GET", root, doing=_READ, needs=READS)
    if isinstance(answer, Refused):
        return answer
    default = payload.text(answer.data, "default_branch")
    if default is None or name == default:
        return _refused(f"{name!r} is the default branch; name another one in the input history")
    return Ok(Branch(api=api, root=root, name=name))


def look(branch: Branch) -> Ok[Tip] | Refused:
    """What is there now. Refused for a protected branch and for one without our marker."""
    answer = branch.api.request("GET", f"{branch.root}/branches/{quote(branch.name, safe='')}", doing=_READ, needs=READS)
    if isinstance(answer, Refused):
        return Ok(Tip()) if answer.status == 404 else answer
    commit, tree = payload.sha(answer.data, "commit", "sha"), payload.sha(answer.data, "commit", "commit", "tree", "sha")
    if payload.at(answer.data, "protected") is not False:
        return _refused(f"the branch {branch.name!r} is protected; name one that is not in the input history")
    if commit is None or tree is None:
        return _unreadable()
    listed = _tree(branch, tree, recursive=False)
    if isinstance(listed, Refused):
        return listed
    marker = listed.data.get(MARKER)
    if marker is None or marker.get("sha") != _blob_sha(marker_file()):
        return _refused(
            f"the branch {branch.name!r} holds no {MARKER} of ours at its root; name a branch that does not exist, and it is made"
        )
    cards = {path: sha for path, one in listed.data.items() if one.get("type") == "tree" and (sha := payload.sha(one, "sha"))}
    return Ok(Tip(commit=commit, tree=tree, cards=cards))


def read(branch: Branch, tip: Tip, *, card: str, series: str) -> Ok[Past] | Refused:
    """The runs of one card's series. What lies there is untrusted: bounded, and what is none of ours is counted and left out."""
    tree = tip.cards.get(card)
    if tree is None:
        return Ok(Past())
    listed = _tree(branch, tree, recursive=True)
    if isinstance(listed, Refused):
        return listed
    blobs = _entries(card, listed.data)
    own = sorted(place for place in blobs if place.series == series)
    others = [place for place in blobs if place.series != series]
    newest = max(others, key=lambda place: (place.day, place.run), default=None)
    left_out = max(0, len(own) - BLOCK) // BLOCK * BLOCK
    wanted = [*own[left_out:], *([newest] if newest else [])]
    entries: list[Entry] = []
    damaged = 0
    for place in wanted:
        found = _entry(branch, place, blobs[place])
        if isinstance(found, Refused):
            return found
        damaged += found.data is None
        entries += [found.data] if found.data else []
    return Ok(Past(entries=tuple(entries), left_out=left_out, damaged=damaged))


def append(branch: Branch, files: Mapping[str, bytes], *, message: str) -> Ok[str] | Refused:
    """Add files in one commit, whose id is returned. `message` holds numbers and words of ours alone.

    A file that is there already with the same bytes is done; with others it is refused: nothing is ever changed.
    """
    for data in (data for data in files.values() if len(data) > INLINE):
        made = _made(branch, "blobs", {"content": base64.b64encode(data).decode(), "encoding": "base64"})
        if isinstance(made, Refused):
            return made
    outcome: Ok[str] | Refused = _refused("the branch did not stand still")
    for attempt in range(TRIES):
        if attempt and not branch.api.pause(wait_s(files, attempt)):
            break
        tip = look(branch)
        if isinstance(tip, Refused):
            return tip
        outcome = _moved(branch, tip.data, files, message)
        if isinstance(outcome, Ok) or not _again(outcome):
            break
    return outcome


def wait_s(paths: Iterable[str], attempt: int) -> float:
    """Seconds before a further try, longer each time, and for each run another: the legs of a matrix must not meet again."""
    lot = hashlib.sha256(f"{attempt} {sorted(paths)}".encode()).digest()[:4]
    return attempt * (0.5 + int.from_bytes(lot) / 2**32)


def _moved(branch: Branch, tip: Tip, files: Mapping[str, bytes], message: str) -> Ok[str] | Refused:
    """The branch one commit further; or where it is, if all files are there already."""
    if tip.commit is not None:
        there = _there(branch, tip, files)
        if isinstance(there, Refused):
            return there
        if there.data:
            return Ok(tip.commit)
    commit = _committed(branch, tip, files, message)
    if isinstance(commit, Refused):
        return commit
    method: Method
    body: dict[str, Any]
    if tip.commit is None:
        method, path, body = "POST", "refs", {"ref": f"refs/heads/{branch.name}"}
    else:
        method, path, body = "PATCH", f"refs/heads/{quote(branch.name)}", {"force": False}
    answer = branch.api.request(method, f"{branch.root}/git/{path}", doing=_WRITE, body=body | {"sha": commit.data}, needs=WRITES)
    return answer if isinstance(answer, Refused) else commit


def _committed(branch: Branch, tip: Tip, files: Mapping[str, bytes], message: str) -> Ok[str] | Refused:
    if tip.commit is None:
        files = {**files, MARKER: marker_file()}
    entries = [{"path": path, "mode": "100644", "type": "blob", **_content(data)} for path, data in files.items()]
    tree = _made(branch, "trees", {"tree": entries} | ({"base_tree": tip.tree} if tip.tree else {}))
    if isinstance(tree, Refused):
        return tree
    parents = [tip.commit] if tip.commit else []
    return _made(branch, "commits", {"message": message, "tree": tree.data, "parents": parents})


def _content(data: bytes) -> dict[str, str]:
    """A small file goes with its tree, a large one is a blob already. All of ours are UTF-8."""
    return {"content": data.decode()} if len(data) <= INLINE else {"sha": _blob_sha(data)}


def _made(branch: Branch, kind: str, body: Mapping[str, Any]) -> Ok[str] | Refused:
    """The id of a git object. It follows from its content, so that a second try after a doubtful one makes nothing twice."""
    path = f"{branch.root}/git/{kind}"
    answer = branch.api.request("POST", path, doing=_WRITE, body=body, needs=WRITES)
    if isinstance(answer, Refused) and answer.uncertain and branch.api.pause(1.0):
        answer = branch.api.request("POST", path, doing=_WRITE, body=body, needs=WRITES)
    if isinstance(answer, Refused):
        return answer
    sha = payload.sha(answer.data, "sha")
    return Ok(sha) if sha else _unreadable()


def _there(branch: Branch, tip: Tip, files: Mapping[str, bytes]) -> Ok[bool] | Refused:
    """Whether all files are there. Refused where another file lies in the place of one."""
    found = 0
    for path, data in files.items():
        card, _, rest = path.partition("/")
        if card not in tip.cards:
            return Ok(False)
        listed = _tree(branch, tip.cards[card], recursive=True)
        if isinstance(listed, Refused):
            return listed
        held = listed.data.get(rest)
        if held is not None and held.get("sha") != _blob_sha(data):
            return _refused("another run lies in its place, and a history is never changed")
        found += held is not None
    return Ok(found == len(files))


def _again(refused: Refused) -> bool:
    """The branch moved meanwhile, was made meanwhile, or nobody said whether it moved."""
    return refused.status in {409, 422} or refused.uncertain


def _entries(card: str, listed: Mapping[str, Mapping[str, Any]]) -> dict[Place, _Blob]:
    found = {}
    for path, one in listed.items():
        place, sha, size = read_place(f"{card}/{path}"), payload.sha(one, "sha"), payload.at(one, "size")
        if place and sha and one.get("type") == "blob" and one.get("mode") == "100644" and isinstance(size, int):
            found[place] = _Blob(sha, size)
    return found


def _entry(branch: Branch, place: Place, blob: _Blob) -> Ok[Entry | None] | Refused:
    """None: it is none of ours."""
    if blob.size > MAX_ENTRY:
        return Ok(None)
    answer = branch.api.request("GET", f"{branch.root}/git/blobs/{blob.sha}", doing=_READ, needs=READS)
    if isinstance(answer, Refused):
        return answer
    content = payload.at(answer.data, "content")
    try:
        data = base64.b64decode(content if isinstance(content, str) else "", validate=False)
        return Ok(read_entry(data, path=place.path) if _blob_sha(data) == blob.sha else None)
    except (SourceError, binascii.Error):
        return Ok(None)


def _tree(branch: Branch, sha: str, *, recursive: bool) -> Ok[dict[str, Mapping[str, Any]]] | Refused:
    """Path to entry. A list that GitHub cut is none."""
    params: Mapping[str, str] | None = {"recursive": "1"} if recursive else None
    answer = branch.api.request("GET", f"{branch.root}/git/trees/{sha}", doing=_READ, params=params, needs=READS)
    if isinstance(answer, Refused):
        return answer
    if payload.at(answer.data, "truncated") is not False:
        return _refused("the history is too long for one answer of GitHub's; name a new branch in the input history")
    listed = payload.at(answer.data, "tree")
    entries: Sequence[Any] = listed if isinstance(listed, list) else ()
    return Ok({path: one for one in entries if (path := payload.text(one, "path"))})


def _blob_sha(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _refused(why: str) -> Refused:
    return Refused(status=None, kind="rejected", sentence=f"The history is left alone: {why}.")


def _unreadable() -> Refused:
    return Refused(status=None, kind="server", sentence=f"GitHub did not {_READ}: its answer cannot be read; run again later.")
