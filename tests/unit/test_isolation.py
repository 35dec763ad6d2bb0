"""What a container cannot give to a check is refused before the first call."""

from __future__ import annotations

import json

import pytest

from evalaction.engine.isolation import refuse_files
from evalaction.errors import UsageError
from evalaction.method.exams.exam import Exam, load_exam

TASK = json.dumps({"id": "a", "prompt": "Write f."}).encode()
CHECK = b"import _candidate\nassert _candidate.f() == 1\n"


def folder(**beside: bytes) -> Exam:
    files = {f"t/a/{name.replace('_', '.')}": data for name, data in beside.items()}
    return load_exam({"t/a/task.json": TASK, "t/a/check.py": CHECK, **files}, tasks="t")


def pure() -> Exam:
    line = json.dumps({"id": "a", "prompt": "1", "fixture": 1, "check": "python"}).encode()
    return load_exam(
        {"t.jsonl": line, "c.py": b"def checker(parsed, fixture):\n    return True, ''\n"}, tasks="t.jsonl", checker="c.py"
    )


def test_a_check_alone_is_fine() -> None:
    refuse_files(folder(), "split")
    refuse_files(pure(), "in_process")


def test_files_beside_a_check() -> None:
    with pytest.raises(UsageError, match=r"t/a/check\.py has data\.txt beside it") as caught:
        refuse_files(folder(data_txt=b"1"), "split")
    assert caught.value.code == "no_isolation"


def test_candidate_and_check_in_one_process() -> None:
    with pytest.raises(UsageError, match="`isolation: in_process` cannot be had"):
        refuse_files(folder(), "in_process")
