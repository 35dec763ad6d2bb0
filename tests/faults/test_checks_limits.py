"""Outputs, schemas and workers that misbehave: each costs its own verdict and nothing else.

Everything hostile in here runs inside a worker with its own CPU, memory and time limits.
"""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from support.judging import item, judged, reached

import evalaction
from evalaction.checks.judgement import Judgement
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check, Item

TIGHT = CheckLimits(timeout_ms=20_000, cpu_ms=400, memory_mb=128)
ANY = Check(kind="contains", expected="")
PLAIN = item(Check(kind="exact", expected="yes"), index=9)


def code(reason: str | None) -> str | None:
    return reason.partition(": ")[0] if reason else None


def one(exam_item: Item, output: str, limits: CheckLimits = TIGHT, **kwargs: Any) -> Judgement:
    """The judgement of one output, judged together with a harmless one, which must pass."""
    first, second = judged([exam_item, PLAIN], [(0, reached(output)), (1, reached("yes"))], limits, **kwargs)
    assert second.columns.verdict == "pass"
    return first


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"pattern": "^(a+)+$"}, '"' + "a" * 40 + '!"'),
        ({"uniqueItems": True}, "[" + ",".join(f'{{"a":{n}}}' for n in range(6_000)) + "]"),
        (
            {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [{"items": {"$ref": "#/$defs/n"}, "minItems": 9}] * 4}}},
            "[" * 60 + "]" * 60,
        ),
    ],
    ids=["pattern-on-41-characters", "uniqueItems-on-60-KB", "anyOf-recursion"],
)
def test_a_schema_that_an_output_makes_endless_is_contract_limit(schema: Any, output: str) -> None:
    judgement = one(item(ANY, schema=schema), output)
    assert judgement.columns.contract_reason == "limit: over 400 ms of CPU time"
    assert judgement.columns.verdict == "fail"
    assert judgement.text_sha256 and judgement.parsed_sha256


def test_endless_descent_is_contract_limit() -> None:
    # Such a schema is refused when the exam is loaded; the worker survives it all the same.
    judgement = one(item(ANY, schema={"$ref": "#"}), "1", CheckLimits())
    assert judgement.columns.contract_reason == "limit: depth"


def test_a_recursive_schema_judges_json_of_the_greatest_depth() -> None:
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/n"}]}}}}
    assert one(item(ANY, schema=schema), "[" * 200 + "]" * 200, CheckLimits()).columns.verdict == "pass"
    assert code(one(item(ANY, schema=schema), "[" * 201 + "]" * 201, CheckLimits()).columns.contract_reason) == "not_json"


@pytest.mark.parametrize("output", ["[" * 100_000, '{"a":' * 100_000, "9" * 100_000, "1e9999999", "[" + "1e400," * 10])
def test_json_that_broke_parsers_is_not_json(output: str) -> None:
    assert code(one(item(ANY, extract="json"), output).columns.contract_reason) == "not_json"


def test_a_number_with_a_huge_exponent_is_a_fail_and_takes_no_time() -> None:
    began = time.monotonic()
    judgement = one(item(Check(kind="number", expected=4)), "1e9999999")
    assert code(judgement.columns.check_reason) == "not_a_number"
    assert time.monotonic() - began < 20


def test_a_parsed_output_over_the_memory_limit_is_contract_limit() -> None:
    judgement = one(item(ANY, extract="json"), "[" + "{}," * 1_000_000 + "{}]", CheckLimits(memory_mb=48))
    assert judgement.columns.contract_reason == "limit: memory"


def test_a_check_over_the_memory_limit_is_a_checker_error() -> None:
    greedy = item(Check(kind="regex", expected="^(?:(?:(a)|(b)|(c)|(d))*?)*x"))
    judgement = one(greedy, "abcd" * 1_000_000, CheckLimits(memory_mb=64, cpu_ms=20_000))
    assert judgement.columns.check_reason == "checker:crash: memory"
    assert judgement.columns.contract is True and judgement.columns.check is None


def test_a_pattern_that_backtracks_forever_is_a_checker_error() -> None:
    judgement = one(item(Check(kind="regex", expected="^(a+)+$")), "a" * 40 + "!")
    assert judgement.columns.check_reason == "checker:timeout: over 400 ms of CPU time"
    assert judgement.columns.verdict == "runner_error"


FAKE = """
import json, os, sys, time
def send(message):
    body = json.dumps(message).encode()
    os.write(1, len(body).to_bytes(4, "big") + body)
def receive():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4: sys.exit(0)
    return json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
send(["ready"])
while True:
    jobs = receive()["jobs"]
    harmless = [None, True, None, None, None]
    if all(job[1] == "yes" for job in jobs):
        send(["done", False, [harmless for _ in jobs]])
        continue
    {misbehave}
"""


