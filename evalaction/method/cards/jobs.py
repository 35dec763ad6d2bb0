"""What a hosted runner needs of its endpoint: where a job is polled, and the counters of its trace that limits may bound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from evalaction.method.cards.rules import Problem, own_arms
from evalaction.method.reading.source import Path
from evalaction.method.reading.text import short, suggestion

_PLACE = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}")
_PATH = re.compile(r"/(?!/)[!-\"$-~]*")
_ORIGIN = re.compile(r"https?://[^/?#]*")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def problems(card: Any) -> Iterator[Problem]:
    """The problems of `poll`, `counters` and `limits.max_counter` in a card that fits the schema."""
    for name, endpoint in card["endpoints"].items():
        path: Path = ("endpoints", name)
        yield from _counters(path, endpoint)
        if "poll" in endpoint:
            yield from _poll((*path, "poll"), endpoint, card["draws"]["timeout_ms"])
    yield from _limits(card)


def _counters(path: Path, endpoint: dict[str, Any]) -> Iterator[Problem]:
    if "counters" in endpoint and "trace" not in endpoint:
        yield Problem((*path, "counters"), "`counters` are read from the `trace`; say where the reply holds it", at_key=True)
    for name in endpoint.get("counters", {}):
        if not _NAME.fullmatch(name):
            sentence = f"`{short(name)}` is no name of a counter: up to 40 of a-z, 0-9 and _, a letter first"
            yield Problem((*path, "counters", name), sentence, at_key=True)


def _poll(path: Path, endpoint: dict[str, Any], timeout_ms: int) -> Iterator[Problem]:
    poll = endpoint["poll"]
    if poll["every_ms"] >= timeout_ms:
        yield Problem((*path, "every_ms"), "`poll.every_ms` must be less than `draws.timeout_ms`, or no poll is ever sent")
    url = poll["url"]
    origin = _ORIGIN.match(url)
    rest = url[origin.end() :] if origin else url
    if not _PATH.fullmatch(_PLACE.sub("x", rest)):
        yield Problem((*path, "url"), f"`{short(url)}` is not a path like /v1/jobs/{{{{id}}}}")
    elif origin and origin[0] != _origin(endpoint):
        sentence = "`poll.url` has another origin than the endpoint, and a key goes only to its own; write the path alone"
        yield Problem((*path, "url"), sentence)
    else:
        yield from _places(path, poll, rest)


def _origin(endpoint: dict[str, Any]) -> str | None:
    found = _ORIGIN.match(endpoint.get("url", ""))
    return found[0] if found else None


def _places(path: Path, poll: dict[str, Any], target: str) -> Iterator[Problem]:
    segments = target.partition("?")[0].split("/")
    named = [found[1] for found in map(_PLACE.fullmatch, segments) if found]
    for name in poll["take"]:
        if named.count(name) != 1:
            sentence = f"`poll.url` needs `{{{{{short(name)}}}}}` once, as a whole segment of its path"
            yield Problem((*path, "url"), sentence)
    for name in dict.fromkeys(named):
        if name not in poll["take"]:
            near = suggestion(name, tuple(poll["take"]))
            yield Problem((*path, "url"), f"`poll.take` does not say where `{{{{{short(name)}}}}}` is taken from{near}")
    if target.count("{{") != len(named):
        yield Problem((*path, "url"), "a place of `poll.url` is a whole segment of its path, such as /v1/jobs/{{id}}")


def _limits(card: Any) -> Iterator[Problem]:
    limits = card.get("limits", {})
    scoped: list[tuple[str, Path, dict[str, Any]]] = [("treatment", ("limits",), limits)]
    scoped += [(scope, ("limits", scope), limits[scope]) for scope in ("treatment", "control") if scope in limits]
    for scope, path, bounds in scoped:
        tagged = [((*path, "by_tag", tag), inner) for tag, inner in bounds.get("by_tag", {}).items()]
        places: list[tuple[Path, dict[str, Any]]] = [(path, bounds), *tagged]
        for place, inner in places:
            for name in inner.get("max_counter", {}):
                declared = _declared(card, scope)
                if name not in declared:
                    near = suggestion(name, tuple(declared))
                    sentence = f"no endpoint of the {scope} declares the counter `{short(name)}` under `counters`{near}"
                    yield Problem((*place, "max_counter", name), sentence, at_key=True)


def _declared(card: Any, scope: str) -> list[str]:
    """The counters of the endpoint of an arm; of all endpoints where the card alone does not tell which ones it asks."""
    arm = own_arms(card).get(scope, {})
    asked = [arm["endpoint"]] if "endpoint" in arm else list(card["endpoints"])
    return [name for endpoint in asked for name in card["endpoints"].get(endpoint, {}).get("counters", {})]
