from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cards import card, exam_text, item, jsonl, text, two_arms

from evalaction import schemas
from evalaction.errors import SourceError, UsageError
from evalaction.method.card import Card
from evalaction.method.cards.parse import parse_card
from evalaction.method.exams.exam import Exam, check_question, load_exam
from evalaction.method.exams.hashes import folder_digest, ids_digest
from evalaction.method.records import Message, Quoted

TASKS = "eval/tasks.jsonl"
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "statistics.json").read_text(encoding="utf-8"))


def load(data: bytes | str, tasks: str = TASKS) -> Exam:
    return load_exam({tasks: data.encode() if isinstance(data, str) else data}, tasks=tasks)


def refusal(data: bytes | str, tasks: str = TASKS) -> SourceError:
    with pytest.raises(SourceError) as caught:
        load(data, tasks)
    assert caught.value.file == tasks
    return caught.value


def one(**fields: Any) -> bytes:
    """An exam of one item with fields set; `...` deletes."""
    return jsonl([{key: value for key, value in (item(1) | fields).items() if value is not ...}])


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_jsonl_exam() -> None:
    data = exam_text(3, tags=["a"])
    exam = load(data)
    assert (exam.kind, exam.checker_sha256, exam.warnings) == ("jsonl", None, ())
    assert exam.sha256 == sha(data)
    assert [(one.id, one.index, one.line, one.file) for one in exam.items] == [
        ("t0000", 0, 1, TASKS), ("t0001", 1, 2, TASKS), ("t0002", 2, 3, TASKS),
    ]  # fmt: skip
    first = exam.items[0]
    assert (first.prompt, first.check.kind, first.check.expected, first.extract) == ("Say 0.", "exact", "0", "raw")
    assert (first.output, first.tags, first.schema, first.vars) == (None, ("a",), None, None)
    assert first.sha256 == sha(data.split(b"\n")[0])
    lines = sorted(f"{one.id}\t{one.sha256}\t-".encode() for one in exam.items)
    assert exam.ids_sha256 == sha(b"\n".join(lines))


def test_the_file_hash_is_over_its_bytes() -> None:
    data = exam_text(2)
    without = data.removesuffix(b"\n")
    assert load(without).items[1].sha256 == load(data).items[1].sha256
    assert load(without).sha256 == sha(without) != load(data).sha256
    crlf = load(data.replace(b"\n", b"\r\n"))
    assert crlf.sha256 == sha(data.replace(b"\n", b"\r\n"))
    assert crlf.ids_sha256 != load(data).ids_sha256


def test_folder_ids_reproduce_the_published_values() -> None:
    golden = GOLDEN["seed3_exam_id"]
    digests = [sha(content.encode()) for content in golden["files"].values()]
    assert digests == golden["original"]["digests_in_filename_order"]
    assert folder_digest(digests) == folder_digest(reversed(digests)) == golden["original"]["exam_id_prose_sorted_digests"]
    assert folder_digest([]) == golden["empty_dir_exam_id"]


def test_a_folder_exam() -> None:
    def content(number: int, **fields: Any) -> bytes:
        return json.dumps({key: value for key, value in (item(number) | fields).items() if key != "id"}, indent=1).encode()

    files = {"eval/b.json": content(1), "eval/a.json": content(2, id="a")}
    files["eval/a.json"] = json.dumps(item(2, id="a")).encode()
    exam = load_exam(files | {"evalother.json": b"x", "prompts/p.md": b"x"}, tasks="eval")
    assert [(one.id, one.file, one.line) for one in exam.items] == [("a", "eval/a.json", None), ("b", "eval/b.json", None)]
    assert exam.kind == "folder"
    assert exam.sha256 == folder_digest(map(sha, files.values()))
    assert exam.checker_sha256 is None
    renamed = load_exam({"eval/b.json": files["eval/b.json"], "eval/c.json": content(2)}, tasks="eval/")
    assert renamed.ids_sha256 != exam.ids_sha256
    moved = load_exam({"eval/b.json": content(1), "eval/c.json": content(3)}, tasks="eval")
    back = load_exam({"eval/c.json": content(1), "eval/b.json": content(3)}, tasks="eval")
    assert (moved.sha256 == back.sha256, moved.ids_sha256 == back.ids_sha256) == (True, False)


def test_other_files_of_a_folder_have_a_digest_of_their_own() -> None:
    files = {"eval/a.json": json.dumps(item(1, id="a")).encode()}
    read_me = load_exam(files | {"eval/README.md": b"x", "eval/lib/x.py": b"y"}, tasks="eval")
    assert read_me.sha256 == load_exam(files, tasks="eval").sha256
    assert read_me.checker_sha256 == sha(f"README.md\t{sha(b'x')}\nlib/x.py\t{sha(b'y')}".encode())


