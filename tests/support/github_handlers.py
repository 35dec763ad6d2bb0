"""One function an operation of GitHub's API: (call) → Answer, after what the documentation and GitHub itself do."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from support.github_state import BOT, Comment, Hub, Issue, Pull, Repository, base64_lines

MAX_COMMENT = 65_536


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    hub: Hub
    repository: Repository
    base: str
    """Address of the API, with the prefix of an Enterprise server."""
    path: str
    names: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    login: str

    @property
    def root(self) -> str:
        return f"{self.base}/repos/{self.repository.full_name}"


def failed(status: int, message: str, *errors: Mapping[str, str], **headers: str) -> Answer:
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return Answer(status, {**body, "errors": list(errors)} if errors else body, headers)


def user(call: Call) -> Answer:
    if call.login.endswith("[bot]"):
        return failed(403, "Resource not accessible by integration")
    return Answer(200, {"login": call.login, "id": 1, "type": "User", "user_view_type": "public"})


def repository(call: Call) -> Answer:
    name = call.repository.full_name
    fields = {"id": call.repository.id, "full_name": name, "name": name.split("/")[1], "private": call.repository.private}
    return Answer(200, {**fields, "default_branch": call.repository.default_branch, "owner": account(name.split("/")[0])})


def account(login: str) -> dict[str, Any]:
    return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}


def shown_comment(call: Call, comment: Comment) -> dict[str, Any]:
    app = {"slug": comment.app, "owner": account("github")} if comment.app else None
    return {
        "id": comment.id,
        "url": f"{call.root}/issues/comments/{comment.id}",
        "html_url": f"https://github.example/{call.repository.full_name}/pull/{comment.number}#issuecomment-{comment.id}",
        "issue_url": f"{call.root}/issues/{comment.number}",
        "body": comment.body,
        "user": account(comment.login),
        "performed_via_github_app": app,
    }


def list_comments(call: Call, *, hidden: int = 0) -> Answer:
    """`hidden` newest ones are not there yet: a read that is older than the last write."""
    number = int(call.names["issue_number"])
    if number not in call.repository.pulls:
        return failed(404, "Not Found")
    found = [one for one in sorted(call.repository.comments.values(), key=lambda one: one.id) if one.number == number]
    return paged(call, [shown_comment(call, one) for one in found[: len(found) - hidden if hidden else None]])


def paged(call: Call, entries: list[Any]) -> Answer:
    size = min(100, int(call.query.get("per_page", "30")))
    page = int(call.query.get("page", "1"))
    last = max(1, -(-len(entries) // size))
    headers = {}
    if page < last:
        others = "".join(f"&{name}={value}" for name, value in call.query.items() if name not in {"page", "per_page"})
        there = f"{call.base}{call.path}?per_page={size}{others}&page="
        headers["Link"] = f'<{there}{page + 1}>; rel="next", <{there}{last}>; rel="last"'
    return Answer(200, entries[(page - 1) * size : page * size], headers)


def refused_body(body: str) -> Answer | None:
    if not body.strip():
        return failed(422, "Validation Failed", {"resource": "IssueComment", "code": "missing_field", "field": "body"})
    if len(body) > MAX_COMMENT:
        message = f"body is too long (maximum is {MAX_COMMENT} characters)"
        return failed(422, "Validation Failed", {"resource": "IssueComment", "code": "unprocessable", "message": message})
    return None


def create_comment(call: Call) -> Answer:
    number = int(call.names["issue_number"])
    pull = call.repository.pulls.get(number)
    if pull is None:
        return failed(404, "Not Found")
    if pull.locked:
        return failed(403, "Unable to create comment because issue is locked.")
    if problem := refused_body(call.body["body"]):
        return problem
    app = call.login.removesuffix("[bot]") if call.login.endswith("[bot]") else None
    comment = call.hub.add_comment(call.repository.full_name, number, call.login, call.body["body"], app)
    return Answer(201, shown_comment(call, comment))


def one_comment(change: Callable[[Call, Comment], Answer]) -> Callable[[Call], Answer]:
    def handler(call: Call) -> Answer:
        comment = call.repository.comments.get(int(call.names["comment_id"]))
        return change(call, comment) if comment else failed(404, "Not Found")

    return handler


def update_comment(call: Call, comment: Comment) -> Answer:
    if problem := refused_body(call.body["body"]):
        return problem
    comment.body, comment.at = call.body["body"], call.hub.tick
    return Answer(200, shown_comment(call, comment))


def delete_comment(call: Call, comment: Comment) -> Answer:
    del call.repository.comments[comment.id]
    return Answer(204)


def shown_pull(call: Call, pull: Pull) -> dict[str, Any]:
    repo = {"full_name": call.repository.full_name, "id": call.repository.id, "fork": False}
    head = None if pull.head_repo is None else {"full_name": pull.head_repo, "fork": pull.head_repo != repo["full_name"]}
    return {
        "number": pull.number,
        "state": pull.state,
        "locked": pull.locked,
        "merge_commit_sha": pull.merge_sha,
        "user": account("author"),
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": head, "user": account("author")},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": repo, "user": account("owner")},
    }


def list_pulls(call: Call) -> Answer:
    state, query = call.query.get("state", "open"), call.query
    found = [pull for pull in call.repository.pulls.values() if state in {"all", pull.state}]
    if head := query.get("head"):  # `owner:branch`
        found = [pull for pull in found if head == f"{(pull.head_repo or '').split('/')[0]}:{pull.head_ref}"]
    if base := query.get("base"):
        found = [pull for pull in found if pull.base_ref == base]
    return paged(call, [shown_pull(call, pull) for pull in found])


def get_pull(call: Call) -> Answer:
    pull = call.repository.pulls.get(int(call.names["pull_number"]))
    return Answer(200, shown_pull(call, pull)) if pull else failed(404, "Not Found")


def pulls_of_commit(call: Call) -> Answer:
    sha = call.names["commit_sha"]
    return paged(call, [shown_pull(call, one) for one in call.repository.pulls.values() if sha in {one.head_sha, one.merge_sha}])


def create_status(call: Call) -> Answer:
    if not re.fullmatch(r"[0-9a-f]{40}", call.names["sha"]):
        return failed(422, "No commit found for SHA: " + call.names["sha"])
    call.repository.statuses.append({"sha": call.names["sha"], **call.body})
    status = {name: call.body.get(name) for name in ("state", "description", "target_url")}
    return Answer(201, {**status, "context": call.body.get("context", "default"), "creator": account(call.login)})


def contents(call: Call) -> Answer:
    commit = call.repository.resolve(call.query.get("ref", call.repository.default_branch))
    path = call.names["path"]
    entry = call.repository.entry_at(commit, path) if commit else None
    if entry is None:
        return failed(404, "Not Found")
    if entry[1] == "tree":
        inside = call.repository.trees[entry[2]]
        return Answer(200, [shown_content(call, f"{path}/{name}", one) for name, one in inside.items()])
    data = call.repository.blobs[entry[2]]
    return Answer(200, {**shown_content(call, path, entry), "encoding": "base64", "content": base64_lines(data)})


def shown_content(call: Call, path: str, entry: tuple[str, str, str]) -> dict[str, Any]:
    kind = "dir" if entry[1] == "tree" else "file"
    size = 0 if kind == "dir" else len(call.repository.blobs[entry[2]])
    links = {"self": f"{call.root}/contents/{path}", "git": None, "html": None}
    fields = {"type": kind, "path": path, "name": path.rsplit("/", 1)[-1], "sha": entry[2], "size": size, "_links": links}
    return {**fields, "url": links["self"], "git_url": None, "html_url": None, "download_url": None}


def shown_issue(call: Call, issue: Issue | Pull) -> dict[str, Any]:
    own = isinstance(issue, Issue)
    page = f"https://github.example/{call.repository.full_name}/{'issues' if own else 'pull'}/{issue.number}"
    shown: dict[str, Any] = {"number": issue.number, "html_url": page, "state": issue.state, "labels": [], "locked": False}
    if isinstance(issue, Pull):
        return {**shown, "title": "A pull request", "body": None, "user": account("author"), "pull_request": {"url": page}}
    app = {"slug": issue.app, "owner": account("github")} if issue.app else None
    shown |= {"title": issue.title, "body": issue.body, "user": account(issue.login), "state_reason": issue.state_reason}
    return {**shown, "performed_via_github_app": app}


def list_issues(call: Call, *, hidden: int = 0) -> Answer:
    """Newest first unless told, pull requests among them; `hidden` newest ones are not there yet."""
    state = call.query.get("state", "open")
    known: list[Issue | Pull] = [*call.repository.issues.values(), *call.repository.pulls.values()]
    found = sorted((one for one in known if state in {"all", one.state}), key=lambda one: one.number)
    found = found[: len(found) - hidden] if hidden else found
    if call.query.get("direction", "desc") == "desc":
        found.reverse()
    return paged(call, [shown_issue(call, one) for one in found])


def create_issue(call: Call) -> Answer:
    app = call.login.removesuffix("[bot]") if call.login.endswith("[bot]") else None
    if problem := refused_body(call.body["body"]):
        return problem
    issue = call.hub.add_issue(call.repository.full_name, call.login, call.body["title"], call.body["body"], app)
    return Answer(201, shown_issue(call, issue))


def update_issue(call: Call) -> Answer:
    issue = call.repository.issues.get(int(call.names["issue_number"]))
    if issue is None:
        return failed(404, "Not Found")
    if "body" in call.body and (problem := refused_body(call.body["body"])):
        return problem
    for name in ("title", "body", "state", "state_reason"):
        setattr(issue, name, call.body.get(name, getattr(issue, name)))
    issue.at = call.hub.tick
    return Answer(200, shown_issue(call, issue))


def get_branch(call: Call) -> Answer:
    name = call.names["branch"]
    sha = call.repository.refs.get(f"refs/heads/{name}")
    if sha is None:
        return failed(404, "Branch not found")
    tree = {"sha": call.repository.commits[sha]["tree"], "url": f"{call.root}/git/trees/x"}
    commit = {"author": None, "committer": None, "comment_count": 0, "message": "x", "url": f"{call.root}/git/commits/{sha}"}
    shown = {"sha": sha, "commit": {**commit, "tree": tree}}
    fields = {"name": name, "protected": name in call.repository.protected, "commit": shown}
    return Answer(200, {**fields, "_links": {"html": "x", "self": "https://github.example/x"}, "protection": {}})


def get_ref(call: Call) -> Answer:
    name = f"refs/{call.names['ref']}"
    sha = call.repository.refs.get(name)
    return Answer(200, shown_ref(name, sha)) if sha else failed(404, "Not Found")


def shown_ref(name: str, sha: str) -> dict[str, Any]:
    return {"ref": name, "object": {"type": "commit", "sha": sha}}


def create_ref(call: Call) -> Answer:
    name, sha = call.body["ref"], call.body["sha"]
    if name in call.repository.refs or not name.startswith("refs/") or sha not in call.repository.commits:
        known = name in call.repository.refs
        return failed(422, "Reference already exists" if known else "Object does not exist")
    call.repository.refs[name] = sha
    return Answer(201, shown_ref(name, sha))


def update_ref(call: Call) -> Answer:
    name, sha = f"refs/{call.names['ref']}", call.body["sha"]
    if name not in call.repository.refs or sha not in call.repository.commits:
        return failed(422, "Reference does not exist")
    if not call.body.get("force") and not call.repository.is_ancestor(call.repository.refs[name], sha):
        return failed(422, "Update is not a fast forward")
    call.repository.refs[name] = sha
    return Answer(200, shown_ref(name, sha))


def get_blob(call: Call) -> Answer:
    sha = call.names["file_sha"]
    if sha not in call.repository.blobs:
        return failed(404, "Not Found")
    data = call.repository.blobs[sha]
    return Answer(200, {"sha": sha, "size": len(data), "encoding": "base64", "content": base64_lines(data)})


def create_blob(call: Call) -> Answer:
    text = call.body["content"]
    data = base64.b64decode(text) if call.body.get("encoding") == "base64" else text.encode()
    return Answer(201, {"sha": call.repository.add_blob(data)})


def get_tree(call: Call) -> Answer:
    name = call.names["tree_sha"]
    commit = call.repository.resolve(name)
    sha = call.repository.commits[commit]["tree"] if commit else name
    if sha not in call.repository.trees:
        return failed(404, "Not Found")
    entries = call.repository.files(sha) if call.query.get("recursive") else call.repository.trees[sha]
    return Answer(200, shown_tree(call, sha, entries))


def shown_tree(call: Call, sha: str, entries: Mapping[str, tuple[str, str, str]]) -> dict[str, Any]:
    blobs = call.repository.blobs
    lines: list[dict[str, Any]] = [
        {"path": path, "mode": mode, "type": kind, "sha": one, **({"size": len(blobs[one])} if one in blobs else {})}
        for path, (mode, kind, one) in entries.items()
    ]
    return {"sha": sha, "truncated": False, "tree": lines}


def create_tree(call: Call) -> Answer:
    files = call.repository.files(call.body["base_tree"]) if "base_tree" in call.body else {}
    for entry in call.body["tree"]:
        sha = call.repository.add_blob(entry["content"].encode()) if "content" in entry else entry["sha"]
        if sha is None:
            files.pop(entry["path"], None)
        else:
            files[entry["path"]] = (entry["mode"], entry["type"], sha)
    sha = call.repository.add_tree(files)
    return Answer(201, shown_tree(call, sha, call.repository.trees[sha]))


def get_commit(call: Call) -> Answer:
    sha = call.names["commit_sha"]
    return Answer(200, shown_commit(call, sha)) if sha in call.repository.commits else failed(404, "Not Found")


def shown_commit(call: Call, sha: str) -> dict[str, Any]:
    commit = call.repository.commits[sha]
    parents = [{"sha": parent} for parent in commit["parents"]]
    return {"sha": sha, "message": commit["message"], "tree": {"sha": commit["tree"]}, "parents": parents}


def create_commit(call: Call) -> Answer:
    if call.body["tree"] not in call.repository.trees:
        return failed(422, "Tree SHA does not exist")
    sha = call.repository.add_commit(call.body["tree"], call.body.get("parents", []), call.body["message"])
    return Answer(201, shown_commit(call, sha))


HANDLERS: Mapping[str, Callable[[Call], Answer]] = {
    "users/get-authenticated": user,
    "repos/get": repository,
    "issues/list-comments": list_comments,
    "issues/create-comment": create_comment,
    "issues/get-comment": one_comment(lambda call, comment: Answer(200, shown_comment(call, comment))),
    "issues/update-comment": one_comment(update_comment),
    "issues/delete-comment": one_comment(delete_comment),
    "issues/list-for-repo": list_issues,
    "issues/create": create_issue,
    "issues/update": update_issue,
    "repos/get-branch": get_branch,
    "pulls/list": list_pulls,
    "pulls/get": get_pull,
    "repos/list-pull-requests-associated-with-commit": pulls_of_commit,
    "repos/create-commit-status": create_status,
    "repos/get-content": contents,
    "git/get-ref": get_ref,
    "git/create-ref": create_ref,
    "git/update-ref": update_ref,
    "git/get-blob": get_blob,
    "git/create-blob": create_blob,
    "git/get-tree": get_tree,
    "git/create-tree": create_tree,
    "git/get-commit": get_commit,
    "git/create-commit": create_commit,
}
__all__ = ["BOT", "HANDLERS", "Answer", "Call", "failed", "list_comments", "list_issues"]
