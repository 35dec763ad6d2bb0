"""Hosted runners over a real socket: one submission, polls within one deadline, traces and their counters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.asking import KEY, ask, ask_once, endpoint
from support.endpoint_server import Answer, EndpointServer, Received, fault, response, serving
from support.forward_proxy import proxying
from support.hosted_runner import COUNTERS, SHAPE, SUBMIT, HostedRunner, names_of, poll

from evalaction.errors import UsageError
from evalaction.method.card import Endpoint, HttpShape, Poll
from evalaction.method.records import Completion


def hosted(url: str | None, *, asked: dict[str, Any] | None = None, **fields: Any) -> Endpoint:
    how = poll() | (asked or {})
    polled = Poll(**(how | {name: tuple(how.get(name, ())) for name in ("pending", "failed", "succeeded")}))
    where = url if url is None else f"{url}{SUBMIT}"
    return endpoint(
        where, api="http", http=HttpShape(**SHAPE), poll=polled, **({"trace": "/trace", "counters": COUNTERS} | fields)
    )


def draw(
    runner: Callable[[Received], Answer], *, asked: dict[str, Any] | None = None, **how: Any
) -> tuple[Completion, list[Received]]:
    with serving(runner) as server:
        return ask_once(hosted(server.url, asked=asked), **how), server.requests


def test_a_job_is_submitted_once_and_polled_until_it_is_done() -> None:
    runner = HostedRunner()
    with serving(runner) as server:
        found = ask_once(hosted(server.url, key_env="K"), environ={"K": KEY})
        submitted, *polls = server.requests
    assert (found.output, found.finish_reason, found.response_id) == ("ok", "stop", "run-0")
    assert (found.polls, len(polls), len(runner.jobs), runner.strays) == (3, 3, 1, [])
    assert found.trace == {"hops": [{"tool": "search", "clock_ms": 0}, {"tool": "search", "clock_ms": 5}], "clock_ms": 14} | {
        "counts": {"tool_hops": 2, "server_retries": 0}
    }
    assert found.counters == {"tool_hops": 2, "server_retries": 0}
    assert submitted.json == {"input": "Say ok."}
    for one in polls:
        assert (one.method, one.target, one.body) == ("GET", f"{SUBMIT}/job-0", b"")
        assert one.headers["authorization"] == submitted.headers["authorization"] == f"Bearer {KEY}"
        assert not {"content-type", "content-length"} & one.headers.keys()
    assert {one.connection for one in server.requests} == {0}


NAMES = ["a/b", "../../admin?key=1#x", "%2e%2e", "ü λ\u202e", "x\r\nHost: evil.example", "{{id}}", "a" * 1_000, 17, "..."]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_job_is_one_segment_of_the_path(name: Any) -> None:
    runner = HostedRunner(name=lambda number: name)
    found, requests = draw(runner)
    assert (found.output, runner.strays) == ("ok", [])
    assert names_of([one.target for one in requests[1:]]) == [str(name)] * 3


@pytest.mark.parametrize("name", ["", ".", "..", "a" * 1_001, None, True, 1.5, ["a"], {"a": 1}])
def test_what_names_no_job_is_malformed_and_never_asked_for(name: Any) -> None:
    found, requests = draw(HostedRunner(name=lambda number: name))
    assert (found.reason, found.polls, len(requests)) == ("malformed", 0, 1)


@pytest.mark.parametrize("status", [200, 201, 202])
def test_statuses_of_a_submission(status: int) -> None:
    found, _ = draw(HostedRunner(accepted=status))
    assert (found.reason, found.status) == (None, 200)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (response({"job": {"id": "x"}}, status=204), "status:204"),
        (response({"job": {"id": "x"}}, status=303, headers={"Location": "/elsewhere"}), "status:303"),
        (response("busy", status=503, headers={"Retry-After": "7"}), "status:503"),
        (response("no json", status=202), "malformed"),
        (response({"state": "queued"}), "malformed"),
        (response({"job": {"id": "x"}}, status=202, length=90, end="close"), "cut"),
        (response({"job": {"id": "x" * 3_000_000}}, status=202), "oversize"),
        (fault("reset"), "reset"),
    ],
)
def test_a_submission_that_fails_is_not_sent_again(reply: Answer, reason: str) -> None:
    found, requests = draw(lambda received: reply)
    assert (found.reason, found.polls, len(requests)) == (reason, 0, 1)
    assert found.retry_after_ms == (7_000 if reason == "status:503" else None)


def polled(*replies: Answer) -> Callable[[Received], Answer]:
    """A runner whose polls are answered one after another, the last one for ever."""

    def behave(received: Received) -> Answer:
        if received.method == "POST":
            return response({"job": {"id": "j"}})
        return replies[min(received.number - 1, len(replies) - 1)]

    return behave


GOES_ON = response({"state": "running"})


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (response("busy", status=503, headers={"Retry-After": "7"}), "poll:status:503"),
        (response("moved", status=302, headers={"Location": "http://127.0.0.1:1/"}), "poll:status:302"),
        (response("gone", status=404), "poll:status:404"),
        (response("no json"), "poll:malformed"),
        (response({"status": "running"}), "poll:malformed"),
        (response({"state": {"name": "running"}}), "poll:malformed"),
        (response({"state": "succeeded"}), "poll:malformed"),
        (response({"state": "succeeded", "result": {"text": 7}}), "poll:malformed"),
        (response({"state": "crashed", "error": "out of memory"}), "poll:failed"),
        (response({"state": "running"}, length=90, end="close"), "poll:cut"),
        (response({"state": "x" * 3_000_000}), "poll:oversize"),
        (fault("reset"), "poll:reset"),
        (response({"state": "succeeded", "result": {"text": "", "why": "max_tokens"}}), "empty:length"),
    ],
)
def test_a_poll_that_fails_ends_the_draw(reply: Answer, reason: str) -> None:
    found, requests = draw(polled(GOES_ON, reply))
    assert (found.reason, found.polls, len(requests)) == (reason, 2, 3)
    assert found.retry_after_raw == ("7" if reason == "poll:status:503" else None)


def test_a_failed_job_shows_its_trace_and_its_words() -> None:
    found, _ = draw(HostedRunner(answer=lambda prompt: None))
    assert found.reason == "poll:failed" and "the tool is down" in (found.error or "")
    assert found.counters == {"tool_hops": 2, "server_retries": 0}


def test_202_means_that_the_job_goes_on_whatever_it_says() -> None:
    accepted = response("still at it", status=202)
    done = response({"state": "succeeded", "result": {"text": "ok"}})
    found, _ = draw(polled(accepted, accepted, done))
    assert (found.output, found.polls) == ("ok", 3)


def test_states_are_compared_as_json() -> None:
    replies = [response({"state": state}) for state in (False, 0, "0")]
    found, _ = draw(polled(*replies), asked={"pending": [False, 0]})
    assert (found.reason, found.polls) == ("poll:malformed", 3)  # "0" is neither: it is done, and has no text
    found, _ = draw(polled(response({"state": True})), asked={"pending": [1], "failed": [True]})
    assert (found.reason, found.polls) == ("poll:failed", 1)


def test_a_state_that_nobody_named_is_no_answer_where_the_good_ones_are_named() -> None:
    given_up = response({"state": "cancelled", "result": {"text": "so far"}})
    found, _ = draw(polled(given_up), asked={})
    assert found.output == "so far"
    found, _ = draw(polled(given_up), asked={"succeeded": ["succeeded"]})
    assert (found.reason, found.output, found.polls) == ("poll:unknown_state", None, 1) and "cancelled" in (found.error or "")
    found, _ = draw(
        polled(GOES_ON, response({"state": "succeeded", "result": {"text": "ok"}})), asked={"succeeded": ["succeeded"]}
    )
    assert (found.output, found.polls) == ("ok", 2)


def test_one_deadline_for_the_submission_and_all_polls() -> None:
    found, requests = draw(polled(GOES_ON), timeout_ms=400, asked={"every_ms": 20})
    assert found.reason == "poll:timeout" and 1 <= found.polls == len(requests) - 1
    assert found.ms >= 300
    found, requests = draw(lambda received: fault("silent"), timeout_ms=200)
    assert (found.reason, found.polls, len(requests)) == ("timeout", 0, 1)
    found, _ = draw(polled(fault("silent")), timeout_ms=300)
    assert (found.reason, found.polls, found.error) == ("poll:timeout", 1, "the job was not done within 300 ms")


def test_a_wait_that_ends_after_the_deadline_is_not_begun() -> None:
    found, requests = draw(polled(GOES_ON), timeout_ms=60_000, asked={"every_ms": 60_000})
    assert (found.reason, found.polls, len(requests)) == ("poll:timeout", 0, 1)
    slow = response({"state": "running"}, headers={"Retry-After": "3600"})
    found, requests = draw(polled(slow), timeout_ms=60_000)
    assert (found.reason, found.polls, found.retry_after_ms) == ("poll:timeout", 1, None)


def test_a_job_that_goes_on_may_ask_to_be_left_alone() -> None:
    runner = HostedRunner(headers={"Retry-After": "0.25"}, pending=2)
    found, _ = draw(runner)
    assert (found.output, found.polls) == ("ok", 3)
    assert found.ms >= 500
    found, _ = draw(HostedRunner(headers={"Retry-After": "soon"}))
    assert (found.output, found.polls) == ("ok", 3)


@pytest.mark.parametrize("trace", [None, "text", [1], {"counts": {"tool_hops": "2", "server_retries": -1}}, {"counts": None}])
def test_a_counter_that_is_no_whole_number_is_not_counted(trace: Any) -> None:
    found, _ = draw(HostedRunner(trace=lambda number, prompt: trace))
    assert (found.output, found.counters, found.trace) == ("ok", {}, trace)


def test_a_trace_without_a_poll() -> None:
    reply = {"answer": "ok", "steps": [1, 2], "n": {"hops": 2.0, "big": 10**15}}
    shape = HttpShape(body="{{messages}}", text="/answer")
    with serving(lambda received: response(reply)) as server:
        where = endpoint(server.url, api="http", http=shape, trace="/n", counters={"hops": "/hops", "big": "/big"})
        found = ask_once(where)
    assert (found.counters, found.polls) == ({"hops": 2}, 0)


def test_draws_one_after_another_are_jobs_of_their_own() -> None:
    runner = HostedRunner(pending=1)
    with serving(runner) as server:
        found: Sequence[Completion] = ask(hosted(server.url), draws=3)
    assert [one.response_id for one in found] == ["run-0", "run-1", "run-2"]
    assert [one.counters["server_retries"] for one in found] == [0, 0, 1]
    assert (runner.polls, sum(one.polls for one in found)) == (6, 6)


@pytest.mark.parametrize(("cached", "told"), [({}, None), ({"X-Cache": "HIT"}, "x-cache")])
def test_what_gateways_say_of_a_poll_is_not_said_of_the_job(cached: dict[str, str], told: str | None) -> None:
    submitted = {"X-Portkey-Retry-Attempt-Count": "2"} | cached
    polls = {"X-Envoy-Attempt-Count": "5", "CF-Cache-Status": "HIT", "Age": "1"}

    def behave(received: Received) -> Answer:
        if received.method == "POST":
            return response({"job": {"id": "j"}}, headers=submitted)
        return response({"state": "succeeded", "result": {"text": "ok"}}, headers=polls)

    found, _ = draw(behave)
    assert (found.retries, found.cache_hit) == (2, told)


def test_a_server_that_closes_between_polls() -> None:
    def behave(received: Received) -> Answer:
        done = response({"state": "succeeded", "result": {"text": "ok"}}, end="close")
        return response({"job": {"id": "j"}}, end="close") if received.method == "POST" else done

    found, requests = draw(behave, asked={"every_ms": 50})
    assert (found.output, [one.connection for one in requests]) == ("ok", [0, 1])


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/jobs/{{id}}",
        "http://127.0.0.1:1/jobs/{{id}}",
        "//evil.example/jobs/{{id}}",
        "http://evil.example@127.0.0.1/jobs/{{id}}",
        "http://{{id}}/jobs",
        "jobs/{{id}}",
        "/jobs/{{id}}.json",
        "/jobs?id={{id}}",
        "/jobs/{{id}}/{{id}}",
        "/jobs/{{other}}",
        "/jobs",
    ],
)
def test_a_key_goes_to_its_origin_only(url: str) -> None:
    runner = HostedRunner()
    with serving(runner) as server, pytest.raises(UsageError, match=r"poll\.url"):
        ask_once(hosted(server.url, asked={"url": url}, key_env="K"), environ={"K": KEY})
    assert server.requests == []


def test_the_whole_address_at_the_same_origin() -> None:
    runner = HostedRunner()

    def asked(server: EndpointServer) -> Completion:
        return ask_once(hosted(server.url, asked={"url": f"{server.url.upper().replace('HTTP', 'http')}{SUBMIT}/{{{{ id }}}}"}))

    with serving(runner) as server:
        assert asked(server).output == "ok"


def test_polls_go_through_the_proxy_too() -> None:
    runner = HostedRunner()

    def behind(received: Received) -> Answer:
        assert received.target.startswith("http://runner.example/")
        return runner(replace(received, target=received.target.removeprefix("http://runner.example")))

    with serving(behind) as server, proxying({"runner.example:80": ("127.0.0.1", server.port)}) as proxy:
        found = ask_once(hosted("http://runner.example"), environ={"HTTP_PROXY": proxy.url.replace("//", "//user:pass@")})
    assert (found.output, found.polls) == ("ok", 3)
    assert {one.headers["proxy-authorization"] for one in server.requests} == {"Basic dXNlcjpwYXNz"}
