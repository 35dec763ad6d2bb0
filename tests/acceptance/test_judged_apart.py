"""Drawn by one command, judged by another: the rows of a single run, and a plain sentence for whoever reads too early."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.command import KEY, Done, Make, Project, Serve, exam, files_of, gated, right, sums_hold
from support.endpoint_server import EndpointServer, Received, answering, response
from support.programs import best_rung

PYTHON = b"""
def checker(parsed, fixture):
    if parsed == "crash":
        raise RuntimeError("mine")
    return parsed == fixture, "no"
"""
TASKS: list[dict[str, Any]] = [
    {"id": "exact", "prompt": "a", "expected": "right"},
    {"id": "off", "prompt": "b", "expected": "right"},
    {"id": "regex", "prompt": "c", "check": {"kind": "regex", "pattern": "^r.*t$"}},
    {"id": "contains", "prompt": "d", "check": {"kind": "contains", "value": "igh"}},
    {"id": "number", "prompt": "e", "expected": "4", "check": "number"},
    {"id": "json", "prompt": "f", "schema": {"type": "object", "required": ["a"]}, "check": {"kind": "json", "value": {"a": 1}}},
    {"id": "broken", "prompt": "g", "check": {"kind": "json", "value": {"a": 1}}},
    {"id": "python", "prompt": "h", "fixture": "right"},
    {"id": "crash", "prompt": "i", "fixture": "right"},
    {"id": "lost", "prompt": "j", "expected": "right"},
    {"id": "empty", "prompt": "k", "expected": "right"},
    {"id": "steps", "prompt": "l", "check": {"kind": "json", "source": "trace", "pointer": "/steps", "value": 2}},
    {"id": "cost", "prompt": "m", "check": {"kind": "json", "source": "trace", "pointer": "/long/400", "value": "the end"}},
]
REPLIES = {
    "a": "right", "b": "wrong \U0001f600 \u2028", "c": "right", "d": "bright", "e": "4.0", "f": '{"a": 1}', "g": "{",
    "h": "right", "i": "crash", "j": None, "k": "  ", "l": "fine", "m": "fine",
}  # fmt: skip
PASSING = ("exact", "regex", "contains", "number", "json", "python", "steps", "cost")
LAST = ("ms", "started_at")


def reply(received: Received) -> Any:
    """By its prompt; `j` is refused, and the trace of `m` is longer than what a row keeps of one."""
    prompt = received.json["q"]
    text = REPLIES[prompt]
    if text is None:
        return response({"error": "busy"}, status=503)
    long = ["\u00e9" * 50] * 400 if prompt == "m" else []
    return response({"text": text, "trace": {"steps": 2, "cost": 0.25, "long": [*long, "the end"]}})


def every_check(make: Make, serve: Serve) -> Project:
    endpoint = {
        "api": "http", "url_env": "EVAL_URL", "key_env": "EVAL_KEY", "body": {"q": "{{prompt}}"}, "text": "/text",
        "trace": "/trace",
    }  # fmt: skip
    card = cards.card(
        {
            "exam": {"tasks": "tasks.jsonl", "checker": "checker.py", "data": "synthetic"},
            "endpoints": {"main": endpoint},
            "arms": {"treatment": {"endpoint": "main"}},
            "draws": {"count": 2, "timeout_ms": 20_000},
            "checks": {"timeout_ms": 120_000},
            "validity": {"max_transport_error_rate": 1, "min_scored_fraction": 0},
        }
    )
    best_rung()
    return make(card, {"tasks.jsonl": cards.jsonl(TASKS), "checker.py": PYTHON}, url=serve(reply).url)


def draw(project: Project, to: str = "drawn", *more: str) -> Done:
    done = project("run", "--draw-only", "--quiet", "--run-dir", to, *more)
    assert done.code == 0, done.said
    return done


def judge(project: Project, run: str = "drawn", **how: Any) -> Done:
    return project("judge", run, "--quiet", env={"EVAL_KEY": None, "EVAL_URL": None}, **how)


def told(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what two draws of one question may differ in, in planned order; the names of the fields in theirs."""
    plain = [{name: value for name, value in row.items() if name not in LAST} for row in rows]
    return [{"fields": list(row), **row} for row in sorted(plain, key=lambda row: int(row["index"]))]


