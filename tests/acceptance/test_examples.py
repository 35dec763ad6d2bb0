"""The committed examples, run as their READMEs say, in a fresh repository."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.command import Serve, evalaction, sums_hold
from support.endpoint_server import answering
from support.repos import Repo

from evalaction.errors import EXIT_CODES, Outcome

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Expected:
    outcome: Outcome
    heading: str
    """First line of the terminal report."""
    numbers: tuple[str, ...]
    """In the terminal report."""
    readme: tuple[str, ...]
    """What the README says of them."""


EXPECTED: Mapping[str, Expected] = {
    "small": Expected(
        Outcome.PASS,
        "SMALL (n=12) · SYNTHETIC · ○ unit-conversion: measured, nothing gated",
        ("1 lost, 1 broke, 3 flips, 3 gained, 3 steadied", "12 items × 3 draws", "calls planned 72, sent 72, written 72"),
        ("SMALL (n=12)", "Fewer than thirty", "`none`"),
    ),
    "nightly": Expected(
        Outcome.PASS,
        "SYNTHETIC · ○ mail-triage-nightly: all 6 limits hold",
        ("31/32 96.9 %", "28/32 87.5 %", "3/32 9.4 %", "95/96 99.0 %", "6/8 75.0 %"),
        ("Thirty-two", "three draws each", "three answers change from draw to draw", "One mail is always sorted wrongly"),
    ),
    "tool-calls": Expected(
        Outcome.FAIL,
        "SYNTHETIC · ✗ assistant-tool-calls: min_contract of treatment is breached",
        ("91/95 draws (95.8 %), limit 98 %", "truncated × 2", "empty × 1"),
        ("Four of the 95 outputs that reached miss the contract", "the run fails (1)", "`min_contract: 0.98`"),
    ),
    "lost-draws": Expected(
        Outcome.INCONCLUSIVE,
        "SYNTHETIC · ? sums-with-lost-draws: nothing can be said: 2 limits are undecided",
        ("407/420 96.9 %", "72–84/84", "0–12/84", "status:503 × 13"),
        ("13 of the 420 draws (3.1 %)", "12 of the 84 items (14 %)", "72 to 84 items are stable, 0 to 12 flip", "(5)"),
    ),
}


def committed(name: str, root: Path) -> Path:
    shutil.copytree(EXAMPLES / name, root / name)
    Repo(root).commit()
    return root / name


def test_every_example_is_tested() -> None:
    assert {path.parent.name for path in EXAMPLES.glob("*/card.yaml")} == {*EXPECTED, "local-model", "router", "code"}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_ends_as_its_readme_says(name: str, tmp_path: Path) -> None:
    expected = EXPECTED[name]
    folder = committed(name, tmp_path)
    verified = evalaction("verify", f"{name}/card.yaml", cwd=tmp_path)
    assert verified.code == 0 and "\nregistered: " in verified.out
    done = evalaction("run", f"{name}/card.yaml", "--synthetic", "--run-dir", "run", cwd=tmp_path)
    assert done.code == EXIT_CODES[expected.outcome]
    assert done.out.splitlines()[0] == expected.heading
    said = " ".join(done.out.split())
    assert [number for number in expected.numbers if number not in said] == []
    readme = " ".join((folder / "README.md").read_text(encoding="utf-8").split())
    assert [words for words in expected.readme if words not in readme] == []
    assert f"evalaction run examples/{name}/card.yaml --synthetic" in readme and "SYNTHETIC" in readme
    results = json.loads((tmp_path / "run" / "results.json").read_bytes())
    assert (results["outcome"], results["exit_code"]) == (expected.outcome.value, done.code)
    assert f"(exit {done.code})" in (tmp_path / "run" / "comment.md").read_text(encoding="utf-8")
    assert sums_hold(tmp_path / "run")


def test_a_scripted_endpoint_never_earns_by_itself(tmp_path: Path) -> None:
    committed("nightly", tmp_path)
    done = evalaction("run", "nightly/card.yaml", "--run-dir", "run", cwd=tmp_path)
    assert done.code == 5
    assert "nothing can be said: the replies are scripted" in done.out.splitlines()[0]


def test_a_row_of_the_tool_call_readme_is_what_arrives(tmp_path: Path) -> None:
    folder = committed("tool-calls", tmp_path)
    evalaction("run", "tool-calls/card.yaml", "--synthetic", "--run-dir", "run", cwd=tmp_path)
    table = re.findall(
        r"^\| `([\w-]+)` \| .* \| (\w+)(?:, `(\w+)`)? \|$", (folder / "README.md").read_text(encoding="utf-8"), re.M
    )
    assert len(table) == 5
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    for item, column, reason in table:
        mine = [row for row in rows if row.get("item") == item and row[column] is False]
        assert mine, item
        assert not reason or {row[f"{column}_reason"].partition(":")[0] for row in mine} == {reason}


def test_the_local_model_example_can_be_planned_without_a_model(tmp_path: Path) -> None:
    committed("local-model", tmp_path)
    assert evalaction("verify", "local-model/card.yaml", cwd=tmp_path).code == 0
    planned = evalaction("plan", "local-model/card.yaml", cwd=tmp_path)
    assert planned.code == 0 and "96 items × 3 draws × 2 arms = 576 calls" in planned.out
    assert "run would refuse" not in planned.out
    refused = evalaction("run", "local-model/card.yaml", "--run-dir", "run", cwd=tmp_path)
    assert refused.code == 6 and "EVAL_URL" in refused.err


def test_the_functions_of_the_code_example(tmp_path: Path) -> None:
    """Its references pass and its checks are steady; without a box it says why nothing was run."""
    committed("code", tmp_path)
    verified = evalaction("verify", "code/card.yaml", "--check-twice", cwd=tmp_path)
    if verified.code == 2 and "no_isolation" in verified.said:
        pytest.skip("no box on this machine")
    assert verified.code == 0, verified.said
    assert "6 references passed" in verified.out and "12 outputs judged twice, with the same verdict each time" in verified.out


ANSWERS = {
    "add": ("Use the plus sign.", "contract", "no_block"),
    "clamp": ("```python\ndef clamp(value, low, high:\n```", "contract", "not_python"),
    "count-vowels": ("```python\ndef count_vowels(text):\n    return 3\n```", "check", "assert"),
    "first-repeat": ("```python\nimport sys\nsys.exit(0)\n```", "check", "candidate:exit"),
    "is-even": ("```python\ndef is_even(n):\n    while True:\n        pass\n```", "check", "candidate:cpu"),
}


def test_the_answers_of_the_code_readme_end_as_it_says(tmp_path: Path, serve: Serve) -> None:
    folder = committed("code", tmp_path)
    card = folder / "card.yaml"  # the machine may be busy, and a loop on it must end by its CPU time all the same
    card.write_text(card.read_text(encoding="utf-8").replace("timeout_ms: 10000", "timeout_ms: 120000"), encoding="utf-8")
    Repo(tmp_path).commit()
    tasks = {json.loads(path.read_bytes())["prompt"]: path.parent for path in folder.glob("tasks/*/task.json")}

    def answer(received: Any) -> str:
        place = tasks[received.json["messages"][-1]["content"]]
        right = f"```python\n{(place / 'reference.py').read_text(encoding='utf-8')}```"
        return ANSWERS[place.name][0] if place.name in ANSWERS else right

    env = {"EVAL_URL": serve(answering(answer)).url}
    done = evalaction("run", "code/card.yaml", "--run-dir", "run", cwd=tmp_path, env=env)
    if done.code == 2 and "no_isolation" in done.said:
        pytest.skip("no box on this machine")
    assert done.code == 0 and done.out.startswith("SMALL (n=6)") and "calls planned 30, sent 30" in " ".join(done.out.split())
    readme = (folder / "README.md").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in (path.name for path in tasks.values()):
        mine = [row for row in rows if row.get("item") == name]
        _, column, reason = ANSWERS.get(name, ("", "check", ""))
        assert len(mine) == 5 and all(row["verdict"] == ("fail" if reason else "pass") for row in mine), mine
        assert all((row.get(f"{column}_reason") or "").startswith(reason) for row in mine), mine
        assert f"`{reason}`" in readme or not reason
    assert "SMALL (n=6)" in readme and "thirty calls" in readme and "evalaction run examples/code/card.yaml" in readme
