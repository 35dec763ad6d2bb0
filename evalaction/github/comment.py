"""One comment per pull request and key, updated in place, whatever races, stale reads or half-done requests do.

Of several comments of ours the lowest id stays and takes the newest body: whichever of two concurrent runs tidies up, and
wherever it is stopped, the outcome is the same. A comment of another author is never touched, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from evalaction.github.marker import is_marked, marked
from evalaction.github.replies import Ok, Refused

if TYPE_CHECKING:
    from evalaction.github.api import Api

NEEDS = ("pull-requests: write",)
ACTIONS_LOGIN = "github-actions[bot]"
_RELIST_S = (1.0, 2.0, 4.0)
"""Waits before looking again for a comment that must be, or may be, there: reads can be older than writes."""
_ROUNDS = 3
_LONE_OR_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WRITE = "write the comment"
_READ = "list the comments"


@dataclass(frozen=True, kw_only=True, slots=True)
class Comment:
    """What we need of one comment as GitHub returns it."""

    id: int
    url: str
    body: str
    login: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Posted:
    url: str
    id: int
    created: bool
    changed: bool = True
    """False: the comment already said exactly this, and nothing was written."""
    left: int = 0
    """Older comments of ours that could not be deleted."""


Outcome: TypeAlias = "Posted | Refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Where the comment belongs."""

    api: Api
    root: str
    """`/repos/owner/name`"""
    number: int
    key: str
    me: str
    body: Callable[[Sequence[str]], str]
    """The new text, from the texts that ours have at that moment."""

    def text(self, ours: Sequence[Comment]) -> str:
        return _LONE_OR_CONTROL.sub("\ufffd", marked(self.body([one.body for one in ours]), self.key))


def author_of(api: Api) -> Ok[str] | Refused:
    """The login that the token writes as: `/user`, which tokens of apps may not read, GitHub Actions' own among them."""
    answer = api.request("GET", "/user", doing="say whom the token belongs to")
    if isinstance(answer, Refused):
        return Ok(api.viewer() or ACTIONS_LOGIN) if answer.status == 403 and answer.kind == "permission" else answer
    login = answer.data.get("login") if isinstance(answer.data, dict) else None
    if isinstance(login, str) and login:
        return Ok(login)
    return Refused(status=None, kind="server", sentence="GitHub did not say whom the token belongs to; run again later.")


def find(api: Api, repo: str, number: int, key: str, *, me: str) -> Ok[Comment | None] | Refused:
    """Our comment (the lowest id), to read what an earlier run left in it."""
    place = _place(api, repo, number, key, me)
    if isinstance(place, Refused):
        return place
    ours = _ours(place)
    return ours if isinstance(ours, Refused) else Ok(ours.data[0] if ours.data else None)


def upsert(
    api: Api, repo: str, number: int, key: str, body: str | Callable[[Sequence[str]], str], *, me: str, fork: bool = False
) -> Outcome:
    """Create or update the one comment of `key` on pull request `number` of `repo` (`owner/name`).

    `body` is the text, or a function that makes it from what ours say just before it is written: what another leg has left
    there since can be kept.
    `me` is the token's own login, from `author_of`. Under `fork` a missing permission is explained as the fork's.
    """
    place = _place(api, repo, number, key, me)
    if isinstance(place, Refused):
        return place
    outcome = _upsert(replace(place, body=(lambda _: body) if isinstance(body, str) else body))
    return outcome.from_fork() if fork and isinstance(outcome, Refused) else outcome


def _place(api: Api, repo: str, number: int, key: str, me: str) -> _Place | Refused:
    from evalaction.github.api import repo_path

    root = repo_path(repo)
    if root is None or number < 1:
        return Refused(status=None, kind="gone", sentence="There is no pull request to comment on; give its number.")
    return _Place(api=api, root=root, number=number, key=key, me=me, body=lambda _: "")


def _upsert(place: _Place) -> Outcome:
    ours = _ours(place)
    for _ in range(_ROUNDS):
        if isinstance(ours, Refused):
            return ours
        if not ours.data:
            return _create(place)
        outcome = _settle(place, ours.data, place.text(ours.data), created=False)
        if not _is_gone(outcome):
            return outcome
        missing = ours.data[0].id  # deleted since we read the list; a stale list may still show it
        ours = _ours(place)
        if isinstance(ours, Ok):
            ours = Ok([comment for comment in ours.data if comment.id != missing])
    return outcome


def _create(place: _Place) -> Outcome:
    """A new comment. After a failure that says nothing the list decides whether it exists, before a second and last try."""
    tries = 2
    body = place.text(())
    while True:
        answer = place.api.request("POST", _list_path(place), doing=_WRITE, body={"body": body}, needs=NEEDS)
        if isinstance(answer, Ok):
            return _created(place, answer.data)
        tries -= 1
        if not answer.uncertain:
            return answer
        ours = _relisted(place, until=None)
        if isinstance(ours, Refused):
            return ours
        if ours.data:
            return _settle(place, ours.data, place.text(ours.data), created=True)
        if not tries:
            return answer


