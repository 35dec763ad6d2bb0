"""What the fields of a card ask of each other. Each rule yields the problems it finds; the first one is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalaction.method.cards.schema import dotted
from evalaction.method.reading import paths, refs
from evalaction.method.reading.secret_shapes import has_credentials, is_key
from evalaction.method.reading.source import Path
from evalaction.method.reading.text import invisible, short

_ARM_SCOPES = ("treatment", "control")
_FLIP_LIMITS = ("max_flip_rate", "max_flip_gain")
_FREE_TEXT = {"params", "body"}
_NEVER_KEYS = {("exam", "sha256"), ("exam", "ids_sha256"), ("exam", "checker_sha256"), ("sign", "seed")}


@dataclass(frozen=True, slots=True)
class Problem:
    path: Path
    sentence: str
    at_key: bool = False


def problems(card: Any) -> Iterator[Problem]:
    """The problems of a card that fits the schema, apart from those of its endpoints."""
    yield from _names(card)
    yield from _paths(card)
    yield from _arms(card)
    yield from _sign(card)
    yield from _limits(card)
    yield from _data(card)
    yield from _record(card)


def own_arms(card: Any) -> dict[str, dict[str, Any]]:
    """The arms that the card defines itself, by name: a control at another commit is none of them."""
    return {name: arm for name, arm in card["arms"].items() if isinstance(arm, dict) and "ref" not in arm}


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, str, bool]]:
    """Every text in a value, keys too: its path, the text, and whether it is a key."""
    if isinstance(value, str):
        yield path, value, False
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key), key, True
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, index))


def secrets(card: Any) -> Iterator[Problem]:
    """Keys and credentials written into a card of any shape; looked for first, so that no sentence quotes one."""
    for path, text, at_key in walk(card):
        if path in _NEVER_KEYS:
            continue
        if is_key(text):
            what = f"`{dotted(path)}`" if not at_key else "a field name"
            yield Problem(path, f"{what} looks like it holds a key; name the variable that holds it instead", at_key)
        elif has_credentials(text):
            yield Problem(path, f"`{dotted(path)}` is an address with credentials in it; use `url_env` or `key_env`", at_key)


def _names(card: Any) -> Iterator[Problem]:
    for path, text, at_key in walk(card):
        if path[0] == "endpoints" and len(path) > 2 and path[2] in _FREE_TEXT:
            continue
        bad = invisible(text)
        if bad:
            yield Problem(path, f"`{dotted(path)}` holds {bad}, which cannot be seen; remove it", at_key)
    tags = [
        (("limits", *scope, "by_tag", tag), tag)
        for scope in ((), *((name,) for name in _ARM_SCOPES))
        for tag in _at(card, "limits", *scope, "by_tag")
    ]
    for path, name in [*((("endpoints", name), name) for name in card["endpoints"]), *tags]:
        if not 1 <= len(name) <= 100 or name != name.strip():
            yield Problem(path, "a name has 1 to 100 characters and no space around it", at_key=True)


def _paths(card: Any) -> Iterator[Problem]:
    named: list[tuple[Path, str]] = [(("exam", "tasks"), card["exam"]["tasks"].removesuffix("/"))]
    if "checker" in card["exam"]:
        named.append((("exam", "checker"), card["exam"]["checker"]))
    for arm, fields in own_arms(card).items():
        named += [(("arms", arm, field), fields[field]) for field in ("route", "system", "template") if field in fields]
    for name, endpoint in card["endpoints"].items():
        if "replies" in endpoint:
            named.append((("endpoints", name, "replies"), endpoint["replies"]))
    for path, text in named:
        why = paths.refusal(text)
        if why:
            yield Problem(path, f"the path `{short(text)}` {why}")


def _arms(card: Any) -> Iterator[Problem]:
    for arm, fields in own_arms(card).items():
        path: Path = ("arms", arm)
        if "endpoint" in fields and "route" in fields:
            yield Problem((*path, "route"), "give `endpoint`, or `route` with rules that choose one, not both", at_key=True)
        elif "route" not in fields:
            yield from _endpoint(card, path, fields.get("endpoint"))
    control = card["arms"].get("control")
    if isinstance(control, dict) and "ref" in control and not (refs.full_sha(control["ref"]) or refs.is_name(control["ref"])):
        sentence = f"`{short(control['ref'])}` names no commit; give a full SHA, a branch or a tag, without ~, ^, : or @{{"
        yield Problem(("arms", "control", "ref"), sentence)


def _endpoint(card: Any, path: Path, name: str | None) -> Iterator[Problem]:
    if name is None:
        yield Problem(path, f"`{dotted(path)}` needs an `endpoint`, or a `route` with rules that choose one", at_key=True)
    elif name not in card["endpoints"]:
        known = ", ".join(f"`{short(one)}`" for one in card["endpoints"])
        yield Problem((*path, "endpoint"), f"there is no endpoint `{short(name)}`; the card has {known}")


def _sign(card: Any) -> Iterator[Problem]:
    arms, sign = card["arms"], card.get("sign")
    if sign is None:
        if "control" in arms:
            yield Problem(("arms", "control"), "two arms need `sign` with a `claim` and a `seed`", at_key=True)
        return
    if "control" not in arms:
        yield Problem(("sign",), "`sign` needs two arms; add `arms.control` or remove it", at_key=True)
    if sign["claim"] == "not_behind" and "margin" not in sign:
        yield Problem(("sign", "claim"), "`claim: not_behind` needs `sign.margin`, such as 0.10")
    if sign["claim"] != "not_behind" and "margin" in sign:
        yield Problem(("sign", "margin"), "`sign.margin` belongs to `claim: not_behind` only; remove it", at_key=True)


def _limits(card: Any) -> Iterator[Problem]:
    limits, two = card.get("limits", {}), "control" in card["arms"]
    flat = [name for name in limits if name not in (*_ARM_SCOPES, "between")]
    if flat and "treatment" in limits:
        yield Problem(
            ("limits", flat[0]), "limits of the treatment stand either at the top or under `treatment`, not both", at_key=True
        )
    for scope in ("control", "between"):
        if scope in limits and not two:
            yield Problem(("limits", scope), f"`limits.{scope}` needs two arms; add `arms.control` or remove it", at_key=True)
    if card["draws"]["count"] == 1:
        for path, name, at_key in walk(limits, ("limits",)):
            if at_key and name in _FLIP_LIMITS and path[-2] != "by_tag":
                yield Problem(path, f"`{name}` needs `draws.count` of at least 2: one draw cannot flip", at_key=True)


def _data(card: Any) -> Iterator[Problem]:
    if card["exam"]["data"] == "private":
        if card["draws"].get("keep_text", "none") != "none":
            yield Problem(("draws", "keep_text"), "the outputs of a private exam are not kept; write `keep_text: none`")
        for arm, fields in own_arms(card).items():
            endpoint = card["endpoints"].get(fields.get("endpoint"), {"shared": False})
            if endpoint.get("api") != "scripted" and endpoint.get("shared", True):
                yield Problem(("arms", arm, "endpoint"), private_to_shared(fields["endpoint"]))


def _record(card: Any) -> Iterator[Problem]:
    day = _at(card, "record").get("read_on", "2000-01-01")
    if not (1 <= int(day[5:7]) <= 12 and 1 <= int(day[8:10]) <= 31):
        yield Problem(("record", "read_on"), f"`record.read_on` is not a day: {day}")
    if "usd" in _at(card, "budget"):
        for fields in own_arms(card).values():
            endpoint = card["endpoints"].get(fields.get("endpoint"), {"price": None})
            if endpoint.get("api") != "scripted" and "price" not in endpoint:
                yield Problem(("budget", "usd"), unpriced(fields["endpoint"]), at_key=True)


def private_to_shared(endpoint: str) -> str:
    return (
        f"`exam.data: private` may not go to the shared endpoint `{short(endpoint)}`; "
        "set `shared: false` there only if its host keeps no prompts"
    )


def unpriced(endpoint: str) -> str:
    return f"`budget.usd` needs the `price` of endpoint `{short(endpoint)}`"


def _at(card: Any, *path: str) -> dict[str, Any]:
    for part in path:
        card = card.get(part, {})
    return card  # type: ignore[no-any-return]
