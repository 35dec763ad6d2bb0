"""What exactly differs between two arms that are defined at two commits: fields old → new, files with a short diff. Pure.

The diff is ours: `git diff` would run whatever drivers the repository names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TypeAlias

from evalaction.method.arms import Resolved, identity_of
from evalaction.method.canonical import Json, dumps, encode, sha256
from evalaction.method.card import Command, Endpoint
from evalaction.method.programs import program_of
from evalaction.method.report import Change

Redact: TypeAlias = "Callable[[str], str]"
_Held: TypeAlias = "tuple[Endpoint, Mapping[str, bytes]]"

CONTEXT = 2
MOST_LINES = 40
LONGEST = 200
MOST_FILES = 8
"""Changed files of a program of which the diff is kept."""
MOST_COMPARED = 1_000
"""Lines of either side between which a diff is looked for; the search is quadratic."""
_UNENDED = "\\ No newline at end of file"
_UNSEEN = re.compile(r"[^\S \t]")
_HEADING = re.compile(r"\A@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@\Z")
_PLAIN = frozenset({"api", "output", "url_env", "key_env", "api_version", "trace", "counters"})
"""Fields of an endpoint that are shown; of the others, addresses among them, only that they differ."""


def changes_of(ours: Resolved, theirs: Resolved, *, redact: Redact) -> tuple[Change, ...]:
    """What `ours` changes against `theirs`. `redact` takes secrets out of a text and is called before anything is cut."""
    found = [
        *_file_change("route", "route", ours, theirs, redact),
        *_endpoint_changes(ours, theirs, redact),
        *_program_changes(ours, theirs, redact),
        *_file_change("prompt", "system", ours, theirs, redact),
        *_file_change("prompt", "template", ours, theirs, redact),
    ]
    return tuple(found)


def short_diff(old: str, new: str) -> tuple[str, ...]:
    """A unified diff without its heading, at most `MOST_LINES` lines of `LONGEST` characters each.

    A line begins with `@`, a space, `-`, `+` or, where the text ends without a newline, `\\`; the last one, if more were cut,
    with `…`. White space that looks like a blank or breaks a line is written as its escape. Empty where the texts are too long
    to be compared.
    """
    before, after = _lines(old), _lines(new)
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    if max(len(before), len(after)) - start - end > MOST_COMPARED:
        return ()
    first = max(start - CONTEXT, 0)
    middle, middle_after = (lines[first : len(lines) - max(end - CONTEXT, 0)] for lines in (before, after))
    from difflib import unified_diff  # only where something has changed

    diff = list(unified_diff(middle, middle_after, n=CONTEXT, lineterm=""))[2:]
    lines = [part for line in diff for part in _shown(_HEADING.sub(lambda found: _moved(found, first), line))]
    shown = tuple(lines[:MOST_LINES])
    return (*shown, f"… {len(lines) - MOST_LINES:,} more") if len(lines) > MOST_LINES else shown


def _lines(text: str) -> list[str]:
    """With their newlines; U+2028 and the like end no line."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def _shown(line: str) -> tuple[str, ...]:
    text = _cut(_UNSEEN.sub(lambda space: space[0].encode("unicode_escape").decode(), line.removesuffix("\n")))
    return (text,) if line.endswith("\n") or line.startswith("@") else (text, _UNENDED)


def _moved(heading: re.Match[str], by: int) -> str:
    """A heading that counts from the beginning of the whole text."""
    old, olds, new, news = heading.groups(default="")
    return f"@@ -{int(old) + by}{olds} +{int(new) + by}{news} @@"


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _file_change(lever: str, field: str, ours: Resolved, theirs: Resolved, redact: Redact) -> Iterator[Change]:
    new, old = (getattr(arm.source.arm, field) for arm in (ours, theirs))
    data, before = ours.source.files.get(new), theirs.source.files.get(old)
    if new == old and data == before:
        return
    diff = short_diff(*(redact((side or b"").decode("utf-8", "replace")) for side in (before, data))) if before != data else ()
    if new != old and (not diff or old is None or new is None):
        yield Change(lever=lever, name=field, old=_text(old, redact), new=_text(new, redact), diff=diff)
    else:
        name = redact(new if new == old else f"{old} → {new}")
        yield Change(lever=lever, name=name, old=_digits(before or b""), new=_digits(data or b""), diff=diff)


