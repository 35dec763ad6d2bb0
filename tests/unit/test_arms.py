from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from support.runs import endpoint

from evalaction.errors import UsageError
from evalaction.method.arms import Asked, Resolved, Source, connection, digested, distinct, facts_of, moved_levers, resolve
from evalaction.method.card import Arm, Card, Draws, Endpoint, ExamRef, Header, HttpShape
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.records import Message

FILES: Mapping[str, bytes] = {"a.md": b"Be brief.", "b.md": b"Be kind.", "t.txt": b"Sort {{text}}.", "r.jsonl": b"{}"}


def exam(count: int = 2, **fields: Any) -> Exam:
    lines = [{"id": f"t{number}", "prompt": f"Say {number}.", "expected": "x"} | fields for number in range(count)]
    return load_exam({"t.jsonl": "\n".join(map(json.dumps, lines)).encode()}, tasks="t.jsonl")


def source(arm: Arm | None = None, commit: str | None = "c" * 40, **endpoints: Endpoint) -> Source:
    made = Card(
        protocol="evalaction/1",
        name="n",
        exam=ExamRef(tasks="t.jsonl", data="synthetic"),
        endpoints=endpoints or {"main": endpoint()},
        treatment=arm or Arm(endpoint="main"),
        draws=Draws(count=1, timeout_ms=1),
    )
    return Source(card=made, arm=made.treatment, files=FILES, commit=commit)


def test_an_arm_is_resolved_for_every_item() -> None:
    found = resolve(source(Arm(endpoint="main", system="a.md")), exam())
    assert [one.messages for one in found.asked] == [
        (Message("system", "Be brief."), Message("user", f"Say {number}.")) for number in range(2)
    ]
    assert {one.output for one in found.asked} == {"text"} and found.endpoints == (endpoint(),)
    filled = resolve(source(Arm(endpoint="main", template="t.txt")), vars_exam())
    assert filled.asked[0].messages == (Message("user", "Sort {{text}}."),)


def vars_exam() -> Exam:
    line = {"id": "t0", "vars": {"text": "{{text}}"}, "expected": "x", "output": "tool_calls"}
    return load_exam({"t.jsonl": json.dumps(line).encode()}, tasks="t.jsonl")


def test_an_item_may_declare_its_output() -> None:
    found = resolve(source(Arm(endpoint="main", template="t.txt")), vars_exam())
    assert found.asked[0].output == "tool_calls"


def test_http_endpoints_must_have_a_place_for_what_is_sent() -> None:
    shape = HttpShape(body={"q": "{{prompt}}"}, text="/t")
    http = endpoint(api="http", http=shape)
    assert len(resolve(source(main=http), exam()).asked) == 2
    with pytest.raises(UsageError, match=r"item `t0` has a `system` text, and the body of endpoint `main` has no place for it"):
        resolve(source(main=http), exam(system="s"))
    roomy = replace(http, http=HttpShape(body={"q": "{{messages}}"}, text="/t"))
    assert resolve(source(main=roomy), exam(system="s")).asked[1].messages[0].role == "system"


def arm(
    *endpoints: Endpoint, routes: tuple[str | None, ...] = (), text: str = "x", files: Mapping[str, bytes] = FILES
) -> Resolved:
    labels = routes or (None,) * len(endpoints)
    asked = tuple(
        Asked(endpoint=one, messages=(Message("user", text),), output="text", route=label)
        for one, label in zip(endpoints, labels, strict=True)
    )
    return Resolved(source=replace(source(), files=files), asked=asked)


def test_equal_endpoints_are_one() -> None:
    main, other = endpoint(), endpoint("other")
    assert distinct([main, endpoint(), other, main]) == (main, other)
    assert connection(endpoint(model="a", params={"top_p": 1})) == connection(endpoint(model="b"))
    assert connection(main) != connection(other)


def test_the_digest_covers_which_item_goes_where() -> None:
    main, other = endpoint(), endpoint("other", url="https://other.example")
    assert digested(arm(main, main)) == digested(arm(main, endpoint("renamed", model="m"))) != digested(arm(other, other))
    mixed = digested(arm(main, other, endpoint()))
    assert isinstance(mixed, dict) and mixed["of"] == [0, 1, 0]
    assert mixed != digested(arm(other, main, main))


def test_the_replies_of_a_scripted_endpoint_are_part_of_it() -> None:
    scripted = endpoint(api="scripted", url=None, replies="r.jsonl")
    assert digested(arm(scripted)) != digested(arm(scripted, files={"r.jsonl": b"[]"}))


def test_what_a_report_says_of_an_arm() -> None:
    found = facts_of(arm(endpoint(), endpoint("other", model=None, params={"seed": 1}), endpoint("other", model="m")))
    assert found.endpoint == "main, other" and found.model == "some-model, m"
    assert found.seeded and not found.scripted and found.commit == "c" * 40
    assert facts_of(arm(endpoint(model=None))).model is None


def levers(theirs: Endpoint, **changes: Any) -> tuple[str, ...]:
    return moved_levers(arm(endpoint(), endpoint()), arm(endpoint("renamed"), theirs, **changes))


def test_levers() -> None:
    assert levers(endpoint("local")) == ()
    assert levers(endpoint(model="other")) == ("model",)
    assert levers(endpoint(url="http://127.0.0.1:1/v1")) == ("endpoint",)
    assert levers(endpoint(headers=(Header(name="X", value="1"),))) == ("endpoint",)
    assert levers(endpoint(params={"temperature": 0})) == ("parameters",)
    assert levers(endpoint(), text="y") == ("prompt",)
    assert levers(endpoint(model="other"), text="y") == ("model", "prompt")


def test_an_item_that_goes_another_way_moves_the_route_alone() -> None:
    big, small = endpoint("big", model="b"), endpoint("small", model="s")
    ours = arm(big, small, small, routes=("1", "default", "default"))
    assert moved_levers(ours, arm(big, big, small, routes=("1", "1", "default"))) == ("route",)
    assert moved_levers(ours, arm(big, big, endpoint("small", model="t"), routes=("1", "1", "2"))) == ("route", "model")
    assert moved_levers(ours, arm(big, small, small, routes=("2", "2", "2"))) == ()
