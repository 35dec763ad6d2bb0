"""A route: ordered rules that choose the endpoint of an item by its tags and vars. The first that matches wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.cards.overrides import refusal
from evalaction.method.cards.rules import secrets
from evalaction.method.reading.part import Part
from evalaction.method.reading.source import load
from evalaction.method.reading.text import invisible, short, suggestion
from evalaction.method.records import Item, Quoted, Sentence

MAX_NAME = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """Where the items go that it matches; without tags and vars it matches every item."""

    endpoint: str
    name: str
    """As the rule names itself, or what it chooses: the endpoint, and the model where it is another one."""
    tags: tuple[str, ...] = ()
    """An item matches with any of them; empty: tags do not count."""
    vars: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Each of these vars must have one of its values."""
    model: str | None = None
    params: Mapping[str, Json] = field(default_factory=dict)
    line: int

    def matches(self, item: Item) -> bool:
        """Texts are compared as they are written."""
        if self.tags and not any(tag in self.tags for tag in item.tags):
            return False
        values = item.vars or {}
        return all(values.get(name) in accepted for name, accepted in self.vars.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class Routes:
    file: str
    rules: tuple[Rule, ...]
    """In order; the last one is the default, which matches every item."""

    def place(self, item: Item) -> int:
        """The place of the rule that the item goes by."""
        return next(place for place, rule in enumerate(self.rules) if rule.matches(item))

    def choose(self, item: Item) -> Rule:
        """The rule that the item goes by."""
        return self.rules[self.place(item)]

    def idle(self, items: Iterable[Item]) -> tuple[Sentence, ...]:
        """A sentence for every rule, the default apart, that no item goes by."""
        exam = tuple(items)
        taken = {self.place(item) for item in exam}
        found: list[Sentence] = []
        for place, rule in enumerate(self.rules[:-1]):
            if place not in taken:
                why = "earlier rules take all that it matches" if any(map(rule.matches, exam)) else "it matches none"
                found.append(("The rule in line ", str(rule.line), " of ", Quoted(self.file), f" chooses for no item: {why}"))
        return tuple(found)


def read_routes(data: bytes, *, file: str, endpoints: Mapping[str, Endpoint]) -> Routes:
    """The rules that a YAML or JSON file holds; `endpoints` are those of the card beside it.

    Raises SourceError with line and column.
    """
    root = Part(load(data, file=file, json=file.casefold().endswith(".json")))
    for problem in secrets(root.value):
        raise root.at(*problem.path).wrong(problem.sentence, at_key=problem.at_key)
    if root.value is None:
        raise root.wrong("this route file is empty; it needs a `default`, such as {endpoint: NAME}")
    fields = root.fields(("$schema", "rules", "default"), "a route file")
    if "$schema" in fields:
        fields["$schema"].text("`$schema`")
    if "default" not in fields:
        raise root.wrong("this route file has no `default`, which says where the other items go")
    rules = [_rule(part, endpoints) for part in (fields["rules"].parts("`rules`") if "rules" in fields else ())]
    return Routes(file=file, rules=(*rules, _rule(fields["default"], endpoints, default=True)))


def _rule(part: Part, endpoints: Mapping[str, Endpoint], *, default: bool = False) -> Rule:
    what = "`default`" if default else "a rule"
    fields = part.fields(("name", *(() if default else ("when",)), "endpoint", "model", "params"), what)
    if "endpoint" not in fields:
        raise part.wrong(f"{what} needs an `endpoint`")
    if not default and "when" not in fields:
        raise part.wrong("a rule needs `when`; where all other items go is the `default`")
    endpoint = fields["endpoint"].text("`endpoint`")
    if endpoint not in endpoints:
        known = ", ".join(f"`{short(name)}`" for name in endpoints)
        near = suggestion(endpoint, tuple(endpoints))
        raise fields["endpoint"].wrong(f"there is no endpoint `{short(endpoint)}`; the card has {known}{near}")
    model = _name(fields["model"], 200) if "model" in fields else None
    params = {name: one.value for name, one in fields["params"].mapping("`params`").items()} if "params" in fields else {}
    refused = refusal(endpoints[endpoint], model=model, params=params)
    if refused:
        raise part.at(*refused[0]).wrong(refused[1], at_key=True)
    tags, variables = _when(fields["when"]) if "when" in fields else ((), {})
    chosen = endpoint if model is None else f"{endpoint} ({model})"
    name = _name(fields["name"], MAX_NAME) if "name" in fields else chosen
    return Rule(endpoint=endpoint, name=name, tags=tags, vars=variables, model=model, params=params, line=part.line)


def _when(part: Part) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    fields = part.fields(("tag", "var"), "`when`")
    tags = _texts(fields["tag"], "`tag`") if "tag" in fields else ()
    variables = fields["var"].mapping("`var`") if "var" in fields else {}
    if not fields or ("var" in fields and not variables):
        raise part.wrong("`when` needs a `tag` or a `var` to look at; where all other items go is the `default`")
    return tags, {name: _values(one, f"`{short(name)}`") for name, one in variables.items()}


def _texts(part: Part, what: str) -> tuple[str, ...]:
    """One text, or a list of them of which any will do."""
    if isinstance(part.value, str):
        return (part.text(what),)
    return tuple(one.text(f"an entry of {what}") for one in part.parts(f"{what}, where it is no text,"))


def _values(part: Part, what: str) -> tuple[str, ...]:
    """Like `_texts`; the value of a var may be empty."""
    return ("",) if part.value == "" else _texts(part, what)


def _name(part: Part, longest: int) -> str:
    name = part.text(f"`{part.path[-1]}`")
    if len(name) > longest or name != name.strip() or invisible(name):
        raise part.wrong(f"`{part.path[-1]}` has 1 to {longest} visible characters and no space around them")
    return name