def _endpoint_changes(ours: Resolved, theirs: Resolved, redact: Redact) -> Iterator[Change]:
    new, old = ours.endpoints, theirs.endpoints
    if len(new) == len(old) == 1:
        if new[0].name != old[0].name:
            # Where rules choose, another model comes with the other endpoint, and is no lever of its own.
            routed = ours.source.arm.route is not None or theirs.source.arm.route is not None
            lever = "route" if routed else "endpoint"
            yield Change(lever=lever, name="endpoint", old=redact(old[0].name), new=redact(new[0].name))
            if routed:
                return
        yield from _fields((new[0], ours.source.files), (old[0], theirs.source.files), redact)
        return
    for name in dict.fromkeys(one.name for one in (*old, *new)):
        here, now, before = redact(name), _of(name, ours), _of(name, theirs)
        if now and before:
            yield from _fields((now, ours.source.files), (before, theirs.source.files), redact, f"{here}.")
        else:
            yield Change(lever="endpoint", name="endpoint", old=here if before else None, new=here if now else None)


def _program_changes(ours: Resolved, theirs: Resolved, redact: Redact) -> Iterator[Change]:
    """File by file, the first ones with their diff."""
    now, before = (_programs(arm) for arm in (ours, theirs))
    differ = [path for path in sorted({*now, *before}) if now.get(path) != before.get(path)]
    for place, path in enumerate(differ):
        old, new = before.get(path), now.get(path)
        texts = [redact((side or b"").decode("utf-8", "replace")) for side in (old, new)] if place < MOST_FILES else ["", ""]
        shown = [None if side is None else _digits(side) for side in (old, new)]
        yield Change(lever="program", name=redact(path), old=shown[0], new=shown[1], diff=short_diff(*texts))


def _programs(arm: Resolved) -> dict[str, bytes]:
    """The files of every program that the arm runs, by path from the root."""
    files: dict[str, bytes] = {}
    for endpoint in arm.endpoints:
        files |= program_of(endpoint.command, arm.source.files) if endpoint.command else {}
    return files


def _of(name: str, arm: Resolved) -> Endpoint | None:
    """The endpoint of a name that the arm asks: as it is asked, or as the card has it where rules ask it in many ways."""
    asked = [one for one in arm.endpoints if one.name == name]
    return asked[0] if len(asked) == 1 else arm.source.card.endpoints[name] if asked else None


def _fields(ours: _Held, theirs: _Held, redact: Redact, prefix: str = "") -> Iterator[Change]:
    (new, _), (old, _) = ours, theirs
    now, before = (_mapping(identity_of(*held)) for held in (ours, theirs))
    for name in dict.fromkeys((*before, *now)):
        values = before.get(name), now.get(name)
        if name == "command" and new.command and old.command:
            yield from _command(new.command, old.command, redact, f"{prefix}{name}.")
        elif name != "program" and values[0] != values[1]:
            shown = [_text(one, redact) if name in _PLAIN else None if one is None else _digits(encode(one)) for one in values]
            yield Change(lever="endpoint", name=f"{prefix}{name}", old=shown[0], new=shown[1])
    if new.model != old.model:
        yield Change(lever="model", name=f"{prefix}model", old=_text(old.model, redact), new=_text(new.model, redact))
    yield from _parameters(new, old, redact, prefix)


def _command(new: Command, old: Command, redact: Redact, prefix: str) -> Iterator[Change]:
    for field in fields(new):
        was, now = (" ".join(getattr(one, field.name)) or None for one in (old, new))
        if was != now:
            yield Change(lever="endpoint", name=f"{prefix}{field.name}", old=_text(was, redact), new=_text(now, redact))


def _parameters(new: Endpoint, old: Endpoint, redact: Redact, prefix: str) -> Iterator[Change]:
    """As they are sent: in the order of the card, numbers as they are written."""
    for name in dict.fromkeys((*old.params, *new.params)):
        given = [dumps(one.params[name], sort_keys=False) if name in one.params else None for one in (old, new)]
        if given[0] != given[1]:
            yield _given(f"{prefix}{redact(name)}", given, redact)
    orders = [", ".join(one.params) for one in (old, new)]
    if orders[0] != orders[1] and old.params.keys() == new.params.keys():
        yield _given(f"{prefix}order of params", orders, redact)
    bodies = [dumps(one.http.body, sort_keys=False) if one.http else None for one in (old, new)]
    if bodies[0] != bodies[1]:
        yield _given(f"{prefix}body", bodies, redact)


def _given(name: str, values: Sequence[str | None], redact: Redact) -> Change:
    was, now = (_text(one, redact) for one in values)
    return Change(lever="parameters", name=name, old=was, new=now)


def _mapping(value: Json) -> Mapping[str, Json]:
    assert isinstance(value, Mapping), "an endpoint's identity is an object"
    return value


def _text(value: Json, redact: Redact) -> str | None:
    return None if value is None else _cut(redact(value if isinstance(value, str) else dumps(value)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _digits(data: bytes) -> str:
    return sha256(data)[:12]
