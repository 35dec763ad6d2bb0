"""HumanEval (openai/human-eval) → an exam in folder form: one folder a task, with `task.json` and `check.py`."""

from __future__ import annotations

import ast
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalaction.errors import SourceError, UsageError
from evalaction.importers.card_text import code_card
from evalaction.importers.imported import Imported, Ledger, NotCarried, refuse_empty, within
from evalaction.method.reading.strict_json import NotJson, loads
from evalaction.method.reading.text import decode, short

MAX_PACKED = 16 * 1024 * 1024
MAX_BYTES = 64 * 1024 * 1024
MAX_LINE = 4 * 1024 * 1024
MAX_TASKS = 10_000
_FIELDS = ("task_id", "prompt", "entry_point", "canonical_solution", "test")
_ASK = "Complete this Python function. Answer with one fenced code block that holds the whole function and what it imports."


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    test: str


def convert(data: bytes, *, file: str) -> Imported:
    """The exam of a HumanEval.jsonl, packed with gzip or not.

    `check.py` holds what the prompt defines beside the function that is asked for (imports, helpers that a test may use), takes
    the function from `_candidate`, and runs the task's own test. The canonical solution is the task's `reference`.
    Raises SourceError where the file cannot be read at all, UsageError where it is empty.
    """
    lines = _lines(data, file)
    refuse_empty(len(lines), "task", file)
    ledger = Ledger(file)
    files: dict[str, bytes] = {}
    for number, line in lines:
        what = f"line {number}"
        try:
            task = _task(line)
            what = task.task_id
            name = _name(task.task_id)
            if f"tasks/{name}/task.json" in files:
                raise NotCarried("this task is there twice")
            files |= {f"tasks/{name}/task.json": _item(name, task), f"tasks/{name}/check.py": _check(task)}
        except NotCarried as lost:
            ledger.item(number, what, lost.why)
    return ledger.result(noun="task", total=len(lines), files=files | {"card.yaml": code_card("humaneval", tasks="tasks")})


def _lines(data: bytes, file: str) -> list[tuple[int, str]]:
    text = decode(_unpacked(within(data, MAX_BYTES, file), file), file=file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > MAX_TASKS:
        raise UsageError(f"{short(file)} has {len(lines):,} lines; at most {MAX_TASKS:,} tasks are imported.")
    return lines


def _unpacked(data: bytes, file: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    within(data, MAX_PACKED, file)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            return within(packed.read(MAX_BYTES + 1), MAX_BYTES, file)
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"this is not a whole gzip file: {error}", file=file) from None


def _task(line: str) -> _Task:
    if len(line) > MAX_LINE:
        raise NotCarried(f"this line has {len(line):,} characters; the limit is {MAX_LINE:,}")
    try:
        value = loads(line)
    except NotJson as error:
        raise NotCarried(f"this is not JSON: {error.detail}") from None
    if not isinstance(value, Mapping):
        raise NotCarried("a task is a JSON object")
    texts: dict[str, str] = {}
    for field in _FIELDS:
        text = value.get(field)
        if not isinstance(text, str):
            raise NotCarried(f"`{field}` must be text")
        texts[field] = text
    if not texts["entry_point"].isidentifier():
        raise NotCarried("`entry_point` is not the name of a function")
    return _Task(**texts)


def _name(task_id: str) -> str:
    """`HumanEval_007` for `HumanEval/7`: ids sort as the tasks do."""
    found = re.fullmatch(r"([A-Za-z][A-Za-z0-9_-]{0,50})/([0-9]{1,6})", task_id)
    if not found:
        raise NotCarried("`task_id` must have the form HumanEval/7")
    return f"{found[1]}_{int(found[2]):03d}"


def _item(name: str, task: _Task) -> bytes:
    helpers = any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in _beside(task))
    item = {
        "id": name,
        "prompt": f"{_ASK}\n\n{_fenced(task.prompt)}",
        "extract": "fenced",
        "tags": ["humaneval", "helper"] if helpers else ["humaneval"],
        "reference": _fenced(task.prompt + task.canonical_solution),
    }
    return (json.dumps(item, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _fenced(code: str) -> str:
    """The code in one block that nothing inside it closes."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code.rstrip()}\n{fence}"


def _check(task: _Task) -> bytes:
    source = f"{task.prompt}\n    pass\n"
    lines = source.split("\n")
    beside = ["\n".join(lines[_first_line(node) - 1 : node.end_lineno]) + "\n" for node in _beside(task)]
    test = f"from _candidate import {task.entry_point}\n\n{task.test.strip()}\n\ncheck({task.entry_point})\n"
    text = "".join([*beside, test])
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotCarried("the test is not Python") from None
    return text.encode("utf-8", "backslashreplace")


def _beside(task: _Task) -> Iterator[ast.stmt]:
    """What the prompt says besides the function that is asked for."""
    try:
        tree = ast.parse(f"{task.prompt}\n    pass\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotCarried("the prompt is not the beginning of a Python function") from None
    for node in tree.body:
        if not (isinstance(node, ast.FunctionDef) and node.name == task.entry_point):
            yield node


def _first_line(node: ast.stmt) -> int:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.decorator_list:
        return min(node.lineno, node.decorator_list[0].lineno)
    return node.lineno
