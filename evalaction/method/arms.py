"""An arm resolved at one commit: for every item the endpoint that is asked and what it is asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from evalaction.errors import UsageError
from evalaction.method.canonical import Json, digest, dumps
from evalaction.method.card import Arm, Card, Endpoint
from evalaction.method.cards.endpoints import body_places
from evalaction.method.cards.rules import private_to_shared, unpriced
from evalaction.method.exams.exam import Exam
from evalaction.method.exams.prompt import messages_for
from evalaction.method.exams.template import Template, read_template
from evalaction.method.judging.facts import ArmFacts, EndpointFacts
from evalaction.method.judging.limits import sampling_seed
from evalaction.method.programs import program_sha256
from evalaction.method.question import endpoint_of
from evalaction.method.reading.text import decode, short
from evalaction.method.records import ArmName, Item, Message, Output, Quoted, Sentence
from evalaction.method.ways import ways_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where an arm is defined: its entry, the card whose endpoints it names, and the files of the same commit."""

    card: Card
    arm: Arm
    files: Mapping[str, bytes]
    """By path as that card writes it."""
    commit: str | None
    """None: a rehearsal, from the working tree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What an arm does with one item."""

    endpoint: Endpoint
    """As it is asked: with the model and the parameters that a rule or a prompt file sets."""
    messages: tuple[Message, ...]
    output: Output
    route: str | None = None
    """The rule that chose the endpoint; None in an arm without rules."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    source: Source
    asked: tuple[Asked, ...]
    """In exam order."""
    notes: tuple[Sentence, ...] = ()
    """What the files of the arm say that somebody may have meant otherwise."""

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The different endpoints that are asked, in the order of the exam."""
        return distinct(one.endpoint for one in self.asked)

    @property
    def places(self) -> tuple[int, ...]:
        """Per item, in exam order, where its endpoint stands in `endpoints`."""
        known = tuple(enumerate(self.endpoints))
        return tuple(next(n for n, one in known if one is asked.endpoint or one == asked.endpoint) for asked in self.asked)


