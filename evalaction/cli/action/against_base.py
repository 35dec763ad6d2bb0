"""A pull request's card against its base: what changes in the question is said; where secrets would go must not change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from evalaction.errors import EvalactionError, UnregisteredError, UsageError
from evalaction.method.card import Card, Endpoint, Limit
from evalaction.method.cards.parse import parse_card
from evalaction.method.numbers import Threshold
from evalaction.method.records import Quoted, Sentence
from evalaction.registration.paths import CARD_BYTES

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage
    from evalaction.engine.prepare import Prepared
    from evalaction.github.api import Api

Values: TypeAlias = "dict[str, Threshold | str | int | None]"

MOST_CHANGES = 20
_PARTS = ("draws", "checks", "sign", "validity")
_NEW: Sentence = ("This card is new in this pull request.",)
_UNREADABLE: Sentence = ("This card cannot be read as base has it, so what changes in the question is not known.",)


def compare(stage: Stage, prepared: Prepared) -> tuple[Sentence, ...]:
    """Callouts. Raises UnregisteredError (`endpoint_changed`) where a secret would go elsewhere than at base, and UsageError
    where base cannot be found although a secret is set."""
    from evalaction.endpoints import secrets_of

    if stage.context.kind != "pull_request" and not (stage.context.kind == "other" and stage.context.head):
        return ()
    secret = bool(secrets_of(prepared.named, stage.world.environ))
    try:
        cards = _cards_at_base(stage, prepared)
    except EvalactionError:
        if secret:
            raise
        return ()  # without a secret nothing can go elsewhere, and a fork of depth 1 may not have its base
    path = prepared.frozen.card_path
    own = cards.get(path)
    compared = [own] if path in cards else cards.values()
    allowed = {_identity(one) for card in compared if card for one in card.endpoints.values()}
    if secret and cards:
        _refuse_moved(prepared.asked, allowed)
    if own is None:
        return (_UNREADABLE if path in cards else _NEW,)
    changes = tuple(question_changes(own, prepared.card))
    if not changes:
        return ()
    more = (f"and {len(changes) - MOST_CHANGES:,} more",) if len(changes) > MOST_CHANGES else ()
    shown: list[str | Quoted] = ["The question changes in this pull request, which is judged by the changed one: "]
    for number, change in enumerate([*changes[:MOST_CHANGES], more] if more else changes):
        shown += ["; " if number else "", *change]
    return ((*shown, "."),)


def question_changes(base: Card, head: Card) -> Iterator[Sentence]:
    """Field by field, old → new; a limit that asks for less is said to be loosened."""
    for name in ("tasks", "data", "sha256", "ids_sha256", "checker_sha256"):
        yield from _change(f"exam.{name}", getattr(base.exam, name), getattr(head.exam, name))
    for part in _PARTS:
        old, new = _values(getattr(base, part)), _values(getattr(head, part))
        for name in dict.fromkeys((*old, *new)):
            yield from _change(f"{part}.{name}", old.get(name), new.get(name))
    limits = [{_limit_name(one): one for one in card.limits} for card in (base, head)]
    for name in dict.fromkeys((*limits[0], *limits[1])):
        yield from _limit_change(name, limits[0].get(name), limits[1].get(name))


def _change(name: str, old: object, new: object) -> Iterator[Sentence]:
    if _plain(old) != _plain(new):
        yield (f"{name} ", *_shown(old), " → ", *_shown(new))


def _limit_change(name: str, old: Limit | None, new: Limit | None) -> Iterator[Sentence]:
    if old and new and old.bound.value == new.bound.value:
        return
    least = (old or new).name.startswith("min_")  # type: ignore[union-attr]  # one of them is there
    loosened = new is None or (old is not None and (new.bound.value < old.bound.value) == least)
    change = ("limits.", Quoted(name), " ", *_shown(old.bound if old else None), " → ", *_shown(new.bound if new else None))
    yield (*change, " (loosened)") if loosened else change


def _shown(value: object) -> Sentence:
    if value is None:
        return ("none",)
    return (Quoted(value.text if isinstance(value, Threshold) else str(value)),)


def _plain(value: object) -> object:
    return value.value if isinstance(value, Threshold) else value


def _values(record: Any) -> Values:
    return {field.name: getattr(record, field.name) for field in fields(record)} if record else {}


def _limit_name(limit: Limit) -> str:
    return ".".join(part for part in (limit.scope, limit.tag, limit.name) if part)


def _refuse_moved(asked: Sequence[Endpoint], allowed: set[tuple[Any, ...]]) -> None:
    from evalaction.endpoints import variables_of

    for endpoint in asked:
        if any(variables_of(endpoint)) and _identity(endpoint) not in allowed:
            raise UnregisteredError(
                f"The endpoint {endpoint.name} has another address, key variable or header variables than at base, or base's "
                "card cannot be read, and a secret is set: nothing was sent. "
                "Have the changed endpoint reviewed and merged; it is judged from the next pull request on.",
                code="endpoint_changed",
            )


def _identity(endpoint: Endpoint) -> tuple[Any, ...]:
    """Where an endpoint's secrets go, and which."""
    headers = tuple(sorted((header.name.lower(), header.env) for header in endpoint.headers if header.env))
    return endpoint.url, endpoint.url_env, endpoint.key_env, headers


