"""Which endpoint an arm asks for an item, and with which model and parameters: by its entry, its route, its prompt file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from evalaction.errors import SourceError
from evalaction.method.card import Arm, Endpoint
from evalaction.method.cards.overrides import overridden, refusal
from evalaction.method.cards.routes import Routes, read_routes
from evalaction.method.exams.template import Template
from evalaction.method.reading.text import short
from evalaction.method.records import Item, Quoted, Sentence

_TAKES_RESPONSE_FORMAT = ("openai", "azure-openai", "scripted")


@dataclass(frozen=True, slots=True)
class Ways:
    """The endpoints of an arm, as it asks them."""

    routes: Routes | None
    template: Template | None
    endpoints: tuple[Endpoint, ...]
    """One for each rule, with its model and parameters; a single one without rules."""
    plain: tuple[Endpoint, ...]
    """The same, as the card defines them."""

    def of(self, item: Item) -> tuple[Endpoint, str | None]:
        """The endpoint of an item, and the name of the rule that chose it."""
        if self.routes is None:
            return self.endpoints[0], None
        place = self.routes.place(item)
        return self.endpoints[place], self.routes.rules[place].name

    def idle(self, items: Iterable[Item]) -> tuple[Sentence, ...]:
        """The rules that no item goes by."""
        return self.routes.idle(items) if self.routes else ()

    def notes(self) -> Iterator[Sentence]:
        """What a prompt file says that is not read, and what it sets in the place of an endpoint's own."""
        if self.template is None:
            return
        yield from self.template.warnings
        model, params = self.template.model, self.template.params
        sets = ["the model"] if model is not None and any(one.model != model for one in self.plain) else []
        sets += [name for name, value in params.items() if any(one.params.get(name) != value for one in self.plain)]
        if sets:
            yield ("Not the card but ", Quoted(self.template.file), " sets ", Quoted(", ".join(sets)))


def ways_of(arm: Arm, files: Mapping[str, bytes], endpoints: Mapping[str, Endpoint], template: Template | None) -> Ways:
    """The ways of an arm; `files` and `endpoints` are those of the commit that defines it. Raises SourceError."""
    if arm.route is None:
        assert arm.endpoint is not None, "an arm has an endpoint or a route"
        endpoint = endpoints[arm.endpoint]
        return Ways(None, template, (_with_template(endpoint, template),), (endpoint,))
    routes = read_routes(files[arm.route], file=arm.route, endpoints=endpoints)
    if template and template.model is not None:
        sentence = f"this prompt file names a model, and the rules of {short(arm.route)} choose it; remove it here"
        raise SourceError(sentence, file=template.file)
    plain = tuple(endpoints[rule.endpoint] for rule in routes.rules)
    asked = (
        overridden(_with_template(endpoint, template), model=rule.model, params=rule.params)
        for rule, endpoint in zip(routes.rules, plain, strict=True)
    )
    return Ways(routes, template, tuple(asked), plain)


def _with_template(endpoint: Endpoint, template: Template | None) -> Endpoint:
    if template is None:
        return endpoint
    refused = refusal(endpoint, model=template.model, params=template.params)
    if refused:
        raise SourceError(f"what this prompt file sets does not fit: {refused[1]}", file=template.file)
    if "response_format" in template.params and endpoint.api not in _TAKES_RESPONSE_FORMAT:
        sentence = f"`responseFormat` is sent as `response_format`, which `api: {endpoint.api}` does not take; remove it"
        raise SourceError(sentence, file=template.file)
    return overridden(endpoint, model=template.model, params=template.params)
