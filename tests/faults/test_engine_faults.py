"""A drawing process that is killed, interrupted, out of disk or doubled loses no finished row and can be finished."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.endpoint_server import Answer, EndpointServer, Received, answering, chat, fault, response, serving

from evalaction.engine.score import score
from evalaction.errors import Outcome

TESTS = Path(__file__).parent.parent
ENVIRON = {"PYTHONPATH": f"{TESTS.parent}:{TESTS}", "PATH": os.environ["PATH"], "PYTHONHASHSEED": "random"}


def start(server: EndpointServer, folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "support.drawing_process", server.url, str(folder), *options]
    return subprocess.Popen(
        command, env=ENVIRON, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    return process.returncode, json.loads(out) if out else {}


def draw(server: EndpointServer, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    return finish(start(server, folder, *options))


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.002)


def rows(folder: Path) -> list[dict[str, Any]]:
    path = folder / "rows.jsonl"
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [row for row in map(json.loads, whole.splitlines()) if "seal" not in row]


def has_rows(folder: Path, count: int) -> bool:
    return len(rows(folder)) >= count


def check_finished(folder: Path, planned: int) -> None:
    assert sorted(row["index"] for row in rows(folder)) == list(range(planned))
    texts = [json.loads(line)["index"] for line in (folder / "texts.jsonl").read_text().splitlines()]
    assert sorted(texts) == list(range(planned))
    report = score(folder)
    assert (report.counts.planned, report.counts.written) == (planned, planned)
    assert report.provenance.rows_sha256 is not None


def ok(latency_s: float = 0.02) -> Callable[[Received], Answer]:
    return answering(lambda received: "ok", latency_s=latency_s)


def test_one_request_a_draw(tmp_path: Path) -> None:
    with serving(ok(0.0)) as server:
        code, said = draw(server, tmp_path / "run", "--items", "30", "--draws", "2")
        assert (code, said["ended"]) == (0, "complete")
        assert said["planned"] == said["sent"] == said["written"] == server.count == 120
        asked = [(body["messages"][0]["content"], body["messages"][1]["content"]) for body in (r.json for r in server.requests)]
        assert len(set(asked)) == 60
        assert all(asked.count(one) == 2 for one in set(asked))
    check_finished(tmp_path / "run", 120)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_ended_at_any_moment_no_finished_row_is_lost(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "run"
    chance = random.Random(number)
    with serving(ok(0.05)) as server:
        kept = b""
        options: tuple[str, ...] = ()
        for _ in range(3):
            process = start(server, folder, "--draws", "12", *options)
            goal = len(rows(folder)) + chance.randrange(1, 25)
            wait_for(partial(has_rows, folder, goal))
            time.sleep(chance.random() * 0.03)
            os.killpg(process.pid, number)
            before = len(rows(folder))
            code, said = finish(process)
            assert code == (-signal.SIGKILL if number is signal.SIGKILL else 130), said
            data = (folder / "rows.jsonl").read_bytes()
            assert data.startswith(kept), "what was there stays byte for byte"
            kept = data[: data.rfind(b"\n") + 1]
            assert len(rows(folder)) >= before
            assert score(folder).verdict.outcome is Outcome.INCONCLUSIVE
            options = ("--resume",)
        code, said = draw(server, folder, "--draws", "12", "--resume")
        assert (code, said["ended"], said["written"]) == (0, "complete", 480)
        assert server.count >= 480
        if number is not signal.SIGKILL:
            assert said["sent"] == server.count, "draws that were dropped are counted as sent"
        assert (folder / "rows.jsonl").read_bytes().startswith(kept)
        check_finished(folder, 480)


def test_draws_under_way_are_written_within_the_grace(tmp_path: Path) -> None:
    with serving(ok(0.8)) as server:
        process = start(server, tmp_path / "run", "--items", "40", "--draws", "1", "--slots", "6")
        wait_for(lambda: server.count >= 6)
        process.send_signal(signal.SIGTERM)
        code, said = finish(process)
        assert code == 130
        assert "--resume" in said["sentence"]
        assert len(rows(tmp_path / "run")) == server.count
        paused = json.loads((tmp_path / "run" / "paused.json").read_text())
        assert (paused["ended"], paused["sent"]) == ("interrupted", server.count)


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with serving(lambda received: fault("silent")) as server:
        process = start(server, tmp_path / "run", "--slots", "4")
        wait_for(lambda: server.count >= 4)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None, "the first signal leaves a grace"
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        code, _ = finish(process)
        assert code == 130
        assert time.monotonic() - begun < 4.5, "the grace of five seconds was waited for"
        assert rows(tmp_path / "run") == []


@pytest.mark.parametrize("limit", [12_000, 20_000, 41_111])
def test_a_full_disk_is_reported_and_nothing_is_overwritten(tmp_path: Path, limit: int) -> None:
    folder = tmp_path / "run"
    with serving(ok(0.0)) as server:
        code, said = draw(server, folder, "--file-limit", str(limit))
        assert (code, said["code"]) == (2, "disk")
        kept = (folder / "rows.jsonl").read_bytes()
        assert kept == b"" or kept.endswith(b"\n")
        assert f"{len(rows(folder))} rows are kept" in said["sentence"]
        assert len(kept) <= limit
        assert b'"seal"' not in kept
        assert score(folder).verdict.breaks[0].code == "partial_grid"
        code, said = draw(server, folder, "--resume")
        assert (code, said["ended"]) == (0, "complete")
        assert (folder / "rows.jsonl").read_bytes().startswith(kept)
    check_finished(folder, 120)


def test_a_second_writer_is_refused_and_disturbs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with serving(ok(0.4)) as server:
        first = start(server, folder)
        wait_for(lambda: len(rows(folder)) > 5)
        assert draw(server, folder, "--resume")[1]["code"] == "run_dir_locked"
        assert draw(server, folder)[1]["code"] == "run_dir_locked"
        code, said = finish(first)
        assert (code, said["written"], server.count) == (0, 120, 120)
        assert draw(server, folder)[1]["code"] == "run_dir_in_use"
        assert server.count == 120
    check_finished(folder, 120)


def test_a_wrong_model_name_ends_after_draw_0(tmp_path: Path) -> None:
    def behaviour(received: Received) -> Answer:
        if received.json["messages"][0]["content"] == "control":
            return response({"error": {"message": "no such model"}}, status=404)
        return response(chat("ok", number=received.number))

    with serving(behaviour) as server:
        code, said = draw(server, tmp_path / "run", "--draws", "5")
        assert (code, said["ended"]) == (0, "unreachable")
        assert said["sent"] == said["written"] == server.count <= 40
    report = score(tmp_path / "run")
    assert report.verdict.outcome is Outcome.UNREACHABLE
    assert [found.code for found in report.verdict.breaks] == ["control:unreachable"]


def test_429_holds_every_draw_of_both_arms_and_is_not_tried_again(tmp_path: Path) -> None:
    times: list[float] = []

    def behaviour(received: Received) -> Answer:
        times.append(time.monotonic())
        if received.number == 12:
            return response("<html>slow down</html>", status=429, headers={"Retry-After": "1"})
        return response(chat("ok", number=received.number))

    with serving(behaviour) as server:
        code, said = draw(server, tmp_path / "run", "--slots", "2", "--items", "10", "--draws", "2")
        assert (code, server.count, said["written"]) == (0, 40, 40)
    late = [at for at in times if at > times[12] + 0.5]
    assert len(late) >= 40 - 15, "all but what was under way waited"
    assert min(late) >= times[12] + 0.99
    lost = [row for row in rows(tmp_path / "run") if not row["reach"]]
    assert [(row["reach_reason"], row["retry_after"]) for row in lost] == [("status:429", "1")]


def test_every_answer_is_429(tmp_path: Path) -> None:
    with serving(lambda received: response("", status=429, headers={"Retry-After": "3600"})) as server:
        begun = time.monotonic()
        _, said = draw(server, tmp_path / "run", "--draws", "5")
        assert said["ended"] == "unreachable"
        assert server.count == said["sent"] <= 40
        assert time.monotonic() - begun < 300


def test_per_minute(tmp_path: Path) -> None:
    times: list[float] = []

    def behaviour(received: Received) -> Answer:
        times.append(time.monotonic())
        return response(chat("ok", number=received.number))

    with serving(behaviour) as server:
        draw(server, tmp_path / "run", "--items", "6", "--draws", "1", "--per-minute", "600")
    assert len(times) == 12
    assert times[-1] - times[0] >= 11 * 0.1 - 0.05
    assert max(sum(at <= other < at + 0.5 for other in times) for at in times) <= 6


def test_a_server_that_dies_halfway_takes_from_both_arms(tmp_path: Path) -> None:
    def behaviour(received: Received) -> Answer:
        return response(chat("ok", number=received.number)) if received.number < 61 else fault("reset")

    with serving(behaviour) as server:
        _, said = draw(server, tmp_path / "run", "--draws", "3")
        assert said["written"] == server.count == 120
    down = [row["arm"] for row in rows(tmp_path / "run") if not row["reach"]]
    assert len(down) == 59
    assert abs(down.count("treatment") - down.count("control")) <= 9
    assert score(tmp_path / "run").verdict.outcome is Outcome.INCONCLUSIVE


def test_no_file_holds_the_key_that_a_server_echoes(tmp_path: Path) -> None:
    secret = "sk-0123456789abcdef0123456789abcdef"

    def behaviour(received: Received) -> Answer:
        if received.number % 3 == 0:
            return response("x" * 225 + received.headers["authorization"], status=400)
        return response(chat("x" * 225 + received.headers["authorization"], number=received.number))

    with serving(behaviour) as server:
        draw(server, tmp_path / "run", "--items", "5", "--draws", "2")
        assert server.requests[0].headers["authorization"] == f"Bearer {secret}"
    everything = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir()).decode()
    assert secret[:12] not in everything
    assert "***" in everything
