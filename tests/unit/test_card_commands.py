from __future__ import annotations

from typing import Any

import pytest
from support.cards import card, text

from evalaction import schemas
from evalaction.errors import SourceError
from evalaction.method.card import Command, Endpoint
from evalaction.method.cards.parse import parse_card

PROGRAM: dict[str, Any] = {"api": "command", "run": ["python", "-m", "router"], "paths": ["router/", "requirements.txt"]}


def parse(value: dict[str, Any]) -> Endpoint:
    return parse_card(text(value), file="card.yaml", schema=schemas.load("card")).endpoints["main"]


def refusal(**changes: Any) -> str:
    fields = {name: value for name, value in (PROGRAM | changes).items() if value is not ...}
    with pytest.raises(SourceError) as caught:
        parse(card({"endpoints.main": fields}))
    assert caught.value.line is not None and caught.value.column is not None
    return caught.value.sentence


def test_a_program() -> None:
    found = parse(card({"endpoints.main": PROGRAM}))
    assert (found.api, found.model, found.params, found.shared) == ("command", None, {}, True)
    assert found.command == Command(run=("python", "-m", "router"), paths=("router", "requirements.txt"))
    more = {"setup": ["pip", "install", "-r", "requirements.txt"], "env": ["ROUTER_KEY", "EVAL_URL"], "model": "m"}
    full = parse(card({"endpoints.main": PROGRAM | more | {"params": {"top_p": 1}, "price": {"input": 1, "output": 2}}}))
    assert full.command == Command(
        run=("python", "-m", "router"),
        paths=("router", "requirements.txt"),
        setup=("pip", "install", "-r", "requirements.txt"),
        env=("ROUTER_KEY", "EVAL_URL"),
    )
    assert (full.model, full.params) == ("m", {"top_p": 1})
    assert parse(card()).command is None


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"run": ...}, "`api: command` needs `run`"),
    ({"paths": ...}, "`api: command` needs `paths`"),
    ({"run": "python -m router"}, '`endpoints.main.run` must be a list, not the text "python -m router"; write it as a list'),
    ({"run": []}, "`endpoints.main.run` is empty"),
    ({"run": [""]}, "`endpoints.main.run.0` is empty"),
    ({"run": ["python", 3]}, "`endpoints.main.run.1` must be text, not 3; put it in quotes"),
    ({"run": ["x"] * 201}, "`endpoints.main.run` has more than 200 entries"),
    ({"run": ["x\ny"]}, "holds U+000A"),
    ({"paths": []}, "`endpoints.main.paths` is empty"),
    *(({"paths": ["a", path]}, words) for path, words in [
        ("../x", "`..` parts; name a file below the root of the repository"),
        ("/etc", "must be relative to the root of the repository"),
        (".", "must not hold `.`"),
        ("a/.git/hooks", "must not lead into `.git`"),
        ("a\\b", "holds `\\`"),
        ("c:x", "holds `:`"),
        ("a//b", "has an empty part"),
        ("a/", "the path `a/` is named twice"),
    ]),
    *(({"env": ["A", name]}, "belongs to the runner and is given to no program") for name in [
        "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "RUNNER_TEMP", "INPUT_GITHUB_TOKEN", "Github_Env",
    ]),
    ({"env": ["PATH"]}, "`PATH` is set inside the box; remove it"),
    ({"env": ["A", "A"]}, "the variable `A` is named twice"),
    ({"env": ["MY-KEY"]}, "the name of an environment variable"),
    ({"env": {"A": "b"}}, "`endpoints.main.env` must be a list, not a mapping"),
    ({"output": "tool_calls"}, "a program writes text; remove `output: tool_calls`"),
    *(({name: value}, f"`{name}` does not belong to `api: command`") for name, value in [
        ("url", "https://h.example"), ("url_env", "U"), ("key_env", "K"), ("headers", {}), ("text", "/t"), ("replies", "r.jsonl"),
        ("trace", "/t"), ("counters", {}), ("api_version", "v1"),
    ]),
    ({"params": {"stream": True}}, "`params.stream` is written by evalaction"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_programs_that_cannot_be_run(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(**changes)


@pytest.mark.parametrize("field", ["run", "paths", "setup", "env"])
def test_only_programs_have_them(field: str) -> None:
    for api in (
        {"api": "openai", "url": "https://h.example", "model": "m"},
        {"api": "http", "url": "https://h.example", "body": {"q": "{{prompt}}"}, "text": "/t"},
        {"api": "scripted", "replies": "r.jsonl"},
    ):
        with pytest.raises(SourceError, match=rf"`{field}` does not belong to `api: {api['api']}`"):
            parse(card({"endpoints.main": api | {field: ["x"]}}))


def test_private_items_go_to_no_program_that_may_send_them_on() -> None:
    private = {"exam.data": "private", "endpoints.main": PROGRAM}
    with pytest.raises(SourceError, match="may not go to the shared endpoint `main`"):
        parse(card(private))
    assert not parse(card(private | {"endpoints.main.shared": False})).shared


def test_a_scripted_endpoint_may_have_parameters() -> None:
    scripted = {"api": "scripted", "replies": "r.jsonl", "model": "m", "params": {"temperature": 0}}
    assert parse(card({"endpoints.main": scripted})).params == {"temperature": 0}
