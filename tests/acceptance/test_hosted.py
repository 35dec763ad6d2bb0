"""One arm local, one arm at a hosted runner: the same items, the same check, one command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support import cards
from support.command import KEY, Make, Project, Serve, files_of, right, sums_hold
from support.endpoint_server import answering
from support.hosted_runner import SUBMIT, HostedRunner, card_endpoint, inserted

from evalaction import schemas


@pytest.fixture
def make(make: Make) -> Make:
    """What a command decides is the point here, and not how it is started."""
    return partial(make, own_process=False)


LOCAL = {"api": "openai", "url_env": "LOCAL_URL", "model": "small"}
COUNTERS = ["tool_hops", "server_retries"]


def answer(prompt: str) -> str:
    return prompt.removeprefix("Say ").removesuffix(".")


def hosted(**fields: Any) -> dict[str, Any]:
    """The runner's endpoint with address and key in variables."""
    endpoint = card_endpoint("", url_env="RUNNER_URL", key_env="RUNNER_KEY") | fields
    return {name: value for name, value in endpoint.items() if name != "url"}


def project(make: Make, serve: Serve, runner: HostedRunner, *, pair: bool = True, tasks: bytes = b"", **fields: Any) -> Project:
    changes: dict[str, Any] = {
        "exam.tasks": "tasks.jsonl",
        "endpoints": {"hosted": hosted(), **({"local": LOCAL} if pair else {})},
        "arms": {"treatment": {"endpoint": "hosted"}, **({"control": {"endpoint": "local"}} if pair else {})},
        "draws": {"count": 2, "timeout_ms": 10_000},
    }
    if pair:
        changes["sign"] = {"claim": "none", "seed": "freeze-me-before-running"}
    made = make(cards.card(changes | fields), {"tasks.jsonl": tasks or cards.exam_text(6)})
    made.env = {"RUNNER_URL": f"{serve(runner).url}{SUBMIT}", "RUNNER_KEY": KEY, "LOCAL_URL": serve(answering(right)).url}
    return made


def test_one_arm_local_and_one_arm_hosted(make: Make, serve: Serve) -> None:
    runner = HostedRunner(answer=answer)
    made = project(make, serve, runner, limits={"treatment": {"max_counter": {"tool_hops": 2}, "min_stable_pass": 1.0}})
    done = made.run()
    assert done.code == 0, done.said
    results, rows = made.results(), made.rows()
    Draft202012Validator(schemas.load("results")).validate(results)
    control, treatment = results["arms"]
    assert [arm["columns"]["end_to_end"]["hits"] for arm in (control, treatment)] == [12, 12]
    assert (len(runner.jobs), runner.polls, runner.strays) == (12, 36, [])  # submits are draws, polls are counted apart
    assert results["counts"] == {"planned": 24, "sent": 24, "written": 24}
    assert treatment["polls"] == 36 and "polls" not in control and "counters" not in control
    spread = {one["name"]: one for one in treatment["counters"]}
    assert list(spread) == COUNTERS
    assert (spread["tool_hops"]["low"], spread["tool_hops"]["high"], spread["tool_hops"]["missing"]) == (2, 2, 0)
    retried = sum(row["counters"]["server_retries"] for row in rows if row["arm"] == "treatment")
    assert retried == 4
    told_of = f"the counter server_retries counts {retried} behind {retried} of 12 draws"
    assert any(told_of in one for one in results["callouts"])
    assert "polls beside the submissions" in made.comment() and "(least / median / most)" in made.comment()
    told = [row for row in rows if row["arm"] == "treatment"]
    assert all(row["trace"]["counts"] == row["counters"] and row["polls"] == 3 for row in told)
    assert sums_hold(made.root / "run") and KEY not in str(files_of(made.root / "run"))
    before = files_of(made.root / "run")
    assert made("score", "run").code == 0
    assert files_of(made.root / "run") == before


def breaks_of(make: Make, serve: Serve, runner: HostedRunner, **limits: Any) -> tuple[int, list[str]]:
    made = project(make, serve, runner, pair=False, limits={"max_counter": limits})
    code = made.run().code
    return code, [one["code"] for one in made.results()["verdict"]["breaks"]]


