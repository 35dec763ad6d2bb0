"""A signal at any moment loses no finished row, and a run that is not whole never looks like a result."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
from support.command import Make, Project, Serve, environment, exam, files_of, gated, right, sums_hold
from support.endpoint_server import EndpointServer, answering, chat, response

SLOW = {"pace.concurrency": 1}


def started(project: Project, *, to: str = "run") -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "evalaction", "run", "--run-dir", to],
        cwd=project.root, env=environment(project.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(server: EndpointServer, count: int) -> None:
    end = time.monotonic() + 30
    while server.count < count:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_with_130_and_can_be_finished(make: Make, serve: Serve, number: signal.Signals) -> None:
    """What was drawn is on disk before the end: dynatrace-oss/dt-evals#150."""
    latency_s = [0.5]
    server = serve(lambda received: response(chat(right(received), number=received.number), delay_s=latency_s[0]))
    project = make(gated(30, SLOW), url=server.url)  # a minute of draws: a second command has time to start on a busy machine
    process = started(project)
    wait_for(server, 2)
    writing = project.run("--resume")
    assert writing.code == 2 and "Another process is writing" in writing.err
    process.send_signal(number)
    latency_s[0] = 0.0
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    held = len(project.rows())
    assert 2 <= held < 120 and server.count == held
    assert f"{held} of 120 draws are on disk" in err.decode() and f"--resume --run-dir {project.root / 'run'}" in err.decode()

    partial = project("score", "run")
    assert partial.code == 5 and "the grid is not whole" in partial.out and "reach" not in partial.out.partition("outcome")[0]
    assert project.results()["arms"] == [] and sums_hold(project.root / "run")

    finished = project.run("--resume")
    assert finished.code == 0 and f"{120 - held} draws added, 120 of 120 are on disk" in finished.err
    assert server.count == 120 and project.results()["counts"] == {"planned": 120, "sent": 120, "written": 120}
    again = project.run("--resume")
    assert again.code == 0 and "0 draws added" in again.err and server.count == 120


def test_a_killed_run_keeps_its_rows_and_is_no_result(make: Make, serve: Serve) -> None:
    server = serve(answering(right, latency_s=0.1))
    project = make(gated(3, SLOW), url=server.url)
    process = started(project)
    wait_for(server, 6)
    process.kill()
    process.communicate(timeout=30)
    held = {(row["item"], row["draw"]) for row in project.rows()}
    assert len(held) >= 4 and not {"comment.md", "results.json"} & set(files_of(project.root / "run"))
    assert project("score", "run").code == 5
    assert project.run("--resume").code == 0
    rows = [(row["item"], row["draw"]) for row in project.rows()]
    assert len(rows) == len(set(rows)) == 12 and held < set(rows)


def test_a_run_is_not_resumed_with_other_inputs(make: Make, serve: Serve) -> None:
    server = serve(answering(right, latency_s=0.05))
    project = make(gated(3, {**SLOW, "pace.deadline_ms": 300}), url=server.url)
    assert project.run().code == 5, "the deadline of the run passed"
    held, sent = files_of(project.root / "run"), server.count
    (project.root / "prompt.md").write_bytes(b"Be long.\n")
    project.repo.git("commit", "--quiet", "--all", "--message", "another prompt")
    refused = project.run("--resume")
    assert refused.code == 4 and "resume_differs" in refused.err and "new --run-dir" in refused.err
    assert files_of(project.root / "run") == held and server.count == sent
    project.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    done = project.run("--resume")
    assert done.code in {0, 5} and server.count > sent


def test_the_deadline_of_a_run_leaves_it_incomplete(make: Make, serve: Serve) -> None:
    server = serve(answering(right, latency_s=0.1))
    project = make(gated(5, {**SLOW, "pace.deadline_ms": 350}), exam(8), url=server.url)
    done = project.run()
    assert done.code == 5 and "deadline passed" in done.out and "--resume" in done.out
    assert 0 < server.count < 40 and project.results()["verdict"]["breaks"][0]["code"] == "partial_grid"
