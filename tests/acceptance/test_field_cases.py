"""Mistakes of other tools, each with its input, through the whole command. The thread that told of it is in the docstring."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter

from support import cards
from support.command import Make, Project, Serve, asked, environment, exam, gated, paired, right
from support.endpoint_server import Answer, EndpointServer, Received, answering, chat, fault, response

ANYTHING = {"validity": {"max_transport_error_rate": 1, "min_scored_fraction": 0}}


def texts(received: Received) -> Answer:
    return response(chat(right(received), number=received.number))


def column(project: Project, name: str, arm: str = "treatment") -> tuple[int, int]:
    """Numerator and denominator of a column of an arm."""
    rate = next(one for one in project.results()["arms"] if one["arm"] == arm)["columns"][name]
    return rate["hits"], rate["total"]


def test_lost_draws_stay_in_the_denominator(make: Make, serve: Serve) -> None:
    """Dropping errored samples inflated the accuracy of small sets: inspect_ai#2914."""

    def some(received: Received) -> Answer:
        number = int(right(received))
        if number < 2:
            return texts(received)
        return fault("reset") if number < 4 else response(chat("wrong", number=received.number))

    project = make(gated(1, {**ANYTHING, "limits": ...}), exam(8), url=serve(some).url)
    assert project.run().code == 0
    arm = project.results()["arms"][0]
    assert (column(project, "reach"), column(project, "end_to_end")) == ((6, 8), (2, 8))
    assert (arm["draws"]["first"]["low"], arm["draws"]["first"]["total"]) == (2, 8)
    assert "6/8 75.0\u00a0%" in project.comment()


def test_a_dead_endpoint_and_a_bad_model_are_told_apart(make: Make, serve: Serve) -> None:
    """A connection error and a wrong answer gave the same report: openai/evals#1832."""

    def by_arm(received: Received) -> Answer:
        if asked(received.json)[0] == "Be brief.\n":
            return texts(received)
        return response(chat("wrong", number=received.number))

    project = make(paired(1), exam(8), url=serve(by_arm).url)
    assert project.run().code == 0
    assert (column(project, "reach"), column(project, "check")) == ((8, 8), (8, 8))
    assert (column(project, "reach", "control"), column(project, "check", "control")) == ((8, 8), (0, 8))
    dead = make(url="http://127.0.0.1:9/v1")
    done = dead.run()
    assert done.code == 7 and "connect × 4" in done.out and dead.results()["arms"] == []


def test_a_single_pass_among_lost_draws_never_passes(make: Make, serve: Serve) -> None:
    """One scored sample of ten passed its minimum: opendatahub-io/agent-eval-harness#184; partial results were not told:
    instructlab/eval#39."""
    server = serve(lambda received: texts(received) if right(received) == "3" else response({}, status=503))
    project = make(gated(1, {"limits": {"min_first_pass": 0.9, "min_check": 1}}), exam(10), url=server.url)
    done = project.run()
    assert (done.code, server.count) == (5, 10)
    assert "9 of 10 draws did not reach" in done.out and "no verdict on 9 of 10 draws" in done.out
    states = {limit["name"]: limit["state"] for limit in project.results()["limits"]}
    assert states["min_first_pass"] == "undecided"


def test_every_draw_is_asked_exactly_once_whatever_comes_back(make: Make, serve: Serve) -> None:
    """Built-in retries went on for hours against a daily quota: promptfoo#7727. `Retry-After` is read in both its forms and
    garbage is no crash: interviewstreet/hiring-agent#386, openai-python#3555."""
    forms = ["0", "1e9", "Fri, 31 Dec 1999 23:59:59 GMT", "soon", "-5", "9" * 40, "0.5", ""]

    def limited(received: Received) -> Answer:
        if received.number == 0:
            return texts(received)
        return response({"error": {}}, status=429, headers={"Retry-After": forms[received.number % len(forms)]})

    server = serve(limited)
    project = make(gated(3, {"pace.max_wait_ms": 50}), exam(8), url=server.url)
    start = time.monotonic()
    done = project.run()
    assert time.monotonic() - start < 20
    assert (done.code, server.count) == (5, 24)
    assert project.results()["counts"] == {"planned": 24, "sent": 24, "written": 24}
    asked_for = Counter(asked(received.json) for received in server.requests)
    assert set(asked_for.values()) == {3}
    assert "status:429 × 23" in done.out