def test_limits_bound_the_counters_of_every_draw(make: Make, serve: Serve) -> None:
    assert breaks_of(make, serve, HostedRunner(answer=answer), tool_hops=1) == (1, ["limit:treatment:max_counter:tool_hops"])
    silent = HostedRunner(answer=answer, trace=lambda number, prompt: None if number == 3 else inserted(number, prompt))
    assert breaks_of(make, serve, silent, tool_hops=2) == (5, ["limit:treatment:max_counter:tool_hops:undecided"])


def lost(prompt: str) -> str | None:
    return None if prompt == "Say 3." else answer(prompt)


def test_a_job_that_fails_is_a_draw_without_a_verdict(make: Make, serve: Serve) -> None:
    runner = HostedRunner(answer=lost, pending=0)
    made = project(
        make,
        serve,
        runner,
        pair=False,
        limits={"min_stable_pass": 1.0},
        validity={"max_transport_error_rate": 0.5, "min_scored_fraction": 0.5},
    )
    assert made.run().code == 5
    failed = [row for row in made.rows() if row["item"] == "t0003"]
    assert [(row["reach_reason"], row["verdict"], row["polls"]) for row in failed] == [("poll:failed", "runner_error", 1)] * 2
    assert all("the tool is down" in row["error_head"] and row["counters"]["tool_hops"] == 2 for row in failed)
    assert len(runner.jobs) == 12  # nothing was submitted twice


def judged(trace: Callable[[int, str], Any], make: Make, serve: Serve) -> list[tuple[str, str | None]]:
    checks = [
        {"kind": "json", "source": "trace", "pointer": "/counts/tool_hops", "value": 2},
        {"kind": "json", "source": "trace", "pointer": "/hops/1/tool", "value": "search"},
    ]
    items = [{"id": f"t{number}", "prompt": f"Say {number}.", "check": check} for number, check in enumerate(checks)]
    made = project(
        make,
        serve,
        HostedRunner(answer=answer, trace=trace),
        pair=False,
        tasks=cards.jsonl(items),
        limits=...,
        draws={"count": 1, "timeout_ms": 10_000},
    )
    assert made.run().code == 0
    return [(row["verdict"], row.get("check_reason")) for row in sorted(made.rows(), key=lambda row: str(row["item"]))]


def test_checks_may_read_the_trace(make: Make, serve: Serve) -> None:
    assert judged(inserted, make, serve) == [("pass", None)] * 2
    found = judged(lambda number, prompt: {"counts": {"tool_hops": 3}}, make, serve)
    assert found == [
        ("fail", "differs: at /counts/tool_hops: expected 2, got 3"),
        ("fail", 'no_such_place: there is nothing at "/hops/1/tool"'),
    ]


def test_a_card_that_judges_a_trace_which_an_arm_does_not_have(make: Make, serve: Serve) -> None:
    item = cards.item(0, check={"kind": "json", "source": "trace", "pointer": "/n", "value": 1})
    del item["expected"]
    made = project(make, serve, HostedRunner(answer=answer), tasks=cards.jsonl([item]), limits=...)
    done = made.run()
    assert done.code == 2 and "declares none; add `trace`" in done.said


def test_probe_shows_the_trace_and_what_is_told_of_it(make: Make, serve: Serve) -> None:
    told = HostedRunner(answer=lambda prompt: "pong", trace=lambda number, prompt: {"counts": {"tool_hops": 2}, "key": KEY})
    made = project(make, serve, told, pair=False)
    done = made("probe")
    assert (done.code, len(told.jobs)) == (0, 1), done.said
    assert "hosted: reach yes · contract yes · check yes" in done.out
    assert "  polls 3 · tool_hops 2 · server_retries not told" in done.out
    assert '  trace {"counts":{"tool_hops":2},"key":"' in done.out and KEY not in done.said


def test_plan_counts_submissions(make: Make, serve: Serve) -> None:
    made = project(make, serve, HostedRunner(answer=answer), pair=False)
    done = made("plan")
    assert done.code == 0 and "12 calls" in done.out, done.said
