"""A pull request's card against its base: what changes in the question is said; where secrets would go must not change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from evalaction.cli.action.bases import in_pull_request
from evalaction.errors import EvalactionError, UnregisteredError, UsageError
from evalaction.method.card import AtCommit, Card, Endpoint
from evalaction.method.cards.parse import parse_card
from evalaction.method.question_changes import question_changes
from evalaction.method.records import Sentence
from evalaction.method.telling.changed import question_sentence
from evalaction.registration.paths import CARD_BYTES

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage
    from evalaction.engine.prepare import Prepared
    from evalaction.engine.trial import Trial
    from evalaction.github.api import Api

_NEW: Sentence = ("This card is new in this pull request.",)
_UNREADABLE: Sentence = ("This card cannot be read as base has it, so what changes in the question is not known.",)


def compare(stage: Stage, prepared: Prepared) -> tuple[Sentence, ...]:
    """Callouts. Raises UnregisteredError (`endpoint_changed`) where a secret would go elsewhere than at base, and UsageError
    where base cannot be found although something would be drawn."""
    from evalaction.endpoints import missing_variables, secrets_of

    trial = prepared.trial
    if not in_pull_request(stage) or trial.new:
        return ()
    secret = bool(secrets_of(prepared.named, stage.world.environ))
    path = trial.base_path or prepared.path
    try:
        tree, read = files_at_base(stage)
        cards = cards_at_base(stage, [path], tree, read)
        _expect_base(stage, cards.get(path), trial)
    except EvalactionError:
        if secret or not missing_variables(prepared.asked, stage.world.environ):
            raise
        return ()  # nothing can be drawn, and a fork of depth 1 may not have its base
    own = cards.get(path)
    compared = [own] if path in cards else cards.values()
    allowed = {_identity(one) for card in compared if card for one in card.endpoints.values()}
    if secret and cards:
        _refuse_moved(prepared.asked, allowed)
    if trial.asked_by is not None:
        return ()  # the report says so itself
    if own is None:
        return (_UNREADABLE if path in cards else _NEW,)
    changes = question_sentence(question_changes(own, prepared.card))
    return (
        (("The question changes in this pull request, which is judged by the changed one: ", *changes, "."),) if changes else ()
    )


def _expect_base(stage: Stage, own: Card | None, trial: Trial) -> None:
    """Base is known from GitHub alone, and its card judges: then it has to be here. Raises UsageError."""
    if own is not None and own.control == AtCommit() and trial.asked_by is None and trial.base is None:
        _ = stage.base


def _refuse_moved(asked: Sequence[Endpoint], allowed: set[tuple[Any, ...]]) -> None:
    from evalaction.endpoints import variables_of

    for endpoint in asked:
        if any(variables_of(endpoint)) and _identity(endpoint) not in allowed:
            raise UnregisteredError(
                f"The endpoint {endpoint.name} has another address, or other variables for its key, headers or program, "
                "than at base, or base's card cannot be read, and a secret is set: nothing was sent. "
                "Have the changed endpoint reviewed and merged; it is judged from the next pull request on.",
                code="endpoint_changed",
            )


def _identity(endpoint: Endpoint) -> tuple[Any, ...]:
    """Where an endpoint's secrets go, and which."""
    headers = tuple(sorted((header.name.lower(), header.env) for header in endpoint.headers if header.env))
    polled, given = endpoint.poll.url if endpoint.poll else None, endpoint.command.env if endpoint.command else ()
    return endpoint.url, endpoint.url_env, polled, endpoint.key_env, headers, given


Read: TypeAlias = "Callable[[str], bytes | None]"


def cards_at_base(stage: Stage, paths: Sequence[str], tree: Mapping[str, str], read: Read) -> Mapping[str, Card | None]:
    """The cards at these paths and the others that the input names, as base has them; None for one that cannot be read: it
    vouches for no address."""
    from evalaction import schemas
    from evalaction.github.cards import match_cards

    named = set(paths)
    for pattern in stage.settings.card:
        with contextlib.suppress(EvalactionError):  # a pattern that matches nothing at base
            named |= set(match_cards([pattern], tree))
    found: dict[str, Card | None] = {}
    for path in sorted(named & tree.keys()):
        data = read(tree[path])
        found[path] = None
        with contextlib.suppress(EvalactionError):
            found[path] = parse_card(data, file=path, schema=schemas.load("card")) if data else None
    return found


def files_at_base(stage: Stage) -> tuple[Mapping[str, str], Read]:
    """Path to object id of base's regular files, and how one of at most 256 KiB is read: from the clone, else from GitHub.

    Raises UsageError where base is neither here nor there.
    """
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