def test_empty_answers_of_one_arm_are_no_result(make: Make, serve: Serve) -> None:
    """Runs with half to nearly all answers empty looked like quality, or green: lm-evaluation-harness#2847, nika#410,
    nika#651, inference-atlas#25."""

    def emptied(received: Received) -> Answer:
        empty = asked(received.json)[0] == "Be brief.\n" and right(received) != "7"
        return response(chat(None if empty else right(received), number=received.number))

    server = serve(emptied)
    for changes in ({}, {"limits": {"between": {"max_reach_gap": 0.1}}}):
        project = make(paired(1, changes), exam(30), url=server.url)
        done = project.run()
        assert done.code == 5 and "empty × 29" in done.out
        assert project.results()["verdict"]["breaks"][0]["code"] == "treatment:transport"
        assert (column(project, "reach"), column(project, "reach", "control")) == ((1, 30), (30, 30))


def test_each_repeat_is_a_request_of_its_own(make: Make, serve: Serve) -> None:
    """`--repeat 5` returned one cached answer five times: promptfoo#360."""
    server = serve(lambda received: response(chat(f"answer {received.number}", number=received.number)))
    project = make(gated(5), url=server.url)
    assert project.run().code == 1 and server.count == 20
    seen: dict[str, set[str]] = {}
    for row in project.rows():
        seen.setdefault(row["item"], set()).add(row["text_sha256"])
    assert {item: len(digests) for item, digests in seen.items()} == {f"t{number:04d}": 5 for number in range(4)}


def test_replayed_answers_are_caught(make: Make, serve: Serve) -> None:
    """The same draws came back from a cache in front of the model: promptfoo#360."""
    server = serve(lambda received: response({**chat(right(received)), "id": f"chatcmpl-{right(received)}"}))
    project = make(gated(5), url=server.url)
    done = project.run()
    assert (done.code, server.count) == (5, 20)
    assert "draws came from a cache" in done.out.splitlines()[0]


def test_one_draw_has_no_flip(make: Make, server: EndpointServer) -> None:
    """Zero epochs ran one sample, negative ones none: inspect_ai#579. Zero and less are refused; one cannot flip."""
    project = make(gated(1), url=server.url)
    done = project.run()
    assert (done.code, server.count) == (0, 4)
    line = next(line for line in done.out.splitlines() if line.startswith("treatment") and "n/a" in line)
    assert "4/4" in line


