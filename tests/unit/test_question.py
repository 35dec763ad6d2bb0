from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.cards import card, exam_text, text, two_arms

from evalaction import schemas
from evalaction.method.card import Endpoint, HttpShape
from evalaction.method.cards.parse import parse_card
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.question import endpoint_of, question_digest, question_of

REQUESTS = {"treatment": ["1" * 64, "2" * 64], "control": ["3" * 64, "4" * 64]}
LIMITS = {"min_reach": 0.9, "by_tag": {"a": {"min_check": 0.5}}, "control": {"min_reach": 0.9}}
BASE: dict[str, Any] = {"sign": {"claim": "not_behind", "margin": 0.1, "seed": "s"}, "limits": LIMITS}


def exam(count: int = 30, tasks: str = "eval/tasks.jsonl") -> Exam:
    return load_exam({tasks: exam_text(count, tags=["a"])}, tasks=tasks)


def digest_of(source: dict[str, Any] | bytes, of: Exam | None = None, requests: Any = None) -> str:
    data = source if isinstance(source, bytes) else text(source)
    found = parse_card(data, file="card.yaml", schema=schemas.load("card"))
    of = of or exam()
    endpoints: dict[str, Any] = {arm: endpoint_of(found.endpoints[held.endpoint or ""]) for arm, held in found.arms.items()}
    return question_digest(question_of(found, of), exam=of, requests=requests or REQUESTS, endpoints=endpoints)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"record": {"allowance": 9}},
        {"pace": {"concurrency": 1}},
        {"budget": {"calls": 9}},
        {"runner": {"arch": "x86_64"}},
        {"exam.tasks": "moved.jsonl"},
        {"exam.sha256": "0" * 64},
        {"draws.keep_text": "full"},
        {"sign.metric": "first", "sign.min_abs_gap": 0.02, "sign.min_item_gap": 2},
        {"validity": {"max_transport_error_rate": 0.05}},
        {"checks": {"timeout_ms": 30000}},
        {"limits": {"control": {"min_reach": 0.9}, "treatment": {"by_tag": {"a": {"min_check": 0.5}}, "min_reach": 0.9}}},
        {"endpoints.spare": {"api": "scripted", "replies": "r.json"}},
        {"endpoints.local.url": "http://127.0.0.1:8080/v1/"},
        {"endpoints.main.shared": False},
        {"endpoints.main.price": {"input": 1, "output": 2}},
    ],
)
def test_what_is_not_part_of_the_question(changes: dict[str, Any]) -> None:
    assert digest_of(two_arms(BASE | changes)) == digest_of(two_arms(BASE))


@pytest.mark.parametrize(
    "changes",
    [
        {"draws.count": 6},
        {"draws.timeout_ms": 19999},
        {"draws.max_body_bytes": 9},
        {"sign.claim": "none", "sign.margin": ...},
        {"sign.margin": 0.11},
        {"sign.seed": "t"},
        {"sign.metric": "mean"},
        {"sign.min_items_per_half": 31},
        {"limits": {"min_reach": 0.9}},
        {"limits": LIMITS | {"min_reach": 0.91}},
        {"limits": LIMITS | {"by_tag": {"b": {"min_check": 0.5}}}},
        {"validity": {"min_scored_fraction": 0.9}},
        {"checks": {"cpu_ms": 9}},
        {"exam.data": "public"},
        {"endpoints.local.url": "http://127.0.0.1:8081/v1"},
        {"endpoints.main.url_env": "OTHER_URL"},
        {"endpoints.main.key_env": "OTHER_KEY"},
        {"endpoints.main.headers": {"X-Team": {"env": "TEAM"}}},
        {"endpoints.main.output": "tool_calls"},
        {"endpoints.main.api": "anthropic"},
        {"arms.control.endpoint": "main"},
    ],
)
def test_what_is_part_of_the_question(changes: dict[str, Any]) -> None:
    assert digest_of(two_arms(BASE | changes)) != digest_of(two_arms(BASE))


def test_key_order_comments_and_the_text_of_numbers_do_not_count() -> None:
    head = "protocol: evalaction/1\nname: n\nexam: {data: synthetic, tasks: eval/tasks.jsonl}\n"
    head += "endpoints: {main: {api: scripted, replies: r.json}}\narms: {treatment: {endpoint: main}}\n"
    one = head + "draws: {count: 5, timeout_ms: 20000}\nlimits: {min_reach: 0.8, min_check: 0.5}\n"
    two = head + "limits:   # twice\n  min_check: 5e-1\n  min_reach: 0.80\ndraws: {timeout_ms: 20000, count: 5}\n"
    assert digest_of(one.encode()) == digest_of(two.encode())


def test_exam_and_requests_count() -> None:
    base = digest_of(two_arms(BASE))
    assert digest_of(two_arms(BASE), exam(31)) != base
    assert digest_of(two_arms(BASE), exam(tasks="other.jsonl")) == base
    swapped = {"treatment": REQUESTS["control"], "control": REQUESTS["treatment"]}
    for requests in (swapped, {"treatment": REQUESTS["treatment"]}, REQUESTS | {"control": ["3" * 64, "5" * 64]}):
        assert digest_of(two_arms(BASE), requests=requests) != base
    assert digest_of(two_arms(BASE), requests=dict(reversed(REQUESTS.items()))) == base
    assert len(base) == 64


def test_a_single_arm_has_a_question_without_a_sign() -> None:
    found = parse_card(text(card()), file="card.yaml", schema=schemas.load("card"))
    question = question_of(found, exam())
    assert isinstance(question, dict)
    assert question["sign"] is None
    assert question["limits"] == [{"scope": "treatment", "name": "min_stable_pass", "tag": None, "bound": "4/5"}]


def test_of_a_scripted_endpoint_the_replies_count_and_of_any_json_endpoint_the_pointers() -> None:
    scripted = Endpoint(name="s", api="scripted", replies="r.jsonl")
    assert endpoint_of(scripted, replies=b"1") != endpoint_of(scripted, replies=b"2")
    renamed = replace(scripted, name="t", replies="moved.jsonl")
    assert endpoint_of(scripted, replies=b"1") == endpoint_of(renamed, replies=b"1")
    http = Endpoint(name="h", api="http", url="https://h.example/ask", http=HttpShape(body={"q": "{{prompt}}"}, text="/a"))
    assert http.http is not None
    other = replace(http, http=replace(http.http, text="/b"))
    assert endpoint_of(http) != endpoint_of(other)
