"""Story 4: every night, one arm. Half the calls lost is never green; the history says what a single night cannot."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.action import NAME, Demo, Step, demo_at
from support.command import Make, Project, Serve, environment, exam, gated, right
from support.endpoint_server import EndpointServer, answering, response

from evalaction import schemas
from evalaction.method.series.places import MARKER

SCHEDULE = {"schedule": "17 3 * * *"}
NIGHT: dict[str, str | None] = {"GITHUB_REF": "refs/heads/main", "EVALACTION_HISTORY": "evalaction-history"}


def alternating(received: Any, seen: list[int]) -> Any:
    """Every second call answers 503."""
    seen.append(1)
    return response({"error": "busy"}, status=503) if len(seen) % 2 else answering(right)(received)


def test_half_the_calls_lost_is_never_green(make: Make, serve: Serve) -> None:
    seen: list[int] = []
    server = serve(lambda received: alternating(received, seen))
    project = make(gated(5), exam(30), url=server.url)
    done = project.run()
    assert done.code == 5, done.said
    codes = [entry["code"] for entry in project.results()["verdict"]["breaks"]]
    assert "treatment:transport" in codes and "✅" not in project.comment()


@pytest.fixture
def nights(make: Make, server: EndpointServer) -> Project:
    """A project whose server is right until a test makes it worse."""
    return make(gated(3, {"limits": {"min_stable_pass": 0.8}}), exam(30), url=server.url)


def night(project: Project, number: int) -> str:
    done = project.run("--history", "history", to=f"night-{number}")
    assert done.code in {0, 1}, done.said
    return done.out


def worse(received: Any) -> str:
    """Wrong about every item under 12."""
    answer = right(received)
    return "wrong" if int(answer) < 12 else answer


def entries(root: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted(root.rglob("entry.json"))]


def test_two_nights_the_second_one_worse(nights: Project, server: EndpointServer) -> None:
    assert "The first run of this series: no baseline." in night(nights, 1)
    server.behaviour = answering(worse)
    assert "Drift alarm: over 1 run 12 first draws got worse and 0 better" in night(nights, 2)
    trend = nights("trend", "history")
    assert trend.code == 0 and "30/30 100 %" in trend.out and "18/30 60.0 %" in trend.out and "Drift alarm" in trend.out
    pages = {kind: nights("trend", "history", "--format", kind).out for kind in ("markdown", "html", "json")}
    assert "```mermaid" in pages["markdown"] and "<svg" in pages["html"] and len(json.loads(pages["json"])[0]["runs"]) == 2
    compared = nights("compare", "night-1", "night-2")
    assert compared.code == 0 and "12 items lost and 0 gained in the first draw; McNemar exact p 0.0005" in compared.out
    assert re.search(r"t0011 +ppp +kkk +check", compared.out) and "The check column moved." in compared.out
    is_whatever_the_console_writes(nights, pages)
    is_in_the_published_form(nights)
    entries_compare_like_their_runs(nights)


def is_whatever_the_console_writes(nights: Project, pages: dict[str, str]) -> None:
    """What is kept as a file is UTF-8, also where a console is not."""
    for kind, text in pages.items():
        command = [sys.executable, "-m", "evalaction", "trend", "history", "--format", kind]
        env = environment({"PYTHONIOENCODING": "ascii"})
        done = subprocess.run(command, cwd=nights.root, env=env, capture_output=True, timeout=60, check=True)
        assert done.stdout.decode() == text
    assert "[88–100]" in pages["html"]


def is_in_the_published_form(nights: Project) -> None:
    root = nights.root / "history"
    found = entries(root)
    assert len(found) == 2 and (root / MARKER).is_file()
    for entry in found:
        jsonschema.Draft202012Validator(schemas.load("history")).validate(entry)
    for path in root.rglob("rows.csv"):
        assert path.read_bytes() in {(nights.root / f"night-{number}" / "rows.csv").read_bytes() for number in (1, 2)}


def entries_compare_like_their_runs(nights: Project) -> None:
    first, second = sorted((nights.root / "history").rglob("entry.json"))
    of_runs = nights("compare", "night-1", "night-2", "--format", "json").out
    mixed = nights("compare", str(first.parent), "night-2", "--format", "json").out
    assert of_runs == mixed and json.loads(of_runs)["arms"][0]["lost"] == 12
    (second.parent / "rows.csv").write_bytes(b"task,arm\r\n")
    done = nights("compare", "night-1", str(second.parent))
    assert done.code == 2 and "is not the one of its entry" in done.err


def test_a_changed_exam_begins_a_new_series_and_does_not_compare(nights: Project) -> None:
    night(nights, 1)
    nights.repo.write({"tasks.jsonl": exam(31)["tasks.jsonl"]})
    assert nights("lock").code == 0
    nights.repo.commit()
    said = night(nights, 2)
    assert "A new series, since exam.sha256, exam.ids_sha256 and items changed" in said
    done = nights("compare", "night-1", "night-2")
    assert done.code == 2 and "exam.sha256, exam.ids_sha256 and items differ" in done.err


def test_runs_of_different_k_compare_through_the_smaller_one(nights: Project) -> None:
    night(nights, 1)
    card = json.loads((nights.root / "card.yaml").read_bytes())
    card["draws"]["count"] = 2
    nights.repo.write({"card.yaml": json.dumps(card).encode()})
    nights.repo.commit()
    assert "since draws.count changed" in night(nights, 2)
    done = nights("compare", "night-1", "night-2")
    assert done.code == 0 and "Runs of different K compare only through pass^2." in done.out


def test_what_is_no_history_is_left_alone(nights: Project, server: EndpointServer) -> None:
    """And nothing is drawn for it."""
    (nights.root / "mine").mkdir()
    (nights.root / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    done = nights.run("--history", "mine")
    assert done.code == 2 and "is no history of ours" in done.err
    assert [path.name for path in (nights.root / "mine").iterdir()] == ["notes.txt"]
    assert nights("trend", "mine").code == nights("compare", "mine", "mine").code == 2
    rehearsed = nights("run", "--rehearse", "--history", "history")
    assert rehearsed.code == 2 and "A rehearsal is no history" in rehearsed.err
    assert server.count == 0


def test_damaged_entries_are_counted_and_changed_ones_refused(nights: Project) -> None:
    night(nights, 1)
    [path] = (nights.root / "history").rglob("entry.json")
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"passed":90', b'"passed":91'))
    assert "The history in history has no entry yet" in nights("trend", "history").err
    night(nights, 2)
    assert "Left out: 1 entry of the history that could not be read." in nights("trend", "history").out


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path, gated(3, {"limits": {"min_stable_pass": 0.8}})) as one:
        yield one


def at_night(demo: Demo, **more: str | None) -> Step:
    return demo.step("schedule", SCHEDULE, {**NIGHT, **more})


def test_the_night_of_an_action_is_kept_on_a_branch(demo: Demo) -> None:
    demo.github.hub.repository(NAME).commit_files({"card.yaml": b"x"}, branch="main")
    before = demo.repo.git("status", "--porcelain"), demo.repo.git("for-each-ref")
    first = at_night(demo)
    assert first.code == 0 and "no baseline" in first.summary, first.log
    second = at_night(demo)
    assert second.code == 0 and "over 1 run 0 first draws got worse" in second.summary, second.log
    assert "```mermaid" in second.summary and demo.model.count == 24
    repository = demo.github.hub.repository(NAME)
    listed = repository.files(repository.commits[repository.refs["refs/heads/evalaction-history"]]["tree"])
    assert sum(path.endswith("/entry.json") for path in listed) == 2
    assert (demo.repo.git("status", "--porcelain"), demo.repo.git("for-each-ref")) == before


def test_a_card_that_gates_changes_runs_alone_at_night(tmp_path: Path) -> None:
    changes = {"arms.control": "base", "sign": {"claim": "none", "seed": "freeze-me-before-running"}}
    with demo_at(tmp_path, gated(3, changes)) as demo:
        demo.github.hub.repository(NAME).commit_files({"card.yaml": b"x"}, branch="main")
        step = at_night(demo)
        assert step.code == 0 and re.search("no base[:,] no sign", step.summary), step.log
        assert demo.model.count == 12 and step.outputs["sign"] == "0"
        assert "The first run of this series" in step.summary
