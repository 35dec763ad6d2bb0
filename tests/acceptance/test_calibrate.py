"""`calibrate`: one arm against itself, in real draws; gates over all runs together; a run folder for each, never posted."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command import HANGS_S, KEY, Make, Project, Serve, environment, exam, gated, paired, right, sums_hold
from support.endpoint_server import Answer, EndpointServer, Received, chat, response
from support.programs import best_rung

ITEMS = 84
SIGN: dict[str, Any] = {"sign.claim": "not_behind", "sign.margin": 0.1, "sign.metric": "mean"}


@pytest.fixture
def coin(serve: Serve) -> EndpointServer:
    """Right seven times in ten, whatever is asked."""

    def behave(received: Received) -> Answer:
        lucky = random.Random(received.number).random() < 0.7
        return response(chat(right(received) if lucky else "no", number=received.number))

    return serve(behave)


def card(make: Make, server: EndpointServer, **changes: Any) -> Project:
    return make(paired(1, SIGN | changes), exam(ITEMS), url=server.url)


def test_an_arm_is_drawn_against_itself(make: Make, coin: EndpointServer) -> None:
    project = card(make, coin)
    done = project("calibrate", "--times", "2", "--run-dir", "aa", "--quiet")
    assert done.code == 0, done.said
    assert coin.count == 2 * 2 * ITEMS
    assert done.err.splitlines()[-1] == "2 runs × 168 calls = 336 calls planned"
    systems = {received.json["messages"][0]["content"] for received in coin.requests}
    assert systems == {"Be brief.\n"}, "the treatment's prompt in both arms"
    earned = [project.results(f"aa/{number:04d}")["verdict"]["earned"] for number in (1, 2)]
    assert f"earned a sign in {sum(earned)} of 2 runs" in done.out
    assert "Computed for this size: " in done.out and "never posted" in done.out


def test_each_run_is_marked_and_can_be_scored_again(make: Make, coin: EndpointServer) -> None:
    project = card(make, coin)
    project("calibrate", "--run-dir", "aa", "--quiet")
    folder = project.root / "aa/0001"
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["inputs"] == {"calibration": "1 of 1"} and sums_hold(folder)
    assert "calibration=1 of 1" in project.comment("aa/0001") and "A calibration" in project.comment("aa/0001")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    project("score", "aa/0001")
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_limits_and_claim_none_do_not_judge_a_calibration(make: Make, coin: EndpointServer) -> None:
    project = make(paired(1, {"limits": {"treatment": {"min_first_pass": 1.0}}}), exam(ITEMS), url=coin.url)
    done = project("calibrate", "--run-dir", "aa", "--quiet")
    assert done.code == 0, done.said
    assert project.results("aa/0001")["claim"] == "differ" and project.results("aa/0001")["limits"] == []


def test_the_budget_holds_for_all_runs_together(make: Make, coin: EndpointServer) -> None:
    project = card(make, coin, **{"budget.calls": 400})
    refused = project("calibrate", "--times", "3", "--run-dir", "aa")
    assert (refused.code, coin.count) == (2, 0)
    assert "budget.calls is 400 calls and the worst case of this run is 504 calls" in refused.err
    assert not (project.root / "aa").exists()
    assert project("calibrate", "--times", "2", "--run-dir", "aa", "--quiet").code == 0


def test_what_cannot_earn_a_sign_is_not_calibrated(make: Make, coin: EndpointServer) -> None:
    one = make(gated(1), exam(ITEMS), url=coin.url)
    done = one("calibrate")
    assert (done.code, coin.count) == (2, 0) and "one arm and no `sign`" in done.err
    small = make(paired(1, SIGN), exam(12), url=coin.url)
    done = small("calibrate")
    assert (done.code, coin.count) == (2, 0) and "add 18 items" in done.err


def test_what_is_not_committed_is_not_calibrated(make: Make, coin: EndpointServer) -> None:
    project = card(make, coin)
    (project.root / "prompt.md").write_bytes(b"Be long.\n")
    done = project("calibrate")
    assert (done.code, coin.count) == (4, 0) and "prompt.md" in done.err


def test_a_dead_endpoint_ends_it_after_one_run(make: Make, serve: Serve) -> None:
    dead = serve(lambda _: response({"error": "no"}, status=503))
    project = card(make, dead)
    done = project("calibrate", "--times", "3", "--run-dir", "aa", "--quiet")
    assert done.code == 7 and "No run had valid data" in done.out
    assert [path.name for path in (project.root / "aa").iterdir()] == ["0001"]


@pytest.mark.parametrize("times", ["0", "1001", "-1"])
def test_times_is_a_number_of_runs(make: Make, coin: EndpointServer, times: str) -> None:
    done = card(make, coin)("calibrate", "--times", times)
    assert (done.code, coin.count) == (2, 0) and "--times takes a whole number from 1 to 1,000" in done.err


def test_the_plan_says_how_often_a_sign_comes_of_nothing(make: Make) -> None:
    planned = make(paired(5, SIGN), exam(ITEMS), url="http://127.0.0.1:9")("plan")
    assert (
        "two identical arms would earn a sign in 3.1 % of such runs" in planned.out and "`calibrate` measures it" in planned.out
    )
    assert "identical" not in make(paired(5), exam(ITEMS), url="http://127.0.0.1:9")("plan").out
    assert "identical" not in make(gated(5), exam(ITEMS), url="http://127.0.0.1:9")("plan").out


ASKING = b"""\
import os, sys, urllib.request
sys.stdin.read()
urllib.request.urlopen(urllib.request.Request(os.environ["EVAL_URL"], data=os.environ["EVAL_KEY"].encode())).read()
print("pong")
"""


def program(**changes: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A card whose endpoint is a program that asks the stub server, and its files."""
    router = {"api": "command", "run": ["python3", "llm/main.py"], "paths": ["llm"], "env": ["EVAL_URL", "EVAL_KEY"]}
    card = paired(1, {"endpoints": {"main": router}, "draws.timeout_ms": 60_000, "arms.control": "base", **changes})
    return card, {**exam(ITEMS), "llm/main.py": ASKING}


def test_a_program_is_probed_in_its_box(make: Make, serve: Serve) -> None:
    best_rung()
    server = serve(lambda received: response({}))
    card, files = program(**{"endpoints.main.setup": ["sh", "-c", "echo ready > llm/made"]})
    done = make(card, files, url=server.url)("probe")
    assert done.code == 0 and server.count == 1, done.said
    assert "main: reach yes · contract yes · check yes" in done.out and KEY not in done.said


@pytest.mark.parametrize("command", [("probe",), ("calibrate", "--run-dir", "aa", "--quiet")])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_key_is_left_in_our_environment_while_programs_run(make: Make, serve: Serve, command: tuple[str, ...]) -> None:
    best_rung()
    started: list[subprocess.Popen[bytes]] = []
    seen: list[bytes] = []

    def behave(received: Received) -> Answer:
        seen.append(Path(f"/proc/{started[0].pid}/environ").read_bytes())
        started[0].terminate()
        return response({})

    card, files = program()
    project = make(card, files, url=serve(behave).url)
    started.append(
        subprocess.Popen(
            [sys.executable, "-m", "evalaction", *command],
            cwd=project.root, env=environment(project.env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
    )  # fmt: skip
    started[0].wait(timeout=HANGS_S)
    assert seen and b"PATH=" in seen[0] and KEY.encode() not in seen[0]
