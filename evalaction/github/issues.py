"""One issue per breakage: opened when something breaks, kept up to date, closed when it holds again. Never two of one breakage.

The rules are those of the comment: found by the marker of our own issues, on all pages, whoever else quotes it; the lowest number
stays where two runs open one at once. Titles hold numbers and words of ours alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalaction.github import payload
from evalaction.github.replies import Ok, Refused
from evalaction.method.canonical import digest

if TYPE_CHECKING:
    from evalaction.github.api import Api

NEEDS = ("issues: write",)
_RELIST_S = (1.0, 2.0, 4.0)
_MARKER = re.compile(r"<!-- evalaction:issue ([0-9a-f]{64}) ([0-9a-f]{64}) -->", re.ASCII)
_LONE_OR_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WRITE = "write the issue"
_READ = "list the issues"


@dataclass(frozen=True, kw_only=True, slots=True)
class Breakage:
    """Something that is broken: what it is called, and what the issue says of it now."""

    key: str
    """64 hex digits, from `breakage_key`."""
    title: str
    body: str
    """Without the marker."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Issue:
    """One of ours that is open."""

    number: int
    title: str
    body: str
    breakage: str
    login: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the issues of one card belong."""

    api: Api
    root: str
    card: str
    """64 hex digits: workflow, `comment-key` and card."""
    me: str


def card_key(*parts: str) -> str:
    return digest(["issues", *parts])


def breakage_key(name: str) -> str:
    return digest(["breakage", name])


def marker(card: str, breakage: str) -> str:
    """The first line of an issue of ours. Raises ValueError for keys that are not 64 hex digits."""
    line = f"<!-- evalaction:issue {card} {breakage} -->"
    if not _MARKER.fullmatch(line):
        raise ValueError("the keys of an issue are 64 lower-case hex digits each")
    return line


def open_issues(place: Place) -> Ok[list[Issue]] | Refused:
    """Those of this card that are open and ours, lowest number first, from all pages."""
    answer = place.api.pages(
        f"{place.root}/issues", doing=_READ, params={"state": "open", "sort": "created", "direction": "asc"}, needs=NEEDS
    )
    if isinstance(answer, Refused):
        return answer
    found = {issue.number: issue for data in answer.data if (issue := _issue(place, data)) is not None}
    return Ok([found[number] for number in sorted(found)])


def keep_open(place: Place, ours: Sequence[Issue], breakage: Breakage) -> Ok[int] | Refused:
    """The number of the one issue of this breakage, opened or brought up to date. `ours` is what `open_issues` found."""
    own = [issue for issue in ours if issue.breakage == breakage.key]
    return _settled(place, own, breakage) if own else _opened(place, breakage)


def close(place: Place, issue: Issue, sentence: str) -> Ok[int] | Refused:
    """Close it as done; the sentence goes above what it said last. `sentence` is Markdown."""
    return _closed(place, issue, sentence, "completed")


def _opened(place: Place, breakage: Breakage) -> Ok[int] | Refused:
    """A new issue. After a failure that says nothing the list decides whether it exists, before a second and last try."""
    body = {"title": breakage.title, "body": _body(place, breakage)}
    for _ in range(2):
        answer = place.api.request("POST", f"{place.root}/issues", doing=_WRITE, body=body, needs=NEEDS)
        if isinstance(answer, Ok):
            return _alone(place, breakage, answer.data)
        if not answer.uncertain:
            return answer
        ours = _relisted(place, breakage, bool)
        if isinstance(ours, Refused):
            return ours
        if ours.data:
            return _settled(place, ours.data, breakage)
    return answer


def _alone(place: Place, breakage: Breakage, data: Any) -> Ok[int] | Refused:
    """Another run may have opened one at the same moment, or a stale list may have hidden an older one."""
    number = payload.number(data, "number")
    if number is None:
        return Refused(status=None, kind="server", sentence="GitHub did not say which issue it opened; see the job summary.")
    login = payload.text(data, "user", "login")
    place = replace(place, me=login or place.me)  # an app that is not GitHub Actions writes under its own name
    ours = _relisted(place, breakage, lambda own: any(issue.number == number for issue in own))
    if isinstance(ours, Refused) or len(ours.data) < 2:
        return Ok(number)
    return _settled(place, ours.data, breakage)


def _settled(place: Place, own: Sequence[Issue], breakage: Breakage) -> Ok[int] | Refused:
    """The lowest number says what is so now; the others are closed and say where it is."""
    keep, extras = own[0], own[1:]
    body = _body(place, breakage)
    if (_plain(keep.body), keep.title) != (_plain(body), breakage.title):
        answer = _patched(place, keep.number, {"title": breakage.title, "body": body})
        if isinstance(answer, Refused):
            return answer
    for extra in extras:
        _closed(place, extra, f"Two runs opened an issue of this at once; it goes on in issue {keep.number}.", "not_planned")
    return Ok(keep.number)


def _closed(place: Place, issue: Issue, sentence: str, reason: str) -> Ok[int] | Refused:
    first, _, rest = issue.body.partition("\n")
    body = _LONE_OR_CONTROL.sub("\ufffd", f"{first}\n{sentence}\n\n---\n\n{rest}")
    answer = _patched(place, issue.number, {"state": "closed", "state_reason": reason, "body": body[:60_000]})
    return answer if isinstance(answer, Refused) else Ok(issue.number)


def _patched(place: Place, number: int, body: Mapping[str, str]) -> Ok[Any] | Refused:
    return place.api.request("PATCH", f"{place.root}/issues/{number}", doing=_WRITE, body=body, needs=NEEDS)


def _relisted(place: Place, breakage: Breakage, enough: Callable[[list[Issue]], bool]) -> Ok[list[Issue]] | Refused:
    """Ours of this breakage, read again a few times until they are enough: reads can be older than writes."""
    for delay in (0.0, *_RELIST_S):
        if delay and not place.api.pause(delay):
            break
        ours = open_issues(place)
        if isinstance(ours, Refused):
            return ours
        own = [issue for issue in ours.data if issue.breakage == breakage.key]
        if enough(own):
            break
    return Ok(own)


def _issue(place: Place, data: Any) -> Issue | None:
    """None for a pull request, for another author's, and for one without this card's marker on its first line."""
    number, login, body = payload.number(data, "number"), payload.text(data, "user", "login"), payload.at(data, "body")
    if number is None or login is None or not isinstance(body, str) or payload.at(data, "pull_request") is not None:
        return None
    found = _MARKER.match(body)
    if found is None or found[1] != place.card or login.casefold() != place.me.casefold():
        return None
    slug = payload.text(data, "performed_via_github_app", "slug")
    if place.me.endswith("[bot]") and slug is not None and f"{slug}[bot]".casefold() != place.me.casefold():
        return None
    return Issue(number=number, title=payload.text(data, "title") or "", body=body, breakage=found[2], login=login)


def _body(place: Place, breakage: Breakage) -> str:
    return _LONE_OR_CONTROL.sub("\ufffd", f"{marker(place.card, breakage.key)}\n{breakage.body}")


def _plain(body: str) -> str:
    return body.replace("\r\n", "\n").rstrip()
