from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from support.cards import card, text, two_arms

from evalaction import schemas
from evalaction.errors import SourceError
from evalaction.method.card import Arm, AtCommit, Card, Header, Sign
from evalaction.method.cards.parse import parse_card, read_card

SCHEMA = schemas.load("card")

SMALLEST = """\
protocol: evalaction/1
name: support-triage
exam: {tasks: eval/tasks.jsonl, data: synthetic}      # `lock` adds the hashes
endpoints:
  main: {api: openai, url_env: EVAL_URL, key_env: EVAL_KEY, model: some-model, params: {temperature: 0.20, max_tokens: 400}}
arms:
  treatment: {endpoint: main, system: prompts/triage.md}
draws: {count: 5, timeout_ms: 20000}
limits: {min_stable_pass: 0.80, min_contract: 0.98}
"""

HTTP: dict[str, Any] = {
    "api": "http",
    "url": "https://host.example/draw?version=2",
    "headers": {"X-Team": "eval", "X-Secret": {"env": "TEAM_SECRET"}},
    "body": {"q": "{{prompt}}", "s": ["{{ system }}"], "t": 0.2},
    "text": "/out/0",
    "usage_input": "/usage/in",
}


def parse(source: str | bytes | dict[str, Any]) -> Card:
    data = text(source) if isinstance(source, dict) else source.encode() if isinstance(source, str) else source
    return parse_card(data, file="card.yaml", schema=SCHEMA)


def refusal(source: str | dict[str, Any]) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse(source)
    assert caught.value.file == "card.yaml"
    assert caught.value.line is not None
    assert caught.value.column is not None
    assert str(caught.value).startswith(f"card.yaml:{caught.value.line}:{caught.value.column}: ")
    return caught.value


def test_the_smallest_card_has_the_defaults_of_the_table() -> None:
    found = parse(SMALLEST)
    assert (found.protocol, found.name, found.control, found.sign, found.runner, found.record) == (
        "evalaction/1", "support-triage", None, None, None, None,
    )  # fmt: skip
    assert (found.exam.tasks, found.exam.data, found.exam.sha256) == ("eval/tasks.jsonl", "synthetic", None)
    assert (found.draws.keep_text, found.draws.max_body_bytes) == ("full", 1_048_576)
    checks = found.checks
    assert (checks.timeout_ms, checks.cpu_ms, checks.memory_mb, checks.output_bytes) == (30_000, 10_000, 512, 65_536)
    assert (checks.isolation, checks.image, found.exam.checker) == ("split", None, None)
    pace = found.pace
    assert (pace.concurrency, pace.per_minute, pace.max_wait_ms, pace.deadline_ms) == (8, None, 30_000, 3_600_000)
    assert (found.validity.max_transport_error_rate.text, found.validity.min_scored_fraction.text) == ("0.05", "0.95")
    assert (found.budget.calls, found.budget.tokens, found.budget.usd) == (None, None, None)
    endpoint = found.endpoints["main"]
    assert (endpoint.output, endpoint.shared, endpoint.headers) == ("text", True, ())
    assert str(endpoint.params["temperature"]) == "0.20"


def test_thresholds_keep_their_text_and_their_line() -> None:
    stable, contract = parse(SMALLEST).limits
    assert (stable.scope, stable.name, stable.bound.text, stable.bound.value) == (
        "treatment", "min_stable_pass", "0.80", Fraction(4, 5),
    )  # fmt: skip
    assert (contract.name, contract.line) == ("min_contract", 9)


def test_sign_defaults_and_json_cards() -> None:
    found = parse(two_arms({"sign": {"claim": "not_behind", "seed": "s", "margin": 0.1}}))
    assert found.sign is not None
    assert (found.sign.metric, found.sign.min_items_per_half, found.sign.min_item_gap) == ("first", 30, 2)
    assert (found.sign.min_abs_gap.text, found.sign.margin and found.sign.margin.value) == ("0.02", Fraction(1, 10))
    assert found.seed == "s"
    assert list(found.arms) == ["treatment", "control"]