def test_folder_refusals() -> None:
    good = json.dumps(item(1, id="a")).encode()
    for files, file, words in (
        ({"eval/README.md": b"x"}, "eval", "this exam has no items"),
        ({}, "eval", "there is no exam at this path"),
        ({"eval/a.json": good, "eval/b/task.json": good}, "eval/a.json", "this folder has task folders, and this file beside"),
        ({"eval/a/b/task.json": good}, "eval/a/b/task.json", "directly below the folder of the exam"),
        ({"eval/b.json": good}, "eval/b.json", "the id of this item is its file name, `b`"),
        ({"eval/b.json": b'{\n "prompt": x}'}, "eval/b.json", "this is not JSON"),
        ({"eval/b.json": b"[1]"}, "eval/b.json", "this is a list"),
        ({"eval/=b.json": good.replace(b'"id": "a", ', b"")}, "eval/=b.json", "as a formula"),
    ):
        with pytest.raises(SourceError) as caught:
            load_exam(files, tasks="eval")
        assert caught.value.file == file
        assert words in caught.value.sentence
    with pytest.raises(SourceError) as caught:
        load_exam({"eval/b.json": b'{\n "prompt": x}'}, tasks="eval")
    assert (caught.value.line, caught.value.column) == (2, 12)


def test_other_suffixes_are_not_exams() -> None:
    assert "a .jsonl file, a .csv file or a folder" in refusal(b"[]", "tasks.json").sentence
    assert "a .jsonl file, a .csv file or a folder" in refusal(exam_text(1), "tasks").sentence


LINES = [
    (b"", None, "this exam has no items"),
    (b"\n", None, "this exam has no items"),
    (b" \n\n\t\n", None, "this exam has no items"),
    (exam_text(1) + b"\n" + exam_text(1), 2, "this line is blank"),
    (exam_text(1) + b"\n", 2, "this line is blank"),
    (b"[]", 1, "this is a list"),
    (b'"x"', 1, "this is not an object"),
    (b'{"id": "a",}', 1, "this is not JSON"),
    (exam_text(1) + b'{"id": "a"', 2, "this is not JSON"),
    (b'{"id": "a", "id": "b"}', 1, 'the key "id" appears twice'),
    (b'{"id": "a", "schema": NaN}', 1, "NaN is not JSON"),
    (b'{"id": "a", "fixture": ' + b"[" * 300, 1, "over 200 levels"),
    (b'{"id": "a", "prompt": "\\ud800x", "expected": "x"}', 1, "U+D800 is half of a character"),
    (b"\xef\xbb\xbf" + exam_text(1), 1, "byte order mark"),
    (exam_text(1).decode().encode("utf-16"), 1, "UTF-16"),
    (exam_text(1) + b'{"id": "\xff"}', 2, "0xff is not UTF-8"),
    (exam_text(1) + exam_text(1), 2, "the id `t0000` is taken in line 1"),
    (jsonl([item(1, id="caf\u00e9"), item(2, id="cafe\u0301")]), 2, "is the same text in Unicode (NFC) as the id in line 1"),
    (jsonl([item(1, id="1"), item(2, id=1)]), 2, "`id` must be text, not the number 1; put it in quotes"),
    (one(id=1.0), 1, "`id` must be text, not the number 1.0"),
    (one(id=None), 1, "`id` must be text, not null"),
    (one(id=True), 1, "`id` must be text, not true"),
    (one(id=...), 1, "this item has no `id`"),
    (one(id=""), 1, "an `id` has 1 to 200 characters"),
    (one(id="x" * 201), 1, "an `id` has 1 to 200 characters"),
    (one(id="a\x00b"), 1, "holds U+0000"),
    (one(id="a\u200bb"), 1, "holds U+200B"),
    (one(id="a\u202eb"), 1, "holds U+202E"),
    (one(id="a\u2028b"), 1, "holds U+2028"),
    (one(id="a\tb"), 1, "holds U+0009"),
    (one(id=" a"), 1, "white space around it"),
    (one(id="a "), 1, "white space around it"),
    *((one(id=f"{mark}1"), 1, "as a formula") for mark in "=+-@"),
    (one(cheker="exact"), 1, "unknown field `cheker`; did you mean `check`?"),
    (one(asserts=[]), 1, "unknown field `asserts`"),
    (one(prompt=...), 1, "this one has neither"),
    (one(vars={"a": "b"}), 1, "not both"),
    (one(prompt=" "), 1, "`prompt` must be text or a list"),
    (one(prompt=[]), 1, "`prompt` must be text or a list"),
    (one(prompt=5), 1, "`prompt` must be text or a list"),
    (one(prompt=[{"role": "user"}]), 1, "exactly the fields `role` and `content`"),
    (one(prompt=[{"role": "tool", "content": "x"}]), 1, "the `role` of a message"),
    (one(prompt=[{"role": "user", "content": ""}]), 1, "the `content` of a message"),
    (one(prompt=[{"role": "system", "content": "x"}], system="y"), 1, "`system` is given twice"),
    (one(system=""), 1, "`system` must be text"),
    (one(prompt=..., vars={"a": 1}), 1, "the variable `a` must be text"),
    (one(prompt=..., vars={"a b": "x"}), 1, "the variable `a b` must consist of"),
    (one(prompt=..., vars={}), 1, "`vars` must be an object"),
    (one(schema="x"), 1, "`schema` must be a JSON Schema"),
    (one(schema=None), 1, "`schema` must be a JSON Schema"),
    (one(schema={}, extract="raw"), 1, "a schema reads JSON"),
    (one(schema={}, extract="last_number"), 1, "reads JSON"),
    (one(check="json", extract="raw"), 1, "a `json` check reads JSON"),
    (one(extract="fence"), 1, "`extract` must be one of raw, fenced, json, last_number; did you mean `fenced`?"),
    (one(output="tools"), 1, "`output` must be one of text, tool_calls"),
    (one(tags="a"), 1, "`tags` must be a list"),
    (one(tags=[1]), 1, "`tags` must be a list"),
    (one(tags=["a", "a"]), 1, "a tag appears twice"),
    (one(tags=["a\u200b"]), 1, "visible characters"),
    (one(cluster=""), 1, "`cluster` must be text"),
]


