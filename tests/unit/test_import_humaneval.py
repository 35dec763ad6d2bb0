"""HumanEval as a folder exam: every task carried or named, a check that runs as the task's own test does."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction import schemas
from evalaction.errors import SourceError, UsageError
from evalaction.importers.humaneval import convert
from evalaction.method.cards.parse import parse_card

PROMPT = '''import math


def half(x):
    return x / 2


def twice(x: int) -> int:
    """Twice x.
    >>> twice(2)
    4
    """
'''
TEST = """

METADATA = {}


def check(candidate):
    assert half(candidate(3)) == 3
    assert math.floor(candidate(1)) == 2
"""
TASK: dict[str, Any] = {
    "task_id": "HumanEval/7",
    "prompt": PROMPT,
    "entry_point": "twice",
    "canonical_solution": "    return 2 * x\n",
    "test": TEST,
}


def lines(*tasks: Any) -> bytes:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in tasks).encode()


def test_a_task_becomes_a_folder() -> None:
    made = convert(lines(TASK), file="HumanEval.jsonl")
    assert sorted(made.files) == ["card.yaml", "tasks/HumanEval_007/check.py", "tasks/HumanEval_007/task.json"]
    item = json.loads(made.files["tasks/HumanEval_007/task.json"])
    assert item["id"] == "HumanEval_007" and item["extract"] == "fenced" and item["tags"] == ["humaneval", "helper"]
    assert f"```python\n{PROMPT}```" in item["prompt"]
    assert item["reference"] == f"```python\n{PROMPT}    return 2 * x\n```"
    assert (made.total, made.carried, made.lost_items, made.lost_parts) == (1, 1, (), ())


@pytest.mark.parametrize(("body", "passes"), [("return 2 * x", True), ("return 2 + x", False)])
def test_the_check_is_the_tasks_own_test(body: str, passes: bool, tmp_path: Any) -> None:
    import subprocess
    import sys

    made = convert(lines(TASK), file="HumanEval.jsonl")
    (tmp_path / "check.py").write_bytes(made.files["tasks/HumanEval_007/check.py"])
    (tmp_path / "_candidate.py").write_text(f"def twice(x):\n    {body}\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-B", "check.py"], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert (done.returncode == 0) is passes, done.stderr.decode()
    assert b"def twice" not in made.files["tasks/HumanEval_007/check.py"], "the check never brings the answer along"


def test_the_card_is_one_that_can_be_read() -> None:
    card = parse_card(convert(lines(TASK), file="x").files["card.yaml"], file="card.yaml", schema=schemas.load("card"))
    assert card.exam.tasks == "tasks" and card.control is None


def test_a_prompt_that_holds_a_fence_stays_one_block() -> None:
    task = TASK | {"prompt": 'def twice(x):\n    """Like\n    ````\n    twice(2)\n    ````\n    """\n'}
    item = json.loads(convert(lines(task), file="x").files["tasks/HumanEval_007/task.json"])
    assert item["reference"].startswith("`````python\n") and item["reference"].endswith("\n`````")


def test_packed_and_plain_are_the_same() -> None:
    assert convert(gzip.compress(lines(TASK)), file="x") == convert(lines(TASK), file="x")


@pytest.mark.parametrize(
    ("task", "why"),
    [
        (TASK | {"task_id": "../../etc"}, "`task_id` must have the form HumanEval/7"),
        (TASK | {"task_id": 7}, "`task_id` must be text"),
        (TASK | {"entry_point": "twice; import os"}, "`entry_point` is not the name of a function"),
        (TASK | {"prompt": "def twice(x:\n"}, "the prompt is not the beginning of a Python function"),
        (TASK | {"test": "def check(:\n"}, "the test is not Python"),
        ({key: value for key, value in TASK.items() if key != "test"}, "`test` must be text"),
        ([1], "a task is a JSON object"),
        ('{"a": NaN}', "this is not JSON: NaN is not JSON"),
    ],
)
def test_what_is_not_carried_is_named(task: Any, why: str) -> None:
    other = TASK | {"task_id": "HumanEval/8"}
    made = convert(lines(task, other), file="HumanEval.jsonl")
    assert [(loss.place, loss.why) for loss in made.lost_items] == [("HumanEval.jsonl:1", why)]
    assert (made.carried, made.total) == (1, 2) and len(made.files) == 3


def test_a_task_that_is_there_twice_is_carried_once() -> None:
    made = convert(lines(TASK, TASK), file="x")
    assert made.carried == 1 and made.lost_items[0].why == "this task is there twice"


def test_what_holds_no_task_is_refused() -> None:
    with pytest.raises(UsageError, match="holds no tasks"):
        convert(b"\n\n", file="x")
    with pytest.raises(SourceError, match="not a whole gzip file"):
        convert(gzip.compress(lines(TASK))[:-9], file="x")
    with pytest.raises(UsageError, match="at most 10,000 tasks"):
        convert(b"{}\n" * 10_001, file="x")


def test_a_gzip_bomb_is_not_unpacked() -> None:
    with pytest.raises(SourceError, match="the limit is"):
        convert(gzip.compress(bytes(65 * 1024 * 1024)), file="x")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=30).map(lambda text: "x" + text),
            st.fixed_dictionaries(
                {
                    "task_id": st.from_regex(r"HumanEval/[0-9]{1,2}", fullmatch=True),
                    "entry_point": st.sampled_from(["twice", "f", "2x", ""]),
                    "prompt": st.sampled_from([PROMPT, "def f():\n", "\0", "", "def ("]),
                    "canonical_solution": st.text(max_size=20),
                    "test": st.sampled_from([TASK["test"], "", "def", "pass"]),
                }
            ),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_counts_add_up(tasks: list[Any]) -> None:
    made = convert(lines(*tasks), file="x")
    assert made.carried + len(made.lost_items) == made.total == len(tasks)
    assert len(made.files) == (2 * made.carried + 1 if made.carried else 0)