def distinct(endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
    found: list[Endpoint] = []
    for endpoint in endpoints:
        if not any(endpoint is one or endpoint == one for one in found):
            found.append(endpoint)
    return tuple(found)


def resolve_arms(sources: Mapping[ArmName, Source], exam: Exam) -> dict[ArmName, Resolved]:
    """`resolve` of each arm. A mistake in one that another commit defines than the treatment says which."""
    found: dict[ArmName, Resolved] = {}
    for name, source in sources.items():
        try:
            found[name] = resolve(source, exam)
        except UsageError as error:
            if source.commit and source.commit != sources["treatment"].commit:
                error.explain(f"This is about the {name}, as commit {source.commit[:12]} defines it.")
            raise
    return found


def resolve(source: Source, exam: Exam) -> Resolved:
    """What the arm asks for every item. Raises SourceError and UsageError where arm, files and items do not fit together."""
    arm, files = source.arm, source.files
    system = decode(files[arm.system], file=arm.system) if arm.system else None
    template = read_template(files[arm.template], file=arm.template) if arm.template else None
    ways = ways_of(arm, files, source.card.endpoints, template)
    asked = tuple(_asked(item, ways.of(item), system, template) for item in exam.items)
    _expect_fit(asked, exam)
    notes = (*_odd_texts(arm, system, template, len(asked)), *ways.notes(), *ways.idle(exam.items))
    return Resolved(source=source, asked=asked, notes=notes)


def _odd_texts(arm: Arm, system: str | None, template: Template | None, items: int) -> Iterator[Sentence]:
    """What can be meant, and is mostly a slip: said, and sent as it stands."""
    if system is not None and not system.strip():
        yield (Quoted(arm.system or ""), " is empty: every item is sent an empty system message")
    if template is not None and not template.names and items > 1:
        yield (Quoted(template.file), " has no place such as {{name}}: every item is asked the same")


def _asked(item: Item, way: tuple[Endpoint, str | None], system: str | None, template: Template | None) -> Asked:
    endpoint, route = way
    return Asked(
        endpoint=endpoint,
        messages=messages_for(item, system=system, template=template),
        output=item.output or endpoint.output,
        route=route,
    )


def _expect_fit(asked: Iterable[Asked], exam: Exam) -> None:
    """Raises UsageError where an endpoint cannot send what an item asks, or give what its check judges."""
    places: dict[int, bool] = {}
    for one, item in zip(asked, exam.items, strict=True):
        why = _misfit(one, item, places)
        if why:
            raise UsageError(f"item `{short(item.id)}` {why}")


def _misfit(one: Asked, item: Item, places: dict[int, bool]) -> str | None:
    endpoint = one.endpoint
    if endpoint.http is not None and any(message.role == "system" for message in one.messages):
        # Bodies can be large and are few: each is searched once.
        if id(endpoint.http) not in places:
            places[id(endpoint.http)] = bool(body_places(endpoint.http.body) & {"system", "messages"})
        if not places[id(endpoint.http)]:
            room = "has no place for it; add `{{system}}` or `{{messages}}`"
            return f"has a `system` text, and the body of endpoint `{short(endpoint.name)}` {room}"
    if one.output == "tool_calls" and item.check.kind == "code":
        gives = "gives tool calls; set `output: text` for the item"
        return f"is judged by a `check.py`, which runs text, and endpoint `{short(endpoint.name)}` {gives}"
    if one.output == "tool_calls" and endpoint.command is not None:
        return f"asks for tool calls, and endpoint `{short(endpoint.name)}` is a program that writes text; set `output: text`"
    if item.check.source == "trace" and endpoint.trace is None:
        return f"is judged by its trace, and endpoint `{short(endpoint.name)}` declares none; add `trace` to it"
    return None


def check_allowed(card: Card, resolved: Resolved) -> None:
    """What the card asks of every endpoint, also of those that a route or another commit chooses. Raises UsageError.

    `card` holds the question; the arm may be defined by another one.
    """
    for endpoint in resolved.endpoints:
        if endpoint.api == "scripted":
            continue
        if card.exam.data == "private" and endpoint.shared:
            raise UsageError(private_to_shared(endpoint.name))
        if card.budget.usd is not None and endpoint.price is None:
            raise UsageError(unpriced(endpoint.name))


def connection(endpoint: Endpoint) -> Endpoint:
    """The endpoint without what a request says itself: draws with equal connections share their sockets.

    With an `api_version` the address names the model.
    """
    return replace(endpoint, model=endpoint.model if endpoint.api_version else None, params={}, price=None)


def identity_of(endpoint: Endpoint, files: Mapping[str, bytes]) -> Json:
    """`endpoint_of` with the file of a scripted endpoint and the program of a command."""
    return endpoint_of(
        endpoint,
        replies=_replies(endpoint, files),
        program=_program(endpoint, files),
    )


def digested(resolved: Resolved) -> Json:
    """What of an arm's endpoints the question digest covers beside the requests: each one, and which item goes to which."""
    each = list(_identities(resolved))
    different = [value for place, value in enumerate(each) if value not in each[:place]]
    if len(different) == 1:
        return different[0]
    index = [different.index(value) for value in each]
    return {"endpoints": different, "of": [index[place] for place in resolved.places]}


def _identities(resolved: Resolved) -> Iterator[Json]:
    return (identity_of(endpoint, resolved.source.files) for endpoint in resolved.endpoints)


def facts_of(resolved: Resolved) -> ArmFacts:
    """What a report says of the arm's endpoints; names and digests, never an address."""
    return ArmFacts(
        endpoints=tuple(
            EndpointFacts(
                name=endpoint.name,
                api=endpoint.api,
                model=endpoint.model,
                output=endpoint.output,
                seeded=sampling_seed(endpoint),
                identity=digest(identity),
                parameters=digest(dict(endpoint.params)),
                counters=tuple(endpoint.counters),
            )
            for endpoint, identity in zip(resolved.endpoints, _identities(resolved), strict=True)
        ),
        commit=resolved.source.commit,
    )


def moved_levers(ours: Resolved, theirs: Resolved) -> tuple[str, ...]:
    """What differs between two arms: route, endpoint, program, model, parameters, prompt.

    An item that goes another way says nothing of the other levers: its endpoint and model differ because of the route. An
    endpoint that has another name and is otherwise the same is no other way.
    """
    pairs = list(zip(ours.asked, theirs.asked, strict=True))
    files = (ours.source.files, theirs.source.files)
    ways = [[_way(endpoint, held) for endpoint in arm.endpoints] for arm, held in zip((ours, theirs), files, strict=True)]
    places = zip(ours.places, theirs.places, strict=True)
    rerouted = [
        (a.route is not None or b.route is not None) and a.endpoint.name != b.endpoint.name and ways[0][here] != ways[1][there]
        for (a, b), (here, there) in zip(pairs, places, strict=True)
    ]
    stayed = [pair for pair, other in zip(pairs, rerouted, strict=True) if not other]
    compared = [pair for place, pair in enumerate(stayed) if not _same_pair(pair, stayed[place - 1] if place else None)]
    differs = {
        "route": any(rerouted),
        "endpoint": any(endpoint_of(a.endpoint) != endpoint_of(b.endpoint) for a, b in compared),
        "program": any(_program(a.endpoint, files[0]) != _program(b.endpoint, files[1]) for a, b in compared),
        "model": any(a.endpoint.model != b.endpoint.model for a, b in compared),
        "parameters": any(_parameters(a.endpoint) != _parameters(b.endpoint) for a, b in compared),
        "prompt": any(a.messages != b.messages for a, b in pairs),
    }
    # A script of replies stands for what another prompt or model would say: it is a lever only where nothing else is.
    if not any(differs.values()):
        differs["endpoint"] = any(_replies(a.endpoint, files[0]) != _replies(b.endpoint, files[1]) for a, b in compared)
    return tuple(lever for lever, moved in differs.items() if moved)


def _way(endpoint: Endpoint, files: Mapping[str, bytes]) -> Json:
    return [identity_of(endpoint, files), endpoint.model, _parameters(endpoint)]


def _replies(endpoint: Endpoint, files: Mapping[str, bytes]) -> bytes | None:
    return files[endpoint.replies] if endpoint.replies else None


def _parameters(endpoint: Endpoint) -> str:
    """Parameters and body as they are sent: in the order of the card, numbers as they are written."""
    return dumps([endpoint.params, endpoint.http.body if endpoint.http else None], sort_keys=False)


def _program(endpoint: Endpoint, files: Mapping[str, bytes]) -> str | None:
    return program_sha256(endpoint.command, files) if endpoint.command else None


def _same_pair(pair: tuple[Asked, Asked], before: tuple[Asked, Asked] | None) -> bool:
    """Items that follow each other mostly share their endpoints, which are then compared once."""
    return before is not None and all(a.endpoint is b.endpoint for a, b in zip(pair, before, strict=True))
