"""Mistakes that other evaluation tools made while running, each with the input that showed it, through the real command."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.command import Project, asked, exam, gated, right
from support.endpoint_server import Answer, Received, answering, chat, response, serving


def test_partial_results_are_told_with_their_reasons(tmp_path: Path) -> None:
    """Thirty of a hundred draws answer 503: counted, named, and no rate is made of the rest alone."""

    def answer(received: Received) -> Answer:
        if received.number % 10 < 3 and received.number:
            return response("busy", status=503)
        return response(chat(right(received), number=received.number))

    with serving(answer) as server:
        project = Project(tmp_path / "p", gated(1, {"pace": {"concurrency": 1}}), exam(100), url=server.url, own_process=False)
        done = project.run()
        assert server.count == 100
    results = project.results()
    assert done.code == 5
    assert results["verdict"]["breaks"][0]["code"] == "treatment:transport"
    reach = results["arms"][0]["columns"]["reach"]
    assert (reach["hits"], reach["total"]) == (71, 100)
    assert "71/100" in project.comment() and re.search(r"status[^|]*503.* 29\b", project.comment())


def test_errors_on_odd_draws_are_neither_drawn_again_nor_hidden(tmp_path: Path) -> None:
    seen: dict[str, int] = {}

    def answer(received: Received) -> Answer:
        prompt = asked(received.json)[1]
        seen[prompt] = seen.get(prompt, 0) + 1
        if seen[prompt] % 2 == 0:
            return response("", status=500)
        return response(chat(right(received), number=received.number))

    with serving(answer) as server:
        project = Project(
            tmp_path / "p", gated(4, {"limits": ..., "pace": {"concurrency": 1}}), exam(4), url=server.url, own_process=False
        )
        project.run()
        assert server.count == 16
    assert [item["low"] for item in (project.results()["arms"][0]["draws"][name] for name in ("stable", "flip"))] == [0, 0]
    assert sorted((row["item"], row["draw"], row["reach"]) for row in project.rows()) == sorted(
        (f"t{number:04d}", draw, draw % 2 == 0) for number in range(4) for draw in range(4)
    )


def test_items_with_one_prompt_text_are_two_items(tmp_path: Path) -> None:
    """Grouped by id, never by prompt or position: the always-failing one is not averaged away."""
    items = [cards.item(1), cards.item(2, prompt="Say 1.")]
    with serving(answering(right, latency_s=0.01)) as server:
        files = exam(1) | {"tasks.jsonl": cards.jsonl(items)}
        project = Project(tmp_path / "p", gated(3), files, url=server.url, own_process=False)
        done = project.run()
    arm = project.results()["arms"][0]["draws"]
    assert done.code == 1
    assert [(arm[name]["low"], arm[name]["total"]) for name in ("first", "stable", "flip")] == [(1, 2), (1, 2), (0, 2)]
    assert {row["item"] for row in project.rows() if row["verdict"] == "pass"} == {"t0001"}


def test_parameters_arrive_at_the_server_as_the_card_writes_them(tmp_path: Path) -> None:
    params = {"max_tokens": 4096, "temperature": 0.20, "top_p": 1.0, "stop": ["\n\n"]}
    card = json.dumps(gated(1, {"endpoints.main.params": params})).replace("0.2,", "0.20,")
    with serving(answering(right)) as server:
        project = Project(tmp_path / "p", card.encode(), exam(2), url=server.url, own_process=False)
        assert project.run().code == 0
    bodies = [received.body.decode() for received in server.requests]
    assert all('"max_tokens":4096,"temperature":0.20,"top_p":1.0,"stop":["\\n\\n"]' in body for body in bodies)


def test_reordered_lines_move_no_item_to_another_half(tmp_path: Path) -> None:
    halves: list[dict[str, int]] = []
    for name, items in (("a", list(range(12))), ("b", list(reversed(range(12))))):
        with serving(answering(right)) as server:
            files = exam(1) | {"tasks.jsonl": cards.jsonl([cards.item(number) for number in items])}
            project = Project(tmp_path / name, gated(1), files, url=server.url, own_process=False)
            project.run(env={"PYTHONHASHSEED": str(len(halves))})
        halves.append({row["item"]: row["half"] for row in project.rows()})
    assert halves[0] == halves[1] and len(halves[0]) == 12


def test_a_second_look_is_taken_from_the_rows_and_from_no_store_of_verdicts(tmp_path: Path) -> None:
    with serving(answering(right)) as server:
        project = Project(tmp_path / "p", gated(2), exam(4), url=server.url, own_process=False)
        assert project.run().code == 0
        for name in ("results.json", "comment.md", "rows.csv"):
            (project.root / "run" / name).write_bytes(b"stale")
        assert project("score", "run").code == 0 and server.count == 8
    assert project.results()["outcome"] == "pass" and "stale" not in project.comment()


@pytest.mark.parametrize("strip", ["p", "u", "k", "c", "pu", "kc"])
def test_no_number_of_a_report_is_nan(tmp_path: Path, strip: str) -> None:
    """All lost, all wrong, nothing checked: what cannot be divided is n/a and null, never NaN."""
    texts = {"p": '{"a": 1}', "k": '{"a": 2}', "c": "no"}

    def answer(received: Received) -> Answer:
        letter = strip[received.number % len(strip)]
        return response("", status=500) if letter == "u" else response(chat(texts[letter], number=received.number))

    items = [cards.item(number, check="json", expected={"a": 1}) for number in range(4)]
    with serving(answer) as server:
        project = Project(
            tmp_path / "p", gated(1), exam(1) | {"tasks.jsonl": cards.jsonl(items)}, url=server.url, own_process=False
        )
        project.run()

    def refuse(word: str) -> float:
        raise AssertionError(word)

    found: Any = json.loads((project.root / "run" / "results.json").read_text(), parse_constant=refuse)
    assert not re.search(r"\bnan\b", project.comment(), re.IGNORECASE)
    assert all(math.isfinite(number) for number in numbers(found))


def numbers(value: Any) -> list[float]:
    if isinstance(value, (int, float)):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [number for part in inner for number in numbers(part)]


def test_a_declared_flake_is_no_excuse(tmp_path: Path) -> None:
    """There is no field that takes an item out of the count."""
    files = exam(1) | {"tasks.jsonl": cards.jsonl([cards.item(1, flaky=True)])}
    done = Project(tmp_path / "p", gated(2), files, lock=False, own_process=False)("verify")
    assert done.code == 2 and "tasks.jsonl:1" in done.err and "flaky" in done.err


def test_a_log_shows_that_the_run_moves(tmp_path: Path) -> None:
    with serving(answering(right)) as server:
        project = Project(tmp_path / "p", gated(2), exam(4), url=server.url, own_process=False)
        done = project("run", "--run-dir", "run")
    assert done.code == 0 and "8 calls planned" in done.err and "8 of 8 draws written, 8 sent" in done.err