@pytest.mark.parametrize(("data", "line", "words"), LINES, ids=[words for *_, words in LINES])
def test_refused_with_file_and_line(data: bytes, line: int | None, words: str) -> None:
    error = refusal(data)
    assert words in error.sentence
    assert error.line == line


def test_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    long = one(prompt="x" * (4 * 1024 * 1024))
    error = refusal(exam_text(1) + long)
    assert (error.line, "the limit is 4,194,304" in error.sentence) == (2, True)
    monkeypatch.setattr("evalaction.method.exams.exam.MAX_BYTES", 100)
    assert "the limit is 100" in refusal(exam_text(5)).sentence
    with pytest.raises(SourceError, match="the limit is 100"):
        load_exam({f"eval/{number}.json": b"x" * 60 for number in range(2)}, tasks="eval")


def test_line_separators_are_data() -> None:
    data = '{"id": "a", "prompt": "x\u2028y\x85z", "expected": "1"}\n'
    assert load(data).items[0].prompt == "x\u2028y\x85z"


def test_chat_prompts_variables_and_schemas() -> None:
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    found = load(one(prompt=messages, schema=True, extract="fenced", output="tool_calls", cluster="c")).items[0]
    assert found.prompt == (Message("system", "s"), Message("user", "u"))
    assert (found.schema, found.extract, found.output, found.cluster) == (True, "fenced", "tool_calls", "c")
    assert load(one(schema={"type": "object"})).items[0].extract == "json"
    assert load(one(prompt=..., vars={"a": "", "_b": "x"})).items[0].vars == {"a": "", "_b": "x"}


CSV = "id,prompt,expected,check,tags,vars,fixture\r\n"


def test_a_csv_exam() -> None:
    data = CSV + 'a,"Say ""x"",\r\nplease",x,,t1; t2,,\r\nb,,1.50,number,,"{""n"": ""v""}",\r\nc,Say,,json,,,"{""k"": [1]}"\r\n'
    exam = load(data, "tasks.csv")
    assert (exam.kind, exam.sha256) == ("csv", sha(data.encode()))
    first, second, third = exam.items
    assert (first.prompt, first.tags, first.check.expected, first.line) == ('Say "x",\r\nplease', ("t1", "t2"), "x", 2)
    assert (second.vars, second.check.kind, str(second.check.expected), second.line) == ({"n": "v"}, "number", "1.50", 4)
    assert (third.check.kind, third.check.expected, third.extract) == ("json", {"k": [1]}, "json")


def test_the_digest_of_a_row_ignores_quoting_and_column_order() -> None:
    first = load("id,prompt,expected\na,p,x\n", "t.csv")
    second = load('expected,id,prompt,tags\n"x","a",p,\n', "t.csv")
    assert (first.ids_sha256 == second.ids_sha256, first.sha256 == second.sha256) == (True, False)
    assert first.ids_sha256 != load("id,prompt,expected\na,p,y\n", "t.csv").ids_sha256