def _created(place: _Place, data: Any) -> Outcome:
    """Another run may have created one at the same moment, or a stale list may have hidden an older one."""
    comment = _comment(data)
    if comment is None:
        return Refused(status=None, kind="server", sentence="GitHub did not say which comment it wrote; see the job summary.")
    # The token of an app that is not GitHub Actions writes under its own name, and only now do we learn which.
    place = replace(place, me=comment.login)
    ours = _relisted(place, until=comment.id)
    if isinstance(ours, Refused):
        return Posted(url=comment.url, id=comment.id, created=True)
    known = {one.id: one for one in (comment, *ours.data)}
    everything = [known[number] for number in sorted(known)]
    if everything[0].id == comment.id and len(everything) == 1:
        return Posted(url=comment.url, id=comment.id, created=True)
    newest = everything[-1].body if everything[-1].id != comment.id else place.text(everything)
    outcome = _settle(place, everything, newest, created=False)
    return Posted(url=comment.url, id=comment.id, created=True) if isinstance(outcome, Refused) else outcome


def _settle(place: _Place, ours: Sequence[Comment], body: str, *, created: bool) -> Outcome:
    """The lowest id gets the body, then the others go."""
    keep, extras = ours[0], ours[1:]
    changed = _plain(keep.body) != _plain(body)
    if changed:
        answer = place.api.request("PATCH", _one_path(place, keep.id), doing=_WRITE, body={"body": body}, needs=NEEDS)
        if isinstance(answer, Refused):
            return answer
    left = sum(not _removed(place, extra) for extra in extras)
    return Posted(url=keep.url, id=keep.id, created=created, changed=changed or created, left=left)


def _removed(place: _Place, extra: Comment) -> bool:
    """Delete one of ours, but only if it is still what we saw: another run may be writing to it."""
    answer = place.api.request("GET", _one_path(place, extra.id), doing="read a comment")
    if isinstance(answer, Refused):
        return answer.kind == "gone"
    now = _comment(answer.data)
    if now is None or now.id != extra.id or now.body != extra.body or not _is_ours(place, now, answer.data):
        return False
    answer = place.api.request("DELETE", _one_path(place, extra.id), doing="delete a comment", needs=NEEDS)
    return isinstance(answer, Ok) or answer.kind == "gone"


def _ours(place: _Place) -> Ok[list[Comment]] | Refused:
    """All comments of ours with this key, lowest id first, from all pages."""
    answer = place.api.pages(_list_path(place), doing=_READ, needs=NEEDS)
    if isinstance(answer, Refused):
        return answer
    found = {
        comment.id: comment for data in answer.data if (comment := _comment(data)) is not None and _is_ours(place, comment, data)
    }
    return Ok([found[number] for number in sorted(found)])


def _relisted(place: _Place, *, until: int | None) -> Ok[list[Comment]] | Refused:
    """The list, read again a few times until it shows comment `until` (None: any of ours)."""
    ours = _ours(place)
    for delay in _RELIST_S:
        shown = isinstance(ours, Ok) and any(until in {None, comment.id} for comment in ours.data)
        if shown or not place.api.pause(delay):
            return ours
        ours = _ours(place)
    return ours


def _comment(data: Any) -> Comment | None:
    """None for what lacks an id, an author or a text: a deleted account's comment, for one, is nobody's."""
    if not isinstance(data, dict):
        return None
    user = data.get("user")
    login = user.get("login") if isinstance(user, dict) else None
    number, url, body = data.get("id"), data.get("html_url"), data.get("body")
    if type(number) is not int or number < 1 or not isinstance(login, str) or not isinstance(body, str):
        return None
    return Comment(id=number, url=url if isinstance(url, str) else "", body=body, login=login)


def _is_ours(place: _Place, comment: Comment, data: Any) -> bool:
    if comment.login.casefold() != place.me.casefold() or not is_marked(comment.body, place.key):
        return False
    app = data.get("performed_via_github_app")
    slug = app.get("slug") if isinstance(app, dict) else None
    return not (place.me.endswith("[bot]") and isinstance(slug, str) and f"{slug}[bot]".casefold() != place.me.casefold())


def _is_gone(outcome: Outcome) -> bool:
    return isinstance(outcome, Refused) and outcome.status in {404, 410}


def _plain(body: str) -> str:
    """As GitHub may give a text back: other line ends, no white space at the end."""
    return body.replace("\r\n", "\n").rstrip()


def _list_path(place: _Place) -> str:
    return f"{place.root}/issues/{place.number}/comments"


def _one_path(place: _Place, number: int) -> str:
    return f"{place.root}/issues/comments/{number}"