def test_every_check_says_the_same_as_in_a_single_run(make: Make, serve: Serve) -> None:
    project = every_check(make, serve)
    whole = project.run()
    drawn = draw(project)
    assert "not judged yet" in drawn.out and "evalaction judge" in drawn.out
    held = files_of(project.root / "drawn")
    assert set(held) == {"manifest.json", "requests.jsonl", "draws.jsonl", "texts.jsonl"}
    for line in held["draws.jsonl"].splitlines()[:-1]:
        assert not {"contract", "check", "verdict", "text_sha256", "parsed_sha256", "raw_head"} & json.loads(line).keys()
    judged = judge(project)
    assert judged.code == whole.code == 5, judged.said
    assert told(project.rows("drawn")) == told(project.rows())
    kinds = {row["item"]: (row["verdict"], row.get("contract"), row.get("check")) for row in project.rows("drawn")}
    assert kinds["crash"] == ("runner_error", True, None) and kinds["lost"] == kinds["empty"] == ("runner_error", None, None)
    assert kinds["broken"] == ("fail", False, None) and kinds["off"] == ("fail", True, False)
    assert {name: kinds[name][0] for name in PASSING} == dict.fromkeys(PASSING, "pass"), project.rows("drawn")
    results = [project.results(of) for of in ("run", "drawn")]
    assert results[0]["arms"][0]["columns"] == results[1]["arms"][0]["columns"]
    assert results[0]["verdict"] == results[1]["verdict"]
    assert sums_hold(project.root / "drawn")


def test_rows_are_judged_in_the_order_of_the_draws_and_the_same_twice(make: Make, serve: Serve) -> None:
    project = every_check(make, serve)
    draw(project)
    shutil.copytree(project.root / "drawn", project.root / "again")
    assert judge(project).code == judge(project, "again").code == 5
    once, twice = (files_of(project.root / name) for name in ("drawn", "again"))
    assert once == twice
    order = [[json.loads(line).get("index") for line in once[name].splitlines()] for name in ("draws.jsonl", "rows.jsonl")]
    assert order[0] == order[1]
    asked = judge(project)
    assert asked.code == 5 and files_of(project.root / "drawn") == once, "sealed rows are compared and stay"


def simple(make: Make, server: EndpointServer, **changes: Any) -> Project:
    project = make(gated(changes=changes or None), url=server.url)
    draw(project)
    return project


TOO_EARLY = [("score", "drawn"), ("compare", "drawn", "drawn"), *(("report", "drawn", "--format", form) for form in (
    "text", "markdown", "summary", "html", "junit", "csv", "json", "badge",
))]  # fmt: skip


def test_who_reads_too_early_is_told_so(make: Make, server: EndpointServer) -> None:
    project = simple(make, server)
    before = files_of(project.root / "drawn")
    for command in TOO_EARLY:
        done = project(*command)
        assert done.code == 2 and "drawn and not judged yet" in done.err and done.out == "", (command, done.said)
    assert files_of(project.root / "drawn") == before


def test_a_judged_run_is_read_like_any_other(make: Make, server: EndpointServer) -> None:
    project = simple(make, server)
    assert judge(project).code == 0
    before = files_of(project.root / "drawn")
    for command in TOO_EARLY:
        assert project(*command).code == 0, command
    assert files_of(project.root / "drawn") == before
    assert "judged_python" in project.results("drawn")["provenance"]["runner"]


def test_it_takes_the_commit_that_was_drawn(make: Make, server: EndpointServer) -> None:
    project = simple(make, server)
    project.repo.commit({"other.md": b"Be very kind.\n"})
    moved = judge(project)
    assert moved.code == 4 and "commit differs" in moved.err
    project.repo.write({"tasks.jsonl": exam(5)["tasks.jsonl"]})
    edited = judge(project)
    assert edited.code == 4 and not (project.root / "drawn" / "rows.jsonl").exists()


