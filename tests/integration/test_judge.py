"""The judge with real worker processes: columns, digests, many outputs at once, limits that hit one output only."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import time
from collections import Counter

import pytest
from support.judging import item, judged, reached

from evalaction.checks.judgement import Judgement
from evalaction.checks.pool import Judge
from evalaction.errors import EvalactionError
from evalaction.method.canonical import Json
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check, Completion

SHORT = CheckLimits(timeout_ms=20_000, cpu_ms=300, memory_mb=256)
EXACT = item(Check(kind="exact", expected="yes"))
REDOS = item(Check(kind="regex", expected="^(a+)+$"), index=1)
STATUS = item(Check(kind="json", expected="green", pointer="/status"), index=2, schema={"required": ["status"]})
ITEMS = [EXACT, REDOS, STATUS]
BOMB = reached("a" * 40 + "!")


def words(one: Judgement) -> tuple[str | None, str | None, str]:
    columns = one.columns
    return columns.contract_reason, columns.check_reason, columns.verdict


def test_columns_and_digests() -> None:
    yes, no, green, red, bad, cut, matched = judged(
        ITEMS,
        [
            (0, reached(" yes\n")),
            (0, reached("no")),
            (2, reached('{"status": "green"}')),
            (2, reached('{"status": "red"}')),
            (2, reached("{}")),
            (2, reached('{"status": "gre', "length")),
            (1, reached("aaaa")),
        ],
    )
    assert words(yes) == (None, None, "pass")
    assert yes.text_sha256 == hashlib.sha256(b" yes\n").hexdigest()
    assert yes.parsed_sha256 == hashlib.sha256(b'"yes"').hexdigest()
    assert words(no) == (None, 'differs: expected "yes", got "no"', "fail")
    assert words(green) == (None, None, "pass")
    assert words(red) == (None, 'differs: at /status: expected "green", got "red"', "fail")
    assert words(bad) == ("schema: the value: 'status' is a required property", None, "fail")
    assert bad.columns.check is None and bad.parsed_sha256
    assert (cut.columns.contract_reason or "").startswith("truncated: ") and cut.parsed_sha256 is None
    assert words(matched) == (None, None, "pass")


def test_an_output_that_may_not_be_quoted_leaves_only_words_in_its_reasons() -> None:
    secret = "sk-0123456789abcdef"
    exam = [EXACT, REDOS, STATUS]
    outputs = [(0, f"no {secret}"), (0, "no"), (2, f'{{"{secret}": 1}}'), (2, f'{secret}"'), (1, BOMB.output or "")]

    async def run() -> list[Judgement]:
        async with Judge(exam, SHORT, 1, quotable=lambda text: text == "no") as judge:
            return await asyncio.gather(*(judge(exam[index], reached(text)) for index, text in outputs))

    judgements = asyncio.run(asyncio.wait_for(run(), 60))
    assert [words(one)[:2] for one in judgements] == [
        (None, "differs"),
        (None, 'differs: expected "yes", got "no"'),
        ("schema", None),
        ("not_json", None),
        (None, "checker:timeout"),
    ]


def test_a_json_check_may_judge_the_trace_once_the_output_has_kept_its_contract() -> None:
    hops = item(Check(kind="json", expected=2, pointer="/hops", source="trace"), extract="raw", schema=None)
    strict = item(Check(kind="json", expected=2, pointer="/hops", source="trace"), index=1, extract="json")

    def traced(output: str, trace: Json) -> Completion:
        return Completion(reason=None, output=output, trace=trace)

    jobs = [(0, {"hops": 2}), (0, {"hops": 3}), (0, None), (1, {"hops": 2})]
    found = judged([hops, strict], [(index, traced("done", trace)) for index, trace in jobs])
    assert [words(one)[:2] for one in found] == [
        (None, None),
        (None, "differs: at /hops: expected 2, got 3"),
        (None, 'no_such_place: there is nothing at "/hops"'),
        ("not_json: expecting value at character 0", None),
    ]


def test_a_draw_that_did_not_reach_meets_no_worker() -> None:
    async def run() -> Judgement:
        judge = Judge(ITEMS, CheckLimits(), 1, command=("/nonexistent",))  # never entered: a worker could not even start
        return await judge(EXACT, Completion(reason="status:500", error="yes"))

    one = asyncio.run(run())
    assert one == Judgement(columns=one.columns)
    assert one.columns.verdict == "runner_error" and one.columns.reach_reason == "status:500"


def test_many_outputs_at_once_each_get_their_own_verdict() -> None:
    outputs = [("yes" if number % 3 else f"no {number}") for number in range(500)]
    judgements = judged(ITEMS, [(0, reached(text)) for text in outputs])
    assert [one.columns.verdict for one in judgements] == ["pass" if text == "yes" else "fail" for text in outputs]
    assert [one.text_sha256 for one in judgements] == [hashlib.sha256(text.encode()).hexdigest() for text in outputs]


def test_one_that_hangs_costs_the_others_nothing() -> None:
    jobs = [(0, reached("yes"))] * 40 + [(1, BOMB)] + [(2, reached('{"status": "green"}'))] * 40 + [(1, reached("aa"))] * 10
    judgements = judged(ITEMS, jobs, SHORT)
    assert Counter(one.columns.verdict for one in judgements) == {"pass": 90, "runner_error": 1}
    assert words(judgements[40]) == (None, "checker:timeout: over 300 ms of CPU time", "runner_error")
    assert judgements[40].text_sha256 == hashlib.sha256(("a" * 40 + "!").encode()).hexdigest()


def test_several_that_hang_are_each_named() -> None:
    judgements = judged(ITEMS, [(1, BOMB), (1, reached("a")), (1, BOMB), (1, reached("b")), (1, BOMB)], SHORT)
    assert [one.columns.verdict for one in judgements] == ["runner_error", "pass", "runner_error", "fail", "runner_error"]


def test_a_wall_limit_ends_a_hanging_check() -> None:
    began = time.monotonic()
    [one] = judged([item(Check(kind="regex", expected="^(a+)+$"))], [(0, BOMB)], CheckLimits(timeout_ms=700, cpu_ms=60_000))
    assert (one.columns.check_reason or "").startswith("checker:timeout: over 700 ms")
    assert time.monotonic() - began < 20


def test_outputs_that_are_large_or_hold_anything() -> None:
    texts = ["x" * 2_000_000 + "yes", "\x00\u2028\u202e", "é" * 100_000, "\udcff yes \ud800", "yes"]
    contains = item(Check(kind="contains", expected="yes"))
    judgements = judged([contains], [(0, reached(text)) for text in texts])
    assert [one.columns.verdict for one in judgements] == ["pass", "fail", "fail", "pass", "pass"]


def test_contracts_are_sent_again_after_a_worker_was_told_to_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalaction.checks.pool.KNOWN_BYTES", 500)
    schema = {"type": "string", "enum": [f"word-{number}" for number in range(5)]}
    items = [item(Check(kind="contains", expected=f"word-{n % 5}"), index=n, schema=schema) for n in range(60)]
    judgements = judged(items, [(n, reached(f'"word-{n % 5}"')) for n in range(60)] * 2, workers=1)
    assert {one.columns.verdict for one in judgements} == {"pass"}


async def worker_pids(judge: Judge) -> list[int]:
    return [link.child.process.pid for link in judge._links]


async def until_busy(judge: Judge) -> int:
    while True:
        for link in judge._links:
            if link in judge._batches and link.child.spot.read().phase == "check":
                return link.child.process.pid
        await asyncio.sleep(0.01)


def test_a_worker_killed_from_outside_is_a_checker_error_and_the_next_one_works() -> None:
    async def run() -> tuple[Judgement, Judgement]:
        async with Judge(ITEMS, CheckLimits(), 1) as judge:
            hanging = asyncio.ensure_future(judge(REDOS, BOMB))
            os.kill(await until_busy(judge), signal.SIGKILL)
            return await hanging, await judge(EXACT, reached("yes"))

    hanging, after = asyncio.run(asyncio.wait_for(run(), 60))
    assert words(hanging) == (None, "checker:crash: SIGKILL", "runner_error")
    assert words(after) == (None, None, "pass")


def test_an_idle_worker_that_dies_is_replaced_unnoticed() -> None:
    async def run() -> Judgement:
        async with Judge(ITEMS, CheckLimits(), 1) as judge:
            await judge(EXACT, reached("yes"))
            [pid] = await worker_pids(judge)
            os.kill(pid, signal.SIGKILL)
            return await judge(EXACT, reached("yes"))

    assert words(asyncio.run(asyncio.wait_for(run(), 60))) == (None, None, "pass")


def test_leaving_kills_the_workers_and_cancels_what_waits() -> None:
    async def run() -> tuple[list[int], bool]:
        async with Judge(ITEMS, CheckLimits(), 2) as judge:
            hanging = [asyncio.ensure_future(judge(REDOS, BOMB)) for _ in range(9)]
            await until_busy(judge)
            pids = await worker_pids(judge)
        results = await asyncio.gather(*hanging, return_exceptions=True)
        return pids, all(isinstance(result, asyncio.CancelledError) for result in results)

    pids, cancelled = asyncio.run(asyncio.wait_for(run(), 60))
    assert pids and cancelled
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_an_item_that_cannot_be_sent_fails_its_caller_instead_of_hanging_it() -> None:
    strange = item(Check(kind="json", expected=object()), index=5)  # type: ignore[arg-type]

    async def run() -> Judgement:
        async with Judge(ITEMS, CheckLimits(), 1) as judge:
            with pytest.raises(TypeError, match="not JSON"):
                await judge(strange, reached("yes"))
            return await judge(EXACT, reached("yes"))

    assert words(asyncio.run(asyncio.wait_for(run(), 60))) == (None, None, "pass")


def test_workers_are_buried_where_the_system_ignores_the_death_of_children() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        judgements = judged(ITEMS, [(0, reached("yes")), (1, BOMB), (0, reached("yes"))], SHORT)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert [one.columns.verdict for one in judgements] == ["pass", "runner_error", "pass"]


def test_a_caller_that_gives_up_does_not_disturb_the_others() -> None:
    async def run() -> Judgement:
        async with Judge(ITEMS, SHORT, 1) as judge:
            tasks = [asyncio.ensure_future(judge(EXACT, reached("yes"))) for _ in range(10)]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            return (await asyncio.gather(*tasks[1::2]))[-1]

    assert words(asyncio.run(asyncio.wait_for(run(), 60))) == (None, None, "pass")


@pytest.mark.parametrize("command", ["/bin/false", "/nonexistent/python"])
def test_workers_that_do_not_start_end_the_run_with_a_sentence(command: str) -> None:
    with pytest.raises(EvalactionError, match="does not start") as failed:
        judged(ITEMS, [(0, reached("yes"))], command=(command,))
    assert failed.value.code == "checker_start"
