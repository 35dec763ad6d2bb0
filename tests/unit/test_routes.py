from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.runs import endpoint

from evalaction import schemas
from evalaction.errors import SourceError
from evalaction.method.card import Endpoint, HttpShape
from evalaction.method.cards.routes import Routes, Rule, read_routes
from evalaction.method.records import Check, Item, Quoted

FILE = "llm/routes.yaml"
ENDPOINTS: Mapping[str, Endpoint] = {
    "big": endpoint("big"),
    "small": endpoint("small"),
    "http": endpoint("http", api="http", http=HttpShape(body={"q": "{{prompt}}"}, text="/t")),
    "claude": endpoint("claude", api="anthropic"),
}
YAML = """\
rules:
  - {when: {tag: code}, endpoint: big, model: larger, params: {temperature: 0.0}}
  - name: gold customers
    when:
      tag: [prose, mail]
      var: {tier: [gold, platinum], lang: en}
    endpoint: big
default: {endpoint: small}
"""


def routes(data: str | dict[str, Any], file: str = FILE) -> Routes:
    text = data if isinstance(data, str) else json.dumps(data)
    return read_routes(text.encode(), file=file, endpoints=ENDPOINTS)


def item(*tags: str, **variables: str) -> Item:
    return Item(
        id="a", index=0, file="t", line=1, prompt=None if variables else "p", vars=variables or None, tags=tags,
        check=Check(kind="exact", expected="x"), sha256="0" * 64,
    )  # fmt: skip


def test_the_first_rule_that_matches_wins() -> None:
    found = routes(YAML)
    assert [rule.name for rule in found.rules] == ["big (larger)", "gold customers", "small"]
    assert [str(found.rules[0].params["temperature"]), found.rules[0].model, found.rules[0].line] == ["0.0", "larger", 2]
    chosen = [
        (item("code", "prose", tier="gold", lang="en"), 0),
        (item("mail", tier="platinum", lang="en"), 1),
        (item("mail", tier="gold", lang="de"), 2),
        (item("mail", tier="Gold", lang="en"), 2),
        (item("prose"), 2),
        (item(tier="gold", lang="en"), 2),
        (item(), 2),
    ]
    assert [found.place(one) for one, _ in chosen] == [place for _, place in chosen]
    assert found.choose(item("code")) == found.rules[0]


def test_json_and_a_route_that_is_a_default_alone() -> None:
    assert routes({"default": {"endpoint": "small"}}).rules == (Rule(endpoint="small", name="small", line=1),)
    rule = '{"when": {"var": {"x": ""}}, "endpoint": "big"}'
    default = '{"endpoint": "small", "name": "rest"}'
    found = routes(f'{{"$schema": "route.schema.json",\t"rules": [{rule}], "default": {default}}}', "r.JSON")
    assert [found.place(one) for one in (item(x=""), item(x=" "), item())] == [0, 1, 1]
    assert found.rules[1].name == "rest"


def test_rules_that_choose_for_no_item_are_named() -> None:
    found = routes(
        {
            "rules": [
                {"when": {"tag": "code"}, "endpoint": "big"},
                {"when": {"tag": ["code", "x"]}, "endpoint": "small"},
                {"when": {"tag": "typo"}, "endpoint": "big"},
            ],
            "default": {"endpoint": "small"},
        }
    )
    assert found.idle([item("code"), item()]) == (
        ("The rule in line ", "1", " of ", Quoted(FILE), " chooses for no item: earlier rules take all that it matches"),
        ("The rule in line ", "1", " of ", Quoted(FILE), " chooses for no item: it matches none"),
    )
    assert found.idle([item("code"), item("x"), item("typo")]) == ()  # a default that nothing is left for is no mistake


RULE = "rules:\n  - when: {tag: code}\n    endpoint: big\n"
DEFAULT = "default: {endpoint: small}\n"