def test_replies_that_are_not_kept_whole_cannot_be_judged_elsewhere(make: Make, server: EndpointServer) -> None:
    for keep in ("head", "none"):
        project = make(gated(changes={"draws.keep_text": keep}), url=server.url)
        done = project("run", "--draw-only", "--quiet", "--run-dir", "drawn")
        assert done.code == 2 and "draws.keep_text: full" in done.err
    assert server.count == 0


@pytest.mark.parametrize("question", ["base", "head"])
def test_against_base(make: Make, server: EndpointServer, question: str) -> None:
    sign = {"claim": "none", "seed": "freeze-me-before-running"}
    project = make(gated(changes={"arms.control": "base", "limits": ..., "sign": sign}), url=server.url)
    base = project.repo.git("rev-parse", "HEAD")
    project.repo.commit({"prompt.md": b"Be very brief.\n"})
    draw(project, "drawn", "--base", base, "--question", question)
    done = judge(project)
    assert done.code == 0 and "One lever moved: prompt" in project.comment("drawn"), done.said
    assert ("question: head" in project.comment("drawn")) == (question == "head")
    assert project.results("drawn")["counts"]["written"] == 16


def test_what_was_judged_where_it_was_drawn_is_not_judged_again(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    project.run()
    done = project("judge", "run")
    assert done.code == 2 and "evalaction score" in done.err
    nothing = project("judge", "nowhere")
    assert nothing.code == 2 and "not a run folder" in nothing.err


@pytest.mark.parametrize("more", [("--rehearse",), ("--history", "history")])
def test_flags_that_need_a_verdict(make: Make, server: EndpointServer, more: tuple[str, ...]) -> None:
    done = make(url=server.url)("run", "--draw-only", *more)
    assert done.code == 2 and "--draw-only goes with neither" in done.err and server.count == 0


def test_a_key_that_is_echoed_is_judged_without_and_counted(make: Make, serve: Serve) -> None:
    echo = serve(answering(lambda received: KEY if right(received) == "1" else right(received)))
    project = simple(make, echo)
    held = files_of(project.root / "drawn")
    assert not any(KEY.encode() in data for data in held.values())
    assert [json.loads(line).get("redacted") for line in held["draws.jsonl"].splitlines()[:-1]].count(True) == 2
    assert judge(project).code == 1
    assert "2 replies held the value of a secret" in project.comment("drawn")
    assert [row["check_reason"] for row in project.rows("drawn") if row.get("redacted")] == [
        'differs: expected "1", got "***"'
    ] * 2


def tampered(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_a_text_that_is_not_the_one_drawn(make: Make, server: EndpointServer) -> None:
    project = simple(make, server)
    folder = project.root / "drawn"
    tampered(folder, "texts.jsonl", '"text":"1"', '"text":"2"')
    assert judge(project).code == 4 and not (folder / "comment.md").exists()
    (folder / "texts.jsonl").unlink()
    gone = judge(project)
    assert gone.code == 4 and "does not hold the text" in gone.err


def test_draws_whose_seal_does_not_fit(make: Make, server: EndpointServer) -> None:
    project = simple(make, server)
    tampered(project.root / "drawn", "draws.jsonl", '"status":200', '"status":201')
    done = judge(project)
    assert done.code == 4 and "seal" in done.err


def test_an_unreachable_endpoint(make: Make, serve: Serve) -> None:
    project = make(url=serve(answering(lambda _: "")).url)
    drawn = project("run", "--draw-only", "--quiet", "--run-dir", "drawn")
    assert drawn.code == 7 and "never reached" in drawn.out, drawn.said
    assert judge(project).code == 7 and project.results("drawn")["outcome"] == "unreachable"


def test_a_deadline_leaves_draws_to_be_finished(make: Make, serve: Serve) -> None:
    project = make(
        gated(changes={"pace": {"concurrency": 1, "per_minute": 20, "deadline_ms": 1500}}), url=serve(answering(right)).url
    )
    late = project("run", "--draw-only", "--quiet", "--run-dir", "drawn")
    assert late.code == 5 and "not finished" in late.err, late.said
    early = judge(project)
    assert early.code == 5 and "--draw-only --resume" in early.err
    whole = project("run", "--run-dir", "drawn", "--resume", "--quiet")
    assert whole.code == 4 and "judged_apart differs" in whole.err