def test_the_pace_of_the_card_is_kept_and_the_number_of_calls_comes_first(make: Make, serve: Serve) -> None:
    """Free tiers allow a few requests a minute: astrodynamics-mcp#19, open-codebase-index#56."""
    times: list[float] = []

    def timed(received: Received) -> Answer:
        times.append(time.monotonic())
        return texts(received)

    project = make(gated(2, {"pace.per_minute": 600}), url=serve(timed).url)
    process = subprocess.Popen(
        [sys.executable, "-m", "evalaction", "run", "--run-dir", "run"],
        cwd=project.root, env=environment(project.env), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    said: list[tuple[float, str]] = []
    reader = threading.Thread(target=lambda: said.extend((time.monotonic(), line) for line in process.stderr or ()))
    reader.start()
    assert process.wait(30) == 0
    reader.join(10)
    process.stderr.close()
    assert said[0][1] == "8 calls planned\n" and said[0][0] <= times[0] + 0.25
    assert len(times) == 8 and times[-1] - times[0] >= 0.6


def test_a_pipe_does_not_hide_the_exit_code_from_a_careful_shell(make: Make, serve: Serve) -> None:
    """Every call failed, the tool ended with 0, and `| tee` ate the rest: i-dot-ai/themefinder#119."""
    project = make(url=serve(lambda received: response({}, status=401)).url)
    command = f"{sys.executable} -m evalaction run --run-dir run --quiet"
    plain = subprocess.run(["bash", "-e", "-c", f"{command}; echo not here"], cwd=project.root,
                           env=environment(project.env), capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert plain.returncode == 7 and "not here" not in plain.stdout


def test_heading_comment_results_and_exit_code_never_disagree(make: Make, serve: Serve) -> None:
    """The banner said FAIL and the exit code 0: EntityProcess/agentv#882, confident-ai/deepeval#770."""
    answers = {
        "pass": ("✓", "✅", 0, texts),
        "fail": ("✗", "❌", 1, lambda received: response(chat("wrong", number=received.number))),
        "inconclusive": ("?", "⚠️", 5, lambda one: texts(one) if int(right(one)) else response({}, status=503)),
        "unreachable": ("⊘", "🚫", 7, lambda received: response({}, status=503)),
    }
    for outcome, (terminal, markdown, code, behaviour) in answers.items():
        project = make(gated(2), exam(5), url=serve(behaviour).url)
        done = project.run()
        results = project.results()
        assert (done.code, results["outcome"], results["exit_code"]) == (code, outcome, code)
        assert f"{terminal} support-triage" in done.out.splitlines()[0]
        assert f"{markdown} support-triage" in project.comment().splitlines()[0]
        assert f"outcome {outcome} (exit {code})" in " ".join(done.out.split())
        assert f"outcome {outcome} (exit {code})" in project.comment()


def test_lines_of_an_exam_end_with_newlines_only(make: Make, serve: Serve) -> None:
    """Bytes that look like line ends or belong to an editor broke an import: promptfoo#2230."""
    server = serve(lambda received: response(chat(asked(received.json)[1], number=received.number)))
    exact = "a\u2028b\u0085c"
    lines = cards.jsonl([{"id": "one", "prompt": exact, "expected": exact}, {"id": "two", "prompt": "x", "expected": "x"}])
    project = make(files=exam() | {"tasks.jsonl": lines.rstrip(b"\n")}, url=server.url)
    done = project.run()
    assert (done.code, server.count) == (0, 4)
    windows = make(files=exam() | {"tasks.jsonl": lines.replace(b"\n", b"\r\n")}, url=server.url)
    assert windows("verify").code == 0, "what is committed is what counts"


def test_a_checkout_that_rewrites_line_ends_is_named_as_such(make: Make) -> None:
    """A checkout with other line ends, a pointer of a large-file store, a link: each is not the file that was frozen."""
    project = make()
    project.repo.git("config", "core.autocrlf", "true")
    (project.root / "tasks.jsonl").unlink()
    project.repo.git("checkout", "--quiet", "--", "tasks.jsonl")
    assert b"\r\n" in (project.root / "tasks.jsonl").read_bytes()
    done = project("verify")
    assert done.code == 4 and "only in its line endings" in done.out and ".gitattributes" in done.out

    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12\n"
    lfs = make()
    lfs.repo.commit({"tasks.jsonl": pointer})
    assert "is in Git LFS" in lfs("verify").out

    link = make()
    (link.root / "tasks.jsonl").rename(link.root / "real.jsonl")
    (link.root / "tasks.jsonl").symlink_to("real.jsonl")
    link.repo.commit()
    done = link("verify")
    assert done.code == 4 and "symlink" in done.out


def test_a_healthy_server_behind_a_slow_start_is_asked_once(make: Make, serve: Serve) -> None:
    """A retry hidden in the transport would ask twice: openai/evals, promptfoo#7727."""
    server = serve(answering(right, latency_s=0.3))
    project = make(gated(1, {"draws.timeout_ms": 100, **ANYTHING}), url=server.url)
    done = project.run()
    assert (done.code, server.count) == (7, 4) and "timeout × 4" in done.out
