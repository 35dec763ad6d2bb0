"""Exams whose checks are programs: task folders with a `check.py`, and the exam's Python checker."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cards import item, jsonl

from evalaction.checks.extract import fenced
from evalaction.errors import SourceError
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.exams.hashes import folder_digest, ids_digest, other_files_digest
from evalaction.method.records import Check

CHECK = b"import _candidate\nassert _candidate.clamp(3, 0, 2) == 2\n"
CHECKER = b"def checker(parsed, fixture):\n    return parsed == fixture, 'equal'\n"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def task(**fields: Any) -> bytes:
    return json.dumps({"id": "clamp", "prompt": "Write clamp."} | fields, indent=1).encode()


def load(files: dict[str, bytes], **named: Any) -> Exam:
    return load_exam(files, tasks="tasks", **named)


def refusal(files: dict[str, bytes], **named: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        load(files, **named)
    return caught.value


FOLDER = {
    "tasks/clamp/task.json": task(),
    "tasks/clamp/check.py": CHECK,
    "tasks/slug/task.json": b'{"prompt": "Write slug."}',
    "tasks/slug/check.py": b"import _candidate, helper\n",
    "tasks/slug/helper.py": b"x = 1\n",
    "tasks/README.md": b"Two tasks.\n",
}


def test_the_form_of_the_first_protocol_is_accepted_unchanged() -> None:
    exam = load(FOLDER | {"other/task.json": b"no"})
    first, second = exam.items
    assert (exam.kind, first.id, second.id, first.file, first.line) == ("folder", "clamp", "slug", "tasks/clamp/task.json", None)
    assert first.check == Check(kind="code", file="tasks/clamp/check.py")
    assert (first.extract, first.prompt, first.reference) == ("raw", "Write clamp.", None)
    assert exam.files == {path: data for path, data in FOLDER.items() if not path.endswith(".json")}


def test_digests_cover_tasks_checks_and_every_other_file() -> None:
    exam = load(FOLDER)
    tasks = {path: sha(data) for path, data in FOLDER.items() if path.endswith("task.json")}
    assert exam.sha256 == folder_digest(tasks.values())
    lines = [
        ("clamp", tasks["tasks/clamp/task.json"], sha(CHECK)),
        ("slug", tasks["tasks/slug/task.json"], sha(FOLDER["tasks/slug/check.py"])),
    ]
    assert exam.ids_sha256 == ids_digest(lines)
    others = ("README.md", "clamp/check.py", "slug/check.py", "slug/helper.py")
    listed = sorted(f"{path}\t{sha(FOLDER[f'tasks/{path}'])}" for path in others)
    assert exam.checker_sha256 == sha("\n".join(listed).encode())


def test_swapped_checks_move_the_ids_and_a_changed_helper_the_checker() -> None:
    exam = load(FOLDER)
    swapped = load(
        FOLDER | {"tasks/clamp/check.py": FOLDER["tasks/slug/check.py"], "tasks/slug/check.py": FOLDER["tasks/clamp/check.py"]}
    )
    assert (swapped.sha256 == exam.sha256, swapped.ids_sha256 == exam.ids_sha256) == (True, False)
    helped = load(FOLDER | {"tasks/slug/helper.py": b"x = 2\n"})
    assert (helped.ids_sha256 == exam.ids_sha256, helped.checker_sha256 == exam.checker_sha256) == (True, False)


def test_ids_and_checks_of_task_folders() -> None:
    exam = load({"tasks/0/task.json": task(id="HumanEval/0", check="code"), "tasks/0/check.py": CHECK})
    assert exam.items[0].id == "HumanEval/0"
    named = load({"tasks/a/task.json": b'{"prompt": "p", "expected": "x"}'})
    assert (named.items[0].id, named.items[0].check.kind, named.checker_sha256, named.files) == ("a", "exact", None, {})
    assert (
        load({"tasks/a/task.json": task(check={"kind": "code"}, extract="fenced"), "tasks/a/check.py": b""}).items[0].extract
        == "fenced"
    )


def test_what_a_draw_or_python_wrote_is_hashed_and_not_at_hand() -> None:
    left = {"tasks/clamp/_candidate.py": b"x", "tasks/clamp/__pycache__/helper.cpython-312.pyc": b"\0"}
    exam, without = load(FOLDER | left), load(FOLDER)
    assert exam.files == without.files
    assert exam.checker_sha256 != without.checker_sha256


@pytest.mark.parametrize(
    ("files", "file", "words"),
    [
        ({"check.py": ...}, "task.json", "put a `check.py` beside it, or give it `expected`"),
        ({"check.py": ..., "task.json": task(check="code")}, "task.json", "a `code` check is a `check.py` beside its"),
        ({"task.json": task(check="exact", expected="x")}, "task.json", "and its `check` is `exact`; keep one of them"),
        ({"task.json": task(expected="x")}, "task.json", "`expected` is not read by a check of kind `code`; remove it"),
        ({"task.json": task(fixture=1)}, "task.json", "`fixture` is not read by a check of kind `code`"),
        ({"task.json": task(check={"kind": "code", "value": 1})}, "task.json", "`check` of kind `code` has no field `value`"),
        ({"task.json": task(schema={})}, "task.json", "remove `schema`"),
        ({"task.json": task(extract="json")}, "task.json", "which `extract: json` does not give; use `raw` or `fenced`"),
        ({"task.json": task(output="tool_calls")}, "task.json", "remove `output: tool_calls`"),
        ({"task.json": task(output="text", reference=" ")}, "task.json", "`reference` must be text"),
        ({"task.json": task(reference="x = 1"), "reference.py": b"x = 1"}, "task.json", "which has a `reference` too"),
        ({"task.json": ...}, "check.py", "there is no `task.json` beside this file"),
        ({"task.json": task(id="=x")}, "task.json", "as a formula"),
    ],
)  # fmt: skip
def test_task_folder_refusals(files: dict[str, Any], file: str, words: str) -> None:
    others = {"tasks/b/task.json": task(id="b"), "tasks/b/check.py": CHECK}
    beside = {"task.json": task(), "check.py": CHECK} | files
    error = refusal(others | {f"tasks/a/{name}": data for name, data in beside.items() if data is not ...})
    assert error.file == f"tasks/a/{file}"
    assert words in error.sentence


@pytest.mark.parametrize(
    ("source", "line", "column", "words"),
    [
        (b"x = 1\nif x\n", 2, 5, "this is not Python"),
        (b"def f(:\n", 1, 7, "this is not Python"),
        (b"x = 1  # \xff\n", 1, 10, "is not UTF-8"),
        (b"x" + b"." * 5 + b"\n", 1, None, "this is not Python"),
        (b"(" * 5_000 + b")" * 5_000, 1, None, "this is not Python"),
        (b"-" * 9_000 + b"1", 1, None, "nested too deep"),
        (b"x" * (1024 * 1024 + 1), None, None, "the limit of a checker is 1,048,576"),
    ],
)
@pytest.mark.parametrize("name", ["check.py", "reference.py"])
def test_python_that_cannot_be_read_is_found_before_any_call(
    name: str, source: bytes, line: int | None, column: int | None, words: str
) -> None:
    error = refusal({"tasks/a/task.json": task(), "tasks/a/check.py": CHECK, f"tasks/a/{name}": source})
    assert (error.file, error.line) == (f"tasks/a/{name}", line)
    assert words in error.sentence
    if column is not None:
        assert error.column == column


def test_references() -> None:
    code = "def clamp(x, lo, hi):\n    return 2  # ```` is no fence\n"
    files = {"tasks/a/task.json": task(), "tasks/a/check.py": CHECK, "tasks/a/reference.py": code.encode()}
    assert load(files).items[0].reference == code
    assert load(files).files["tasks/a/reference.py"] == code.encode()
    inside = load(files | {"tasks/a/task.json": task(extract="fenced")}).items[0].reference
    assert inside is not None and fenced(inside) == code.removesuffix("\n")
    field = {"tasks/a/task.json": task(reference="x = 1"), "tasks/a/check.py": CHECK}
    assert load(field).items[0].reference == "x = 1"
    named = load_exam({"t.jsonl": jsonl([item(1, reference="1")])}, tasks="t.jsonl")
    assert named.items[0].reference == "1"


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="`~#ax \n", max_size=40))
def test_any_reference_file_survives_its_fence(comment: str) -> None:
    code = "".join(f"# {line}\n" for line in comment.split("\n"))
    files = {"tasks/a/task.json": task(extract="fenced"), "tasks/a/check.py": CHECK, "tasks/a/reference.py": code.encode()}
    reference = load(files).items[0].reference
    assert reference is not None
    assert fenced(reference) + "\n" == code


FIXTURE = {key: value for key, value in item(1, fixture={"expect": "green"}).items() if key != "expected"}


def python_exam(*items: dict[str, Any], checker: bytes | None = CHECKER, data: bytes | None = None) -> Exam:
    files = {"t.jsonl": data or jsonl(list(items))} | ({"judge/c.py": checker} if checker is not None else {})
    return load_exam(files, tasks="t.jsonl", checker="judge/c.py")


def test_a_fixture_alone_means_the_checker() -> None:
    exam = python_exam(FIXTURE, item(2), FIXTURE | {"id": "b", "check": "python"})
    first, _, last = exam.items
    assert first.check == Check(kind="python", file="judge/c.py", fixture={"expect": "green"})
    assert (first.extract, last.check.kind) == ("raw", "python")
    assert exam.files == {"judge/c.py": CHECKER}
    assert exam.checker_sha256 == sha(CHECKER)
    assert exam.ids_sha256 == ids_digest((one.id, one.sha256, None) for one in exam.items)


def test_a_python_check_may_have_no_fixture_and_may_judge_the_trace() -> None:
    bare = {key: value for key, value in FIXTURE.items() if key != "fixture"}
    plain, traced = python_exam(
        bare | {"check": "python"}, bare | {"id": "b", "check": {"kind": "python", "source": "trace"}}
    ).items
    assert (plain.check.fixture, plain.check.source, traced.check.source) == (None, "output", "trace")
    checked = load_exam(
        {"t.jsonl": jsonl([item(1, check={"kind": "json", "source": "trace", "pointer": "/tools"})])}, tasks="t.jsonl"
    ).items[0]
    assert (checked.check.source, checked.extract) == ("trace", "raw")


@pytest.mark.parametrize(
    ("checker", "words"),
    [
        (None, "there is no checker at this path"),
        (b"def check(parsed, fixture): ...\n", "no function `checker(parsed, fixture)`"),
        (b"if True:\n    pass\nx.checker = 1\n", "no function `checker(parsed, fixture)`"),
        (b"def checker(:\n", "this is not Python"),
    ],
)
def test_a_checker_that_cannot_judge(checker: bytes | None, words: str) -> None:
    with pytest.raises(SourceError, match=r"judge/c\.py") as caught:
        python_exam(FIXTURE, checker=checker)
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    "source", [b"checker = lambda parsed, fixture: (True, 'ok')", b"from rules import checker", b"import checker"]
)
def test_other_ways_to_define_it(source: bytes) -> None:
    assert python_exam(FIXTURE, checker=source).checker_sha256 == sha(source)


def test_python_check_refusals() -> None:
    with pytest.raises(SourceError, match="`expected` is not read by a check of kind `python`; write it as `fixture`"):
        python_exam(item(1, check="python"))
    with pytest.raises(SourceError, match="no item is judged by this checker"):
        python_exam(item(1))


def test_a_checker_inside_a_folder_cannot_be_exchanged_for_another_file_there() -> None:
    files = {"tasks/a.json": json.dumps(FIXTURE | {"id": "a"}).encode(), "tasks/c.py": CHECKER, "tasks/d.py": CHECKER + b"#\n"}
    one, other = load(files, checker="tasks/c.py"), load(files, checker="tasks/d.py")
    assert one.checker_sha256 != other.checker_sha256
    assert one.checker_sha256 == other_files_digest({"c.py": CHECKER, "d.py": CHECKER + b"#\n"}, CHECKER)
    outside = load(files | {"e.py": CHECKER}, checker="e.py")
    assert outside.checker_sha256 == one.checker_sha256
    assert set(outside.files) == {"tasks/c.py", "tasks/d.py", "e.py"}


PROGRAMS = st.sampled_from([CHECK, CHECK + b"# other\n", b"import _candidate\n"])
TASKS = st.builds(
    lambda number, name: json.dumps({"prompt": f"Write {number}."} | ({"id": name} if name else {})).encode(),
    st.integers(0, 1),
    st.sampled_from([None, "x"]),
)
TASK_FOLDERS = st.dictionaries(st.sampled_from("ab"), st.tuples(TASKS, PROGRAMS, st.none() | PROGRAMS), min_size=1)
EXTRAS = st.dictionaries(st.sampled_from(["a/helper.py", "b/helper.py", "notes.md"]), st.sampled_from([b"1", b"2"]))


def files_of(folders: dict[str, tuple[bytes, bytes, bytes | None]], extras: dict[str, bytes]) -> dict[str, bytes]:
    found = {f"tasks/{path}": data for path, data in extras.items() if path[:2] not in ("a/", "b/") or path[0] in folders}
    for name, (item_data, check, reference) in folders.items():
        found |= {f"tasks/{name}/task.json": item_data, f"tasks/{name}/check.py": check}
        found |= {f"tasks/{name}/reference.py": reference} if reference is not None else {}
    return found


@settings(max_examples=200, deadline=None)
@given(TASK_FOLDERS, EXTRAS, TASK_FOLDERS, EXTRAS)
def test_whatever_is_moved_between_two_folders_moves_a_digest(
    folders: dict[str, tuple[bytes, bytes, bytes | None]],
    extras: dict[str, bytes],
    others: dict[str, tuple[bytes, bytes, bytes | None]],
    more: dict[str, bytes],
) -> None:
    first, second = files_of(folders, extras), files_of(others, more)
    try:
        one, other = load(first), load(second)
    except SourceError as error:
        assert "is taken" in error.sentence
        return
    same = (one.sha256, one.ids_sha256, one.checker_sha256) == (other.sha256, other.ids_sha256, other.checker_sha256)
    assert same == (first == second)