def test_limits_by_scope_and_tag() -> None:
    limits = {
        "min_reach": 1,
        "by_tag": {"code": {"max_p95_ms": 900}},
        "control": {"max_runner_error_items": 0},
        "between": {"max_first_drop": 0.1},
    }
    found = parse(two_arms({"limits": limits})).limits
    assert [(one.scope, one.name, one.tag, one.bound.text) for one in found] == [
        ("treatment", "min_reach", None, "1"),
        ("treatment", "max_p95_ms", "code", "900"),
        ("control", "max_runner_error_items", None, "0"),
        ("between", "max_first_drop", None, "0.1"),
    ]
    nested = parse(card({"limits": {"treatment": {"by_tag": {"code": {"min_check": 0.5}}}}})).limits
    assert [(one.scope, one.name, one.tag) for one in nested] == [("treatment", "min_check", "code")]


def test_http_and_scripted_endpoints() -> None:
    found = parse(card({"endpoints": {"main": HTTP}})).endpoints["main"]
    assert found.http is not None
    assert found.http.body == {"q": "{{prompt}}", "s": ["{{ system }}"], "t": Decimal("0.2")}
    assert (found.http.text, found.http.usage_input, found.http.id) == ("/out/0", "/usage/in", None)
    assert found.headers == (Header(name="X-Team", value="eval"), Header(name="X-Secret", env="TEAM_SECRET"))
    scripted = parse(card({"endpoints.main": {"api": "scripted", "replies": "r/replies.json"}}))
    assert scripted.endpoints["main"].replies == "r/replies.json"


def test_every_other_field_arrives() -> None:
    found = parse(
        card(
            {
                "exam.tasks": "eval/items/",
                "exam.checker": "eval/checker.py",
                "checks": {"isolation": "split", "image": "none", "cpu_ms": 5},
                "pace": {"per_minute": "none", "concurrency": 2},
                "budget": {"calls": 9, "tokens": 10, "usd": 0.50},
                "endpoints.main.price": {"input": 0.15, "output": 1},
                "runner": {"image_os": "ubuntu24", "python": "3.12"},
                "record": {"terms": "https://host.example/terms", "read_on": "2026-11-30", "allowance": 500},
                "stop": "full",
                "$schema": "card.schema.json",
            }
        )
    )
    assert found.exam.tasks == "eval/items"
    assert (found.checks.isolation, found.checks.image, found.exam.checker) == ("split", None, "eval/checker.py")
    assert (found.checks.cpu_ms, found.pace.per_minute, found.pace.concurrency) == (5, None, 2)
    assert (found.budget.calls, found.budget.usd and found.budget.usd.value) == (9, Fraction(1, 2))
    price = found.endpoints["main"].price
    assert price is not None
    assert (price.input.text, price.output.text) == ("0.15", "1")
    assert (found.runner and found.runner.python, found.record and found.record.allowance) == ("3.12", 500)


def test_private_exams_keep_no_text() -> None:
    private = {"exam.data": "private", "endpoints.main.shared": False}
    assert parse(card(private)).draws.keep_text == "none"
    assert "not kept" in refusal(card(private | {"draws.keep_text": "head"})).sentence


def test_hashes_stand_as_they_are_written() -> None:
    for digits in ("0" * 64, "A" * 64, "12e" + "4" * 61):
        assert parse(SMALLEST.replace("synthetic}", f"synthetic, sha256: {digits}}}")).exam.sha256 == digits
    assert parse(SMALLEST.replace("synthetic}", "synthetic, sha256: }")).exam.sha256 is None
    assert read_card(text(card({"exam.sha256": "0" * 64})), file="c").raw(("exam", "sha256")) == "0" * 64