@pytest.mark.parametrize(
    ("data", "line", "column", "words"),
    [
        ("", 1, 1, "this route file is empty"),
        ("- x\n", 1, 1, "a route file must be a mapping, not a list"),
        (RULE, 1, 1, "this route file has no `default`"),
        (DEFAULT + "rule: []\n", 2, 1, "unknown field `rule`; did you mean `rules`?"),
        (DEFAULT + "rules: []\n", 2, 8, "`rules` must not be empty"),
        (DEFAULT + "rules: {}\n", 2, 8, "`rules` must be a list, not a mapping"),
        (DEFAULT + "rules: [x]\n", 2, 9, "a rule must be a mapping"),
        (DEFAULT + "rules: [{endpoint: big}]\n", 2, 9, "a rule needs `when`"),
        (DEFAULT + "rules: [{when: {tag: a}}]\n", 2, 9, "a rule needs an `endpoint`"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: bgi}]\n", 2, 36, "there is no endpoint `bgi`; the card has `big`, "),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: 5}]\n", 2, 36, "`endpoint` must be text, not 5"),
        (DEFAULT + "rules: [{when: {}, endpoint: big}]\n", 2, 16, "`when` needs a `tag` or a `var`"),
        (DEFAULT + "rules: [{when: {var: {}}, endpoint: big}]\n", 2, 16, "`when` needs a `tag` or a `var`"),
        (DEFAULT + "rules: [{when: {tags: a}, endpoint: big}]\n", 2, 17, "unknown field `tags`; did you mean `tag`?"),
        (DEFAULT + "rules: [{when: {tag: 5}, endpoint: big}]\n", 2, 22, "`tag`, where it is no text, must be a list, not 5"),
        (DEFAULT + "rules: [{when: {tag: ''}, endpoint: big}]\n", 2, 22, "`tag` must not be empty"),
        (DEFAULT + "rules: [{when: {tag: [a, 1]}, endpoint: big}]\n", 2, 26, "an entry of `tag` must be text, not 1; put it in"),
        (DEFAULT + "rules: [{when: {var: a}, endpoint: big}]\n", 2, 22, "`var` must be a mapping"),
        (DEFAULT + "rules: [{when: {var: {n: 5}}, endpoint: big}]\n", 2, 26, "`n`, where it is no text, must be a list, not 5"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: big, model: ' m'}]\n", 2, 48, "`model` has 1 to 200 visible characters"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: big, name: \"a\\u200b\"}]\n", 2, 47, "`name` has 1 to 100 visible"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: big, params: 5}]\n", 2, 49, "`params` must be a mapping"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: big, params: {n: 5}}]\n", 2, 50, "`params.n` is written by evalaction"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: claude, params: {system: x}}]\n", 2, 53, "`params.system` is written by"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: http, params: {x: 5}}]\n", 2, 42, "has no parameters beside its `body`"),
        (DEFAULT + "rules: [{when: {tag: a}, endpoint: http, model: m}]\n", 2, 42, "has no `{{model}}`, so a model"),
        ("default: {endpoint: small, when: {tag: a}}\n", 1, 28, "unknown field `when`"),
        ("default: {endpoint: small, model: ghp_abcdefghijklmnopqrstuvwxyz0123456789}\n", 1, 35, "looks like it holds a key"),
        ("default: {endpoint: small\n", 2, 1, "this is not YAML"),
    ],
)  # fmt: skip
def test_mistakes_have_a_place(data: str, line: int, column: int, words: str) -> None:
    with pytest.raises(SourceError) as caught:
        routes(data)
    assert (caught.value.file, caught.value.line, caught.value.column) == (FILE, line, column)
    assert words in caught.value.sentence


texts: st.SearchStrategy[Any] = st.sampled_from(["a", "b", "", " ", 5, None, [], ["a"], ["a", "b"], ["a", ""], [1], {}])
whens = st.dictionaries(
    st.sampled_from(["tag", "var", "x"]), texts | st.dictionaries(st.sampled_from(["v", "w"]), texts, max_size=2)
)
rules = st.fixed_dictionaries(
    {},
    optional={
        "when": whens,
        "endpoint": st.sampled_from(["big", "small", "", 5]),
        "model": st.sampled_from(["m", "", 5]),
        "params": st.sampled_from([{}, {"temperature": 0}, []]),
        "name": st.sampled_from(["n", "", 5]),
        "y": st.just(1),
    },
)
files = st.fixed_dictionaries(
    {}, optional={"rules": st.lists(rules, max_size=3) | st.just({}), "default": rules, "$schema": st.sampled_from(["x", 5])}
)


@settings(max_examples=300, deadline=None)
@given(files)
def test_the_reader_takes_what_the_published_schema_takes(value: dict[str, Any]) -> None:
    fits = jsonschema.Draft202012Validator(schemas.load("route")).is_valid(value)
    try:
        routes(value)
    except SourceError as error:
        assert not fits, error.sentence
        assert error.line is not None and error.column is not None
    else:
        assert fits


def test_the_schema_takes_real_routes() -> None:
    from evalaction.method.reading.source import load

    value = json.loads(json.dumps(load(YAML.encode(), file="r").value, default=float))
    jsonschema.validate(value, schemas.load("route"))
    jsonschema.Draft202012Validator.check_schema(schemas.load("route"))
