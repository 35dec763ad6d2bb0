"""A fork's pull request judged by a maintainer, on dispatch or label: base's card, exam, checks and action; of the head only the
files of the arms, read as blobs at the commit that the maintainer looked at. Nothing of the fork is checked out or run."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalaction import schemas
from evalaction.errors import UnregisteredError, UsageError
from evalaction.github import payload
from evalaction.github.replies import Refused
from evalaction.method.cards.parse import parse_card
from evalaction.method.question_changes import same_question
from evalaction.registration.causes import LFS
from evalaction.registration.frozen import limit_of, named_files
from evalaction.registration.git import REGULAR, SUBMODULE, SYMLINK
from evalaction.registration.paths import CARD_BYTES
from evalaction.registration.programs import program_paths, without_exam

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage
    from evalaction.github.api import Api
    from evalaction.registration.frozen import Frozen

MOST_ENTRIES = 100_000
_OF_ARMS = frozenset({"prompt", "route"})


def check_head(stage: Stage) -> None:
    """The pull request is open, of this repository, and its head is still the asked commit. Raises UsageError, or
    UnregisteredError (`head_moved`) where somebody has pushed since."""
    api, number, sha = _asked(stage)
    root = f"/repos/{quote(stage.context.repository)}"
    answer = api.request("GET", f"{root}/pulls/{number}", doing="show the pull request", needs=("pull-requests: read",))
    if isinstance(answer, Refused):
        raise UsageError(answer.sentence, code="pull_request")
    base = payload.repository(answer.data, "base", "repo", "full_name")
    if payload.text(answer.data, "state") != "open" or not payload.same_repository(base, stage.context.repository):
        raise UsageError(
            f"#{number} is not an open pull request of this repository; give the number of one.", code="pull_request"
        )
    head = payload.sha(answer.data, "head", "sha")
    if head != sha:
        raise UnregisteredError(
            f"The head of #{number} is {(head or 'gone')[:12]} and no longer {sha[:12]}, which was to be judged. Nothing was "
            "read. Look at the new commit, then label or dispatch again.",
            code="head_moved",
        )


def with_head_files(stage: Stage, frozen: Frozen) -> Frozen:
    """Base's frozen card with the arms' files as they are at the head. Raises UsageError for a file that cannot be read so."""
    api, _, sha = _asked(stage)
    folder = frozen.card_path.rpartition("/")[0]
    trees: dict[str, Mapping[str, Any]] = {}
    files = dict(frozen.files)
    for path, role in named_files(frozen.card).items():
        if role in _OF_ARMS:
            whole = f"{folder}/{path}" if folder else path
            files[path] = _blob(api, stage.context.repository, sha, whole, limit=limit_of(role), trees=trees)
    head = replace(frozen, files=files, commit=sha, parents=())
    head.texts()
    return head


def changes_card(stage: Stage, frozen: Frozen) -> bool:
    """Whether the head's card is another one than base's, or cannot be read. Words that judge nothing do not count."""
    api, _, sha = _asked(stage)
    path = frozen.card_path
    try:
        data = _blob(api, stage.context.repository, sha, path, limit=CARD_BYTES, trees={})
        card = parse_card(data, file=path, schema=schemas.load("card"))
    except UsageError:
        return True
    base = frozen.card
    return (card.arms, card.control, card.endpoints) != (base.arms, base.control, base.endpoints) or not same_question(base, card)


def changes_program(stage: Stage, frozen: Frozen) -> bool:
    """Whether the program of an endpoint has other files at the head than here, or they cannot be listed. It is never run."""
    declared = program_paths(frozen.card)
    if not declared:
        return False
    api, _, sha = _asked(stage)
    try:
        there = {path: entry["sha"] for path, entry in files_by_api(api, stage.context.repository, sha).items()}
    except UsageError:
        return True
    here = {path: entry.oid for path, entry in stage.git.files(stage.head).items() if entry.mode in REGULAR}

    def programs(files: Mapping[str, str]) -> Mapping[str, str]:
        inside = {f"/{path}": oid for path, oid in files.items() if any(f"{path}/".startswith(f"{one}/") for one in declared)}
        return without_exam(inside, frozen)

    return programs(there) != programs(here)


def files_by_api(api: Api, repository: str, sha: str) -> dict[str, Mapping[str, Any]]:
    """Every entry of a commit by its path, for a checkout that does not hold it. Raises UsageError."""
    tree = _tree(api, repository, sha, {}, recursive=True)
    return {path: entry for path, entry in tree.items() if entry["mode"].rjust(6, "0") in REGULAR}


def content_by_api(api: Api, repository: str, oid: str, limit: int) -> bytes | None:
    """The blob, if it is what its id says and no larger than `limit` bytes. Raises UsageError."""
    return _content(api, repository, oid, limit)


def _asked(stage: Stage) -> tuple[Api, int, str]:
    if stage.asked_number is None or stage.asked_sha is None:
        raise UsageError(
            "Give both inputs pull-request and head-sha: the commit you looked at is the one that is judged.", code="input"
        )
    if stage.api is None:
        raise UsageError("Judging a pull request of a fork needs the github-token.", code="input")
    return stage.api, stage.asked_number, stage.asked_sha


def _blob(api: Api, repository: str, sha: str, path: str, *, limit: int, trees: dict[str, Mapping[str, Any]]) -> bytes:
    *folders, name = path.split("/")
    tree = sha
    for folder in folders:
        entry = _entry(_tree(api, repository, tree, trees), folder, path)
        if entry["mode"].rjust(6, "0") != "040000":
            raise _refused(path, "a part of its path is no folder")
        tree = entry["sha"]
    entry = _entry(_tree(api, repository, tree, trees), name, path)
    mode = entry["mode"].rjust(6, "0")
    if mode not in REGULAR:
        raise _refused(path, {SYMLINK: "it is a symbolic link", SUBMODULE: "it is a submodule"}.get(mode, "it is no file"))
    size = entry.get("size")
    if not isinstance(size, int) or size > limit:
        raise _refused(path, f"it has over {limit:,} bytes")
    data = _content(api, repository, entry["sha"], limit)
    if data is None:
        raise _refused(path, "GitHub did not give its content")
    if data.startswith(LFS):
        raise _refused(path, "it is a Git LFS pointer, not the text")
    return data


def _tree(
    api: Api, repository: str, sha: str, trees: dict[str, Mapping[str, Any]], *, recursive: bool = False
) -> Mapping[str, Any]:
    if sha not in trees:
        answer = api.request(
            "GET",
            f"/repos/{quote(repository)}/git/trees/{sha}",
            doing="show the files of a commit",
            params={"recursive": "1"} if recursive else None,
            needs=("contents: read",),
        )
        if isinstance(answer, Refused):
            raise UsageError(answer.sentence, code="head_files")
        entries = answer.data.get("tree") if isinstance(answer.data, dict) else None
        if not isinstance(entries, list) or len(entries) > MOST_ENTRIES or answer.data.get("truncated"):
            raise UsageError("A folder of the commit has too many entries to be read.", code="head_files")
        trees[sha] = {entry["path"]: entry for entry in entries if _is_entry(entry)}
    return trees[sha]


def _is_entry(entry: object) -> bool:
    return payload.sha(entry, "sha") is not None and all(isinstance(payload.at(entry, name), str) for name in ("path", "mode"))


def _entry(tree: Mapping[str, Any], name: str, path: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = tree.get(name)
    if found is None:
        raise _refused(path, "it is not there; base's card names it")
    return found


def _content(api: Api, repository: str, oid: str, limit: int) -> bytes | None:
    """The blob, if what comes back is the content of that object id."""
    answer = api.request(
        "GET", f"/repos/{quote(repository)}/git/blobs/{oid}", doing="show a file of a commit", needs=("contents: read",)
    )
    if isinstance(answer, Refused):
        raise UsageError(answer.sentence, code="head_files")
    text = payload.at(answer.data, "content")
    if not isinstance(text, str) or len(text) > 2 * limit + 1024 or payload.at(answer.data, "encoding") != "base64":
        return None
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (ValueError, binascii.Error):
        return None
    kind = hashlib.sha1 if len(oid) == 40 else hashlib.sha256
    held = kind(f"blob {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()
    return data if held == oid and len(data) <= limit else None


def _refused(path: str, why: str) -> UsageError:
    return UsageError(f"{path} at the pull request's head cannot be judged: {why}.", code="head_files")