WRONG_VALUES = [
    ({"draws.count": 5.0}, "`draws.count` must be a whole number, not 5.0; write 5"),
    ({"draws.count": "5"}, '`draws.count` must be a whole number, not the text "5"; write it without quotes'),
    ({"draws.count": True}, "`draws.count` must be a whole number, not true"),
    ({"draws.count": 0}, "`draws.count` must be at least 1, not 0"),
    ({"draws.count": -1}, "`draws.count` must be at least 1, not -1"),
    ({"draws.count": None}, "`draws.count` is empty; remove it or give it a value"),
    ({"draws.count": [5]}, "`draws.count` must be a whole number, not a list"),
    ({"draws.count": {"k": 5}}, "`draws.count` must be a whole number, not a mapping"),
    ({"draws.timeout_ms": "20s"}, 'not the text "20s"; write digits only, without separators or units'),
    ({"draws.timeout_ms": "1e999"}, 'not the text "1e999"; write digits only'),
    ({"draws": 5}, "`draws` must be a mapping, not 5"),
    ({"draws.max_body_bytes": 8_388_609}, "`draws.max_body_bytes` must be at most 8388608"),
    ({"limits": None}, "`limits` is empty"),
    ({"limits": {"min_stable_pass": "0.8"}}, 'must be a number, not the text "0.8"; write it without quotes'),
    ({"limits": {"min_stable_pass": True}}, "must be a number, not true"),
    ({"limits": {"min_stable_pass": 80}}, "`limits.min_stable_pass` must be at most 1, not 80"),
    ({"limits": {"min_stable_pass": -0.1}}, "must be at least 0, not -0.1"),
    ({"limits": {"max_p95_ms": 0}}, "must be at least 1"),
    ({"budget": {"usd": 0}}, "`budget.usd` must be more than 0"),
    ({"name": 5}, "`name` must be text, not 5; put it in quotes"),
    ({"name": ""}, "`name` is empty"),
    ({"name": "x" * 201}, "`name` has more than 200 characters"),
    ({"name": "a\u202eb"}, "`name` holds U+202E"),
    ({"name": "a\x1bb"}, "`name` holds U+001B"),
    ({"runner": {"python": 3.12}}, "`runner.python` must be text, not 3.12; put it in quotes"),
    ({"endpoints.main.shared": "yes"}, "`endpoints.main.shared` must be `true` or `false`"),
    ({"endpoints.main.api": "opena"}, "`anthropic`, `http`, `command` or `scripted`"),
    ({"endpoints.main.key_env": "MY-KEY"}, "the name of an environment variable"),
    ({"endpoints": {}}, "`endpoints` is empty"),
    ({"endpoints": {"a" * 101: {"api": "scripted", "replies": "r"}}}, "a name has 1 to 100 characters"),
    ({"protocol": "evalaction/2"}, "`protocol` must be `evalaction/1`"),
    ({"pace": {"per_minute": 0}}, "`pace.per_minute` must be at least 1, not 0"),
    ({"pace": {"per_minute": "fast"}}, "requests that may begin in a minute, or `none`"),
    ({"exam.data": "Private"}, "must be `synthetic`, `public` or `private`"),
    ({"exam.sha256": ["x"]}, "`exam.sha256` must be text, not a list"),
    ({"record": {"read_on": "30.11.2026"}}, "the day they were read, as YYYY-MM-DD"),
    ({"record": {"read_on": "2026-13-01"}}, "is not a day"),
    ({"endpoints.main.headers": {"X-A": 5}}, "the value as text, or `{env: NAME}`"),
    (
        {"endpoints.main.headers": {"X-A": {"enw": "B"}}},
        "unknown field `enw` in `endpoints.main.headers.X-A`; did you mean `env`?",
    ),
]


