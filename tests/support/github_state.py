"""What the stand-in for GitHub knows: accounts, repositories, pull requests, comments, statuses and git objects."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

TOKEN = "ghs_standin0123456789abcdefghijklmnopqrst"
BOT = "github-actions[bot]"
Entry = tuple[str, str, str]
"""(mode, type, sha)"""


@dataclass
class Comment:
    id: int
    number: int
    login: str
    body: str
    app: str | None = None
    at: int = 0


@dataclass
class Issue:
    number: int
    login: str
    title: str
    body: str
    app: str | None = None
    state: str = "open"
    state_reason: str | None = None
    at: int = 0


@dataclass
class Pull:
    number: int
    head_repo: str | None
    head_ref: str
    head_sha: str
    base_ref: str = "main"
    base_sha: str = "0" * 40
    state: str = "open"
    locked: bool = False
    merge_sha: str | None = None


@dataclass
class Repository:
    id: int
    full_name: str
    default_branch: str = "main"
    private: bool = False
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    """Names of protected branches."""
    statuses: list[dict[str, Any]] = field(default_factory=list)
    refs: dict[str, str] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, dict[str, Entry]] = field(default_factory=dict)
    commits: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add_blob(self, data: bytes) -> str:
        sha = git_sha("blob", data)
        self.blobs[sha] = data
        return sha

    def add_tree(self, entries: Mapping[str, Entry]) -> str:
        """A tree from full paths; folders become trees of their own."""
        here: dict[str, Entry] = {}
        below: dict[str, dict[str, Entry]] = {}
        for path, entry in entries.items():
            folder, _, rest = path.partition("/")
            if rest:
                below.setdefault(folder, {})[rest] = entry
            else:
                here[path] = entry
        here.update({name: ("040000", "tree", self.add_tree(inside)) for name, inside in below.items()})
        ordered = dict(sorted(here.items(), key=lambda pair: pair[0] + ("/" if pair[1][1] == "tree" else "")))
        packed = (f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(sha) for name, (mode, _, sha) in ordered.items())
        data = b"".join(packed)
        sha = git_sha("tree", data)
        self.trees[sha] = ordered
        return sha

    def add_commit(self, tree: str, parents: Iterable[str], message: str) -> str:
        who = "Stand-in <standin@example.invalid> 1767225600 +0000"
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {who}", f"committer {who}", "", message]
        sha = git_sha("commit", "\n".join(lines).encode())
        self.commits[sha] = {"tree": tree, "parents": list(parents), "message": message}
        return sha

    def files(self, tree: str, prefix: str = "") -> dict[str, Entry]:
        """Full path → entry, for everything below a tree but the trees."""
        found: dict[str, Entry] = {}
        for name, entry in self.trees[tree].items():
            if entry[1] == "tree":
                found.update(self.files(entry[2], f"{prefix}{name}/"))
            else:
                found[prefix + name] = entry
        return found

    def commit_files(self, files: Mapping[str, bytes], *, branch: str | None = None, message: str = "seed") -> str:
        """A commit that holds exactly these files; it becomes the head of `branch`."""
        tree = self.add_tree({path: ("100644", "blob", self.add_blob(data)) for path, data in files.items()})
        ref = f"refs/heads/{branch}"
        sha = self.add_commit(tree, [self.refs[ref]] if ref in self.refs else [], message)
        if branch:
            self.refs[ref] = sha
        return sha

    def resolve(self, name: str) -> str | None:
        """The commit of a full SHA, branch or tag."""
        names = (f"refs/heads/{name}", f"refs/tags/{name}", name)
        return next((self.refs[one] for one in names if one in self.refs), name if name in self.commits else None)

    def entry_at(self, commit: str, path: str) -> Entry | None:
        entry: Entry = ("040000", "tree", self.commits[commit]["tree"])
        for name in filter(None, path.split("/")):
            if entry[1] != "tree" or name not in self.trees[entry[2]]:
                return None
            entry = self.trees[entry[2]][name]
        return entry

    def is_ancestor(self, older: str, newer: str) -> bool:
        waiting, seen = [newer], set()
        while waiting:
            sha = waiting.pop()
            if sha == older:
                return True
            if sha not in seen:
                seen.add(sha)
                waiting += self.commits[sha]["parents"]
        return False


@dataclass
class Hub:
    """All of the stand-in's world. `accounts` maps a token to the login it writes as."""

    accounts: dict[str, str] = field(default_factory=lambda: {TOKEN: BOT})
    repositories: dict[str, Repository] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    next_id: int = 1001
    tick: int = 0

    def repository(self, full_name: str) -> Repository:
        """The repository of this name, made if need be, with pull request 7."""
        if full_name not in self.repositories:
            self.repositories[full_name] = Repository(id=len(self.repositories) + 1, full_name=full_name)
            self.add_pull(full_name, 7)
        return self.repositories[full_name]

    def add_pull(self, full_name: str, number: int, **fields: Any) -> Pull:
        values = {"head_repo": full_name, "head_ref": "topic", "head_sha": f"{number:040x}", **fields}
        pull = self.repositories[full_name].pulls[number] = Pull(number=number, **values)
        return pull

    def add_comment(self, full_name: str, number: int, login: str, body: str, app: str | None = None) -> Comment:
        comment = Comment(id=self.next_id, number=number, login=login, body=body, app=app, at=self.tick)
        self.next_id += 1
        self.repository(full_name).comments[comment.id] = comment
        return comment

    def add_issue(self, full_name: str, login: str, title: str, body: str, app: str | None = None) -> Issue:
        """Issues and pull requests share their numbers."""
        repository = self.repository(full_name)
        number = max([100, *repository.issues, *repository.pulls]) + 1
        issue = repository.issues[number] = Issue(number=number, login=login, title=title, body=body, app=app, at=self.tick)
        return issue

    def seed(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """`{"repository", "pulls": [{number, …}], "comments": [{number, login, body}], "files": {path: text}, "branch"}`."""
        name = wanted["repository"]
        repository = self.repository(name)
        self.accounts.update(wanted.get("accounts", {}))
        for pull in wanted.get("pulls", ()):
            self.add_pull(name, **pull)
        made = [self.add_comment(name, **comment).id for comment in wanted.get("comments", ())]
        sha = None
        if "files" in wanted:
            files = {path: text.encode() for path, text in wanted["files"].items()}
            sha = repository.commit_files(files, branch=wanted.get("branch"))
        return {"comments": made, "commit": sha}

    def dump(self) -> dict[str, Any]:
        """What a test in another process wants to look at."""
        return {
            name: {
                "comments": [vars(one) for one in repository.comments.values()],
                "issues": [vars(one) for one in repository.issues.values()],
                "statuses": repository.statuses,
                "refs": repository.refs,
                "pulls": {number: vars(pull) for number, pull in repository.pulls.items()},
            }
            for name, repository in self.repositories.items()
        }


def git_sha(kind: str, data: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()


def base64_lines(data: bytes) -> str:
    return base64.encodebytes(data).decode()