def _cards_at_base(stage: Stage, prepared: Prepared) -> Mapping[str, Card | None]:
    """The judged card and the others that the input names, as base has them; None for one that cannot be read: it vouches for
    no address."""
    from evalaction import schemas
    from evalaction.github.cards import match_cards

    tree, read = _files_at_base(stage)
    try:
        named: Sequence[str] = match_cards(stage.settings.card, tree)
    except EvalactionError:
        named = ()
    found: dict[str, Card | None] = {}
    for path in sorted({prepared.frozen.card_path, *named} & tree.keys()):
        data = read(tree[path])
        found[path] = None
        with contextlib.suppress(EvalactionError):
            found[path] = parse_card(data, file=path, schema=schemas.load("card")) if data else None
    return found


Read: TypeAlias = "Callable[[str], bytes | None]"


def _files_at_base(stage: Stage) -> tuple[Mapping[str, str], Read]:
    """Path to object id of base's regular files, and how one of at most 256 KiB is read: from the clone, else from GitHub."""
    from evalaction.registration.git import REGULAR

    try:
        base = stage.base
    except UsageError:
        if stage.api is None or (sha := _merge_parent(stage)) is None:
            raise
        return _files_by_api(stage, stage.api, sha)
    if base is None:
        return {}, lambda _: None

    def read(oid: str) -> bytes | None:
        size = stage.git.sizes([oid]).get(oid)
        return stage.git.blobs([oid])[oid] if size is not None and size <= CARD_BYTES else None

    files = stage.git.files(base.commit)
    return {path: entry.oid for path, entry in files.items() if entry.mode in REGULAR}, read


def _merge_parent(stage: Stage) -> str | None:
    """The base that GitHub's merge commit names, where that is what is checked out."""
    parents, head = stage.head.parents, stage.context.head
    return parents[0] if head and len(parents) == 2 and parents[1] == head.sha and stage.settings.base is None else None


def _files_by_api(stage: Stage, api: Api, sha: str) -> tuple[Mapping[str, str], Read]:
    from evalaction.cli.action.fork import content_by_api, files_by_api

    repository = stage.context.repository
    try:
        tree = {path: entry["sha"] for path, entry in files_by_api(api, repository, sha).items()}
    except UsageError as error:
        raise UsageError(
            f"The base commit {sha[:12]} is neither in this clone nor to be read from GitHub ({error.sentence}); set "
            "`fetch-depth: 0` at actions/checkout.",
            code="base",
        ) from error
    return tree, lambda oid: content_by_api(api, repository, oid, CARD_BYTES)