@pytest.mark.parametrize(("changes", "words"), WRONG_VALUES, ids=[words for _, words in WRONG_VALUES])
def test_wrong_values(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(card(changes)).sentence


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cheker": 1}, "unknown field `cheker`; did you mean `checks`?"),
        ({"exam.cheker_sha256": "x"}, "unknown field `cheker_sha256` in `exam`; did you mean `checker_sha256`?"),
        ({"draws.temperature": 1}, "unknown field `temperature` in `draws`"),
        ({"endpoints.main.temperature": 1}, "parameters of the model belong under `params`"),
        ({"limits": {"min_first_pas": 1}}, "did you mean `min_first_pass`?"),
        ({"limits": {"between": {"min_reach": 1}}}, "unknown field `min_reach` in `limits.between`"),
        ({"protocol": ...}, "`protocol` is missing"),
        ({"exam.data": ...}, "`exam.data` is missing"),
        ({"draws.timeout_ms": ...}, "`draws.timeout_ms` is missing"),
        ({"arms.treatment": ...}, "`arms.treatment` is missing"),
        ({"arms.treatment.endpoint": ...}, "`arms.treatment` needs an `endpoint`, or a `route` with rules"),
        # A misspelt name explains what is missing, so it is shown first.
        ({"draws.count": ..., "draws.cout": 5}, "unknown field `cout` in `draws`; did you mean `count`?"),
    ],
)
def test_unknown_and_missing_fields(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(card(changes)).sentence


def test_errors_stand_where_the_mistake_is() -> None:
    error = refusal(SMALLEST.replace("count: 5", "count: five"))
    assert (error.line, error.column) == (8, 16)
    error = refusal(SMALLEST.replace("draws:", "drawz:"))
    assert (error.line, error.column, "did you mean `draws`" in error.sentence) == (8, 1, True)
    for empty in ("", "# nothing\n"):
        assert "the card is empty" in refusal(empty).sentence
    assert "must be a mapping of fields" in refusal("- a\n").sentence


LATER = [
    ({"sign": {"strict": {"alpha": 0.05}}}, "`sign.strict`"),
    ({"stop": "decided"}, "`stop: decided`"),
]


@pytest.mark.parametrize(("changes", "words"), LATER, ids=[words for _, words in LATER])
def test_fields_of_later_versions_are_refused_by_name(changes: dict[str, Any], words: str) -> None:
    sentence = refusal(card(changes)).sentence
    assert words in sentence
    assert "is not in this version of evalaction" in sentence


BASE = two_arms({"arms.control": "base"})
IMAGE = "ghcr.io/acme/checks:3@sha256:" + "0a" * 32


def test_a_control_at_another_commit() -> None:
    found = parse(BASE)
    assert (found.control, found.elsewhere, list(found.arms)) == (AtCommit(), AtCommit(), ["treatment"])
    for ref in ("v1.4", "feature/x", "refs/heads/main", "A" * 40, "0a" * 32):
        assert parse(card({"arms.control": {"ref": ref}}, base=BASE)).control == AtCommit(ref=ref)
    assert parse(two_arms()).elsewhere is None
    limits = {"control": {"min_reach": 0.5}, "between": {"max_first_drop": 0.1}}
    assert [one.scope for one in parse(card({"limits": limits}, base=BASE)).limits] == ["control", "between"]
    changed = Sign(claim="none", seed="freeze-me-before-running", items="changed")
    assert parse(card({"sign.items": "changed"}, base=BASE)).sign == changed


@pytest.mark.parametrize(
    "ref",
    [
        "-x",
        "--upload-pack=x",
        "main@{1}",
        "v1^{}",
        "HEAD~1",
        "HEAD",
        "@",
        ":/fix",
        "a..b",
        "a b",
        "main:x",
        "a.lock",
        "/a",
        "a/",
        "x" * 251,
    ],
)
def test_refs_that_git_would_have_to_calculate(ref: str) -> None:
    value = card({"arms.control": {"ref": ref}}, base=BASE)
    error = refusal(value)
    assert "names no commit; give a full SHA, a branch or a tag" in error.sentence or "more than 250" in error.sentence
    assert error.line and error.column
    assert text(value).decode().splitlines()[error.line - 1][error.column - 1 :] == json.dumps(ref)


def test_routes_and_isolation() -> None:
    routed = parse(card({"arms.treatment": {"route": "llm/routes.yaml", "template": "p.prompt.yml"}}))
    assert routed.treatment == Arm(route="llm/routes.yaml", template="p.prompt.yml")
    checks = parse(card({"checks": {"isolation": "in_process", "image": IMAGE}})).checks
    assert (checks.isolation, checks.image) == ("in_process", IMAGE)


def test_what_is_known_of_arms_is_judged_and_what_a_route_says_is_not_guessed() -> None:
    shared = {"exam.data": "private", "budget": {"usd": 1}}
    assert parse(card(shared | {"arms.treatment": {"route": "r.yaml"}})).treatment.route == "r.yaml"
    assert "may not go to the shared endpoint `main`" in refusal(card(shared, base=BASE)).sentence
    assert "needs the `price` of endpoint `main`" in refusal(card({"budget": {"usd": 1}}, base=BASE)).sentence


CONTROLS = [
    ("bsae", "`arms.control` is not valid: `base` (the treatment as the base commit defines it), `{ref: NAME}`"),
    ({}, "`arms.control` needs an `endpoint`, or a `route`"),
    ({"endpont": "main"}, "unknown field `endpont` in `arms.control`; did you mean `endpoint`?"),
    ({"ref": "v1", "system": "p.md"}, "unknown field `system` in `arms.control`"),
    ({"ref": 1.4}, "`arms.control.ref` must be text, not 1.4; put it in quotes"),
    ({"ref": ""}, "`arms.control.ref` is empty"),
    (["base"], "`arms.control` is not valid"),
    ({"endpoint": "main", "route": "r.yaml"}, "give `endpoint`, or `route` with rules that choose one, not both"),
]


@pytest.mark.parametrize(("control", "words"), CONTROLS, ids=[words for _, words in CONTROLS])
def test_controls_that_cannot_be_read(control: Any, words: str) -> None:
    assert words in refusal(card({"arms.control": control}, base=BASE)).sentence


ONE_ARM = [
    ({"checks": {"isolation": "container"}}, "`checks.isolation` must be `split` or `in_process`"),
    ({"checks": {"image": "python:3.12"}}, "`checks.image` is not valid: a name, `@sha256:` and 64 hex digits"),
    ({"checks": {"image": 5}}, "`checks.image` is not valid: container image of code checks"),
    ({"arms.control": "base"}, "two arms need `sign`"),
    ({"sign": {"claim": "none", "seed": "s"}}, "`sign` needs two arms"),
    ({"limits": {"between": {"max_first_drop": 0.1}}}, "`limits.between` needs two arms"),
    ({"limits": {"control": {"min_reach": 0.1}}}, "`limits.control` needs two arms"),
    ({"limits": {"min_reach": 0.1, "treatment": {"min_reach": 0.2}}}, "not both"),
    ({"draws.count": 1, "limits": {"max_flip_rate": 0.1}}, "`max_flip_rate` needs `draws.count` of at least 2"),
    ({"draws.count": 1, "limits": {"by_tag": {"a": {"max_flip_rate": 0.1}}}}, "`max_flip_rate` needs"),
    ({"arms.treatment.endpoint": "mian"}, "there is no endpoint `mian`; the card has `main`"),
    ({"exam.data": "private"}, "may not go to the shared endpoint `main`"),
    ({"budget": {"usd": 1}}, "needs the `price` of endpoint `main`"),
    ({"limits": {"by_tag": {" a": {"min_reach": 1}}}}, "a name has 1 to 100 characters and no space around it"),
]
TWO_ARMS = [
    ({"sign": ...}, "two arms need `sign`"),
    ({"sign.claim": ...}, "`sign.claim` is missing"),
    ({"sign.seed": ...}, "`sign.seed` is missing"),
    ({"sign.seed": 42}, "`sign.seed` must be text, not 42; put it in quotes"),
    ({"sign.claim": "not_behind"}, "needs `sign.margin`"),
    ({"sign.claim": "ahead", "sign.margin": 0.1}, "belongs to `claim: not_behind` only"),
    ({"sign.claim": "not_behind", "sign.margin": 1}, "`sign.margin` must be less than 1"),
    ({"draws.count": 1, "limits": {"between": {"max_flip_gain": 0.1}}}, "`max_flip_gain` needs"),
    ({"limits": {"between": {"by_tag": {}}}}, "unknown field `by_tag`"),
]


@pytest.mark.parametrize(("changes", "words"), ONE_ARM, ids=[words for _, words in ONE_ARM])
def test_rules_between_fields_of_one_arm(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(card(changes)).sentence


@pytest.mark.parametrize(("changes", "words"), TWO_ARMS, ids=[words for _, words in TWO_ARMS])
def test_rules_between_fields_of_two_arms(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(two_arms(changes)).sentence


PATHS = [
    "../x.jsonl",
    "a/../b.jsonl",
    "/abs.jsonl",
    "a\\b.jsonl",
    "c:/x.jsonl",
    ".git/config",
    "a/.GIT/x",
    "a//b",
    "./a",
    "~/a",
    "a\x07b",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("field", ["exam.tasks", "exam.checker", "arms.treatment.system", "arms.treatment.template"])
def test_paths_stay_below_the_card(path: str, field: str) -> None:
    assert any(words in refusal(card({field: path})).sentence for words in ("the path", "cannot be seen"))


def test_replies_and_routes_are_paths_too() -> None:
    assert "the path `../r`" in refusal(card({"arms.treatment": {"route": "../r"}})).sentence
    assert "the path `../r`" in refusal(card({"endpoints.main": {"api": "scripted", "replies": "../r"}})).sentence


def test_the_schema_and_the_records_name_the_same_fields() -> None:
    """A card with every field of the schema parses, so neither side knows a field that the other does not."""
    properties = SCHEMA["properties"]
    for name in ("exam", "draws", "sign", "validity", "budget", "runner", "record", "pace", "checks"):
        from evalaction.method import card as records

        record = {"exam": "ExamRef", "runner": "RunnerDemand", "checks": "CheckLimits"}.get(name, name.capitalize())
        fields = set(getattr(records, record).__dataclass_fields__)
        assert set(properties[name]["properties"]) == fields, name


def test_every_field_of_the_schema_is_described() -> None:
    def undescribed(schema: Any, path: str) -> list[str]:
        found = []
        for name, inner in schema.get("properties", {}).items():
            resolved = inner | SCHEMA["$defs"].get(inner.get("$ref", "").rpartition("/")[2], {})
            if "description" not in resolved:
                found.append(f"{path}.{name}")
            found += undescribed(inner, f"{path}.{name}")
        return found

    assert not undescribed(SCHEMA, "card")
    for name, schema in SCHEMA["$defs"].items():
        assert not undescribed(schema, name)


def test_defaults_in_the_schema_are_the_defaults_of_the_records() -> None:
    found = parse(two_arms({"limits": ...}))
    for section in ("checks", "draws", "sign", "validity", "pace"):
        for name, field in SCHEMA["properties"][section]["properties"].items():
            if "default" in field and field["default"] != "none":
                value = getattr(getattr(found, section), name)
                assert str(getattr(value, "text", value)) == str(field["default"]), f"{section}.{name}"


def test_json_and_yaml_cards_mean_the_same() -> None:
    from_yaml = parse(SMALLEST)
    as_json = json.dumps(read_card(SMALLEST.encode(), file="c").value, default=float, indent=1)
    from_json = parse(as_json)
    assert from_json.arms == from_yaml.arms
    assert [one.bound.value for one in from_json.limits] == [one.bound.value for one in from_yaml.limits]


def test_a_single_draw_may_have_limits_that_no_flip_decides() -> None:
    assert [one.name for one in parse(card({"draws.count": 1, "limits": {"min_first_pass": 0.5}})).limits] == ["min_first_pass"]
