"""Limits of the transport in a real run: cut answers, retries that a gateway admits, its cache, a model that changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from support.command import Make, Project, Serve, exam, gated, right
from support.endpoint_server import Answer, Received, chat, response


@pytest.fixture
def make(make: Make) -> Make:
    """What a command decides is the point here, and not how it is started."""
    return partial(make, own_process=False)


Headers = Callable[[int], dict[str, str]]


Words = Callable[[int], str]


def gateway(
    headers: Headers, *, why: Words = lambda number: "stop", model: Words = lambda number: "stub-1"
) -> Callable[[Received], Answer]:
    """A server that is right, behind a gateway with these headers by the number of the request."""

    def behave(received: Received) -> Answer:
        number = received.number
        reply = chat(right(received), number=number, finish_reason=why(number)) | {"model": model(number)}
        return response(reply, headers=headers(number))

    return behave


def run(make: Make, serve: Serve, behaviour: Callable[[Received], Answer], **changes: Any) -> tuple[int, Project, list[str]]:
    made = make(gated(changes={"limits": ..., **changes}), exam(4), url=serve(behaviour).url)
    code = made.run().code
    return code, made, made.results()["callouts"]


def test_attempts_of_a_gateway_and_answers_that_were_cut(make: Make, serve: Serve) -> None:
    behaviour = gateway(
        lambda number: {"x-litellm-attempted-retries": str(number % 2), "x-envoy-attempt-count": "2"},
        why=lambda number: "length" if number < 3 else "stop",
    )
    code, made, callouts = run(make, serve, behaviour)
    assert code == 0
    assert "treatment: the length limit cut 3 of 8 answers (length × 3); what had come is graded as it is." in callouts
    assert (
        "treatment: a gateway says that it made 12 further attempts behind 8 of 8 draws; these are not single attempts."
        in callouts
    )
    assert sorted(row["retries"] for row in made.rows()) == [1] * 4 + [2] * 4
    assert made.results()["arms"][0]["retries"] == 12 and "further attempts of a gateway" in made.comment()


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Portkey-Cache-Status", "HIT"), ("Cache-Status", "gateway; hit"), ("X-LiteLLM-Cache-Key", "k"), ("Age", "3")],
)
def test_a_draw_from_a_cache_is_no_draw(make: Make, serve: Serve, name: str, value: str) -> None:
    code, made, _ = run(make, serve, gateway(lambda number: {name: value} if number == 5 else {}))
    assert code == 5
    assert [one["code"] for one in made.results()["verdict"]["breaks"]] == ["cached_draws"]
    assert [row["cache_hit"] for row in made.rows() if "cache_hit" in row] == [name.lower()]


def test_a_model_that_changes_during_the_run(make: Make, serve: Serve) -> None:
    behaviour = gateway(lambda number: {}, model=lambda number: f"m-{number // 6}")
    code, _, callouts = run(make, serve, behaviour)
    assert code == 0
    assert "treatment: the served model changed during the run: m-0 × 6, m-1 × 2." in callouts