def test_csv_json_answers() -> None:
    assert load('id,prompt,expected,check\na,p,"{""n"": 1}",json\n', "t.csv").items[0].check.expected == {"n": 1}
    found = load('id,prompt,expected,check\na,p,4,"{""kind"": ""number"", ""tolerance"": 0.10}"\n', "t.csv").items[0].check
    assert (found.expected, found.tolerance and found.tolerance.text) == (4, "0.10")


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("", None, "no items"),
        ("id,prompt,expected\n", None, "no items"),
        ("id,promt,expected\na,p,x\n", 1, "unknown column `promt`; did you mean `prompt`?"),
        ("id,prompt,prompt\na,p,x\n", 1, "a column appears twice"),
        ("id,prompt,expected,\na,p,x,\n", 1, "unknown column ``"),
        ("id,prompt,expected\na,p,x,\n", 2, "this row has 4 cells and the header 3"),
        ("id,prompt,expected\na,p\n", 2, "this row has 2 cells and the header 3"),
        ("id,prompt,expected\na,p,x\n\nb,p,x\n", 3, "this line is blank"),
        ("id,prompt,expected\na,p,x\na,p,x\n", 3, "the id `a` is taken in line 2"),
        ("id,prompt,expected\n,p,x\n", 2, "no `id`"),
        ('id,prompt,expected\na,"p\nq\n', 2, "this is not CSV"),
        ("id,prompt,schema\na,p,{\n", 2, "`schema` is not JSON"),
        ("id,prompt,expected,check\na,p,{,json\n", 2, "`expected` of a `json` check is not JSON"),
        ("\ufeffid,prompt,expected\na,p,x\n", 1, "byte order mark"),
        ("id,prompt,expected\na," + "p" * 140_000 + ",x\n", 2, "this is not CSV: field larger than field limit"),
    ],
)
def test_csv_refusals(data: str, line: int | None, words: str) -> None:
    error = refusal(data, "tasks.csv")
    assert words in error.sentence
    assert error.line == line


def test_warnings_name_the_kind_the_count_and_the_first_item() -> None:
    data = jsonl(
        [
            item(1, prompt="Write to jane.doe@example.org"),
            item(2, prompt="joe@example.org or +49 170 1234567"),
            item(3, system="token ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
            item(4, prompt="2 + 2 = 4, 2026-11-30, 127.0.0.1, 12345678901234, a@b"),
        ]
    )
    warnings = load(data).warnings
    assert [(sentence[0], sentence[1]) for sentence in warnings] == [
        ("2 items look like holding a mail address, first ", Quoted("t0001")),
        ("1 item looks like holding a phone number, first ", Quoted("t0002")),
        ("1 item looks like holding a key, first ", Quoted("t0003")),
    ]


def parsed(value: dict[str, Any]) -> Card:
    return parse_card(text(value), file="card.yaml", schema=schemas.load("card"))


def test_small_exams_claim_nothing() -> None:
    ahead = parsed(two_arms({"sign.claim": "ahead"}))
    with pytest.raises(UsageError, match=r"has 12 items .* claim `none` only; add 18 items or more \(84 "):
        check_question(ahead, load(exam_text(12)))
    check_question(ahead, load(exam_text(30)))
    check_question(parsed(two_arms()), load(exam_text(12)))
    check_question(parsed(card()), load(exam_text(1)))


def test_limits_of_tags_need_the_tag() -> None:
    tagged = parsed(card({"limits": {"by_tag": {"codes": {"min_reach": 0.5}}}}))
    check_question(tagged, load(exam_text(3, tags=["codes"])))
    with pytest.raises(UsageError, match=r"`min_reach` is for the tag `codes`, which no item has; did you mean `code`\?"):
        check_question(tagged, load(exam_text(3, tags=["code"])))


ids = st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), min_size=1, max_size=8).filter(
    lambda one: one == one.strip() and one[0] not in "=+-@"
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ids, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_order_moves_no_digest_of_ids(names: list[str], random: Any) -> None:
    items = [item(number, id=name) for number, name in enumerate(names)]
    shuffled = random.sample(items, len(items))
    try:
        first = load(jsonl(items))
    except SourceError as error:
        assert "NFC" in error.sentence or "is taken" in error.sentence
        with pytest.raises(SourceError):
            load(jsonl(shuffled))
        return
    assert load(jsonl(shuffled)).ids_sha256 == first.ids_sha256
    assert [found.id for found in first.items] == names


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,idpromtexc \n01', max_size=80).map(str.encode))
def test_any_bytes_are_an_exam_or_a_placed_error(data: bytes) -> None:
    for tasks in ("t.jsonl", "t.csv"):
        try:
            load(data, tasks)
        except SourceError as error:
            assert error.file == tasks


def test_ids_digest_is_over_sorted_lines() -> None:
    assert ids_digest([("b", "2", None), ("a", "1", "c")]) == sha(b"a\t1\tc\nb\t2\t-")