@pytest.mark.parametrize(
    ("misbehave", "reason"),
    [
        ("os.write(1, (9).to_bytes(4, 'big') + b'not json!'); time.sleep(60)", "checker:protocol"),
        ("send(['done', False, []]); time.sleep(60)", "checker:protocol"),
        ("send(['done', False, [harmless] * 99]); time.sleep(60)", "checker:protocol"),
        ("send(['done', False, [[None, None, None, None, None] for _ in jobs]]); time.sleep(60)", "checker:protocol"),
        ("send(['done', False, [['schema', True, None, None, None] for _ in jobs]]); time.sleep(60)", "checker:protocol"),
        ("send(['done', False, [[1] for _ in jobs]]); time.sleep(60)", "checker:protocol"),
        ("send(['surprise']); time.sleep(60)", "checker:protocol"),
        ("send(['ready']); time.sleep(60)", "checker:protocol"),
        ("send({}); time.sleep(60)", "checker:protocol"),
        ("os.write(1, b'\\xff' * 8); time.sleep(60)", "checker:output"),
        ("send(['done', False, ['x' * 200_000]]); time.sleep(60)", "checker:output"),
        ("sys.exit(3)", "checker:crash: exit code 3"),
        ("os.abort()", "checker:crash: SIGABRT"),
        ("os.close(1); time.sleep(60)", "checker:crash: SIGKILL"),
        ("time.sleep(60)", "checker:timeout"),
    ],
)
def test_a_worker_that_answers_nonsense(misbehave: str, reason: str) -> None:
    command = (sys.executable, "-I", "-c", FAKE.replace("{misbehave}", misbehave))
    limits = CheckLimits(timeout_ms=800, cpu_ms=400)
    judgement = one(item(Check(kind="exact", expected="x")), "nonsense", limits, command=command, workers=1)
    assert judgement.columns.verdict == "runner_error"
    assert (judgement.columns.check_reason or "").startswith(reason)
    assert judgement.text_sha256


SLOW = """
sys.path.insert(0, {root!r})
from evalaction.checks.spot import Spot
spot = Spot(json.loads(sys.argv[1])["spot"])
for number in range(len(jobs)):
    spot.begin(number, time.monotonic(), 0.0)
    time.sleep({seconds})
    spot.clear()
send(["done", False, [harmless for _ in jobs]])
"""


@pytest.mark.parametrize(("seconds", "verdict"), [(0.15, "pass"), (60, "runner_error")])
def test_a_wall_limit_counts_for_each_output_of_a_batch_apart(seconds: float, verdict: str) -> None:
    root = str(Path(evalaction.__file__).parent.parent)
    slow = textwrap.indent(SLOW.format(root=root, seconds=seconds), "    ").lstrip()
    command = (sys.executable, "-I", "-c", FAKE.replace("{misbehave}", slow))
    exam = [item(Check(kind="exact", expected="x"))]
    jobs = [(0, reached("slow"))] * (10 if verdict == "pass" else 2)
    judgements = judged(exam, jobs, CheckLimits(timeout_ms=1_000), workers=1, command=command)
    assert {one.columns.verdict for one in judgements} == {verdict}


def test_a_wall_limit_that_the_machine_caused_is_not_blamed_on_the_output() -> None:
    command = (sys.executable, "-I", "-c", FAKE.replace("{misbehave}", "time.sleep(60)"))
    judgement = one(item(Check(kind="exact", expected="x")), "slow", CheckLimits(timeout_ms=500), command=command, workers=1)
    assert judgement.columns.check_reason == "checker:timeout: over 500 ms, most of them spent waiting for the machine"


def test_a_wall_limit_in_the_contract_that_the_output_caused_is_contract_limit() -> None:
    endless = item(ANY, schema={"pattern": "^(a+)+$"})
    judgement = one(endless, '"' + "a" * 40 + '!"', CheckLimits(timeout_ms=900, cpu_ms=60_000))
    # On a machine so busy that the worker got less than half of the time, nobody is to blame.
    assert judgement.columns.contract_reason == "limit: over 900 ms" or (judgement.columns.check_reason or "").startswith(
        "checker:timeout"
    )


def test_everything_at_once() -> None:
    exam = [
        item(Check(kind="regex", expected="^(a+)+$")),
        item(ANY, index=1, schema={"pattern": "^(a+)+$"}),
        item(ANY, index=2, extract="json"),
        PLAIN,
    ]
    bomb = "a" * 40 + "!"
    jobs = [(3, reached("yes")), (0, reached(bomb)), (1, reached(f'"{bomb}"')), (2, reached("[" * 100_000))] * 4
    judgements = judged(exam, jobs, TIGHT)
    assert [j.columns.verdict for j in judgements] == ["pass", "runner_error", "fail", "fail"] * 4
