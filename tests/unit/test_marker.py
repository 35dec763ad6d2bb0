"""The marker line, and the answers hidden below it: what is written comes back, and nothing else does."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import reports
from support.report_strategies import reports as any_report

from evalaction.github.hidden import LIMIT, MAX_RECORDS, Hidden, Memory, Record, Unread, hide, reveal
from evalaction.github.marker import is_marked, key_of, marked, marker
from evalaction.github.shown import keep, restore
from evalaction.method.canonical import encode
from evalaction.redaction import Redactor
from evalaction.report.blocks import Fold
from evalaction.report.layout import document

KEY = key_of("gate", "")
RECORD = Record(
    card="eval/card.yaml",
    question_digest="a" * 64,
    outcome="fail",
    attempt=2,
    sealed=True,
    commit="b" * 40,
    day="2026-02-28",
    run_url="https://github.example/octo/demo/actions/runs/123/attempts/1",
    outputs={"outcome": "fail", "first-pass": "311/320", "breaks": "halves_disagree,limit:treatment:min_reach"},
)
TEXT = st.text(max_size=40)


def body(memory: Memory, key: str = KEY) -> str:
    return f"{marker(key)}\n{hide(memory, key).line}\n## heading\n"


def forged(value: Any, key: str = KEY) -> str:
    """Somebody who knows how the line is made."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    seal = hashlib.sha256(key.encode() + b"\n" + data).hexdigest()
    return f"<!-- evalaction:data {seal} {base64.b64encode(data).decode()} -->"


def plain(record: Record = RECORD) -> dict[str, Any]:
    line = hide(Memory((record,)), KEY).line
    value: dict[str, Any] = json.loads(base64.b64decode(line.split()[3]))
    return value


def test_a_key_is_hashed_so_that_none_begins_another() -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", key_of("lint"))
    assert not is_marked(marker(key_of("lint-all")), key_of("lint"))
    assert key_of("a", "bc") != key_of("ab", "c")
    assert key_of("-->") != key_of("")


@given(parts=st.lists(st.text(), max_size=3))
def test_no_key_breaks_out_of_its_comment(parts: list[str]) -> None:
    line = marker(key_of(*parts))
    assert line.startswith("<!-- ")
    assert line.endswith(" -->")
    assert line.count("--") == 2
    assert "\n" not in line


@pytest.mark.parametrize("key", ["", "x" * 64, "A" * 64, "a" * 63, "-->" + "a" * 61])
def test_a_key_that_is_none(key: str) -> None:
    with pytest.raises(ValueError, match="64 lower-case hex digits"):
        marker(key)


def test_the_marker_comes_first_and_once() -> None:
    assert marked("text", KEY) == f"{marker(KEY)}\ntext"
    assert marked(marked("text", KEY), KEY) == marked("text", KEY)
    assert not is_marked("\n" + marker(KEY), KEY)


def test_what_is_hidden_comes_back() -> None:
    shown = keep(document(reports.behind()))
    memory = Memory((replace(RECORD, shown=shown), replace(RECORD, question_digest="c" * 64, sealed=False)))
    assert reveal(body(memory), KEY) == memory
    assert reveal(body(memory).replace("\n", "\r\n"), KEY) == memory
    assert reveal(body(Memory()), KEY) == Memory()


@settings(max_examples=50)
@given(card=st.text(min_size=1, max_size=300).filter(str.isprintable), words=st.lists(TEXT, max_size=5))
def test_no_text_breaks_out(card: str, words: list[str]) -> None:
    memory = Memory((replace(RECORD, card=card, shown={"words": words}),))
    line = hide(memory, KEY).line
    assert line.count("--") == 2
    assert line.isascii()
    assert reveal(body(memory), KEY) == memory


@pytest.mark.parametrize(
    "changes",
    [
        {"card": ""},
        {"card": "x" * 301},
        {"card": "a\nb"},
        {"card": None},
        {"question_digest": "A" * 64},
        {"question_digest": "a" * 65},
        {"outcome": "not_run"},
        {"outcome": ["pass"]},
        {"attempt": 0},
        {"attempt": True},
        {"attempt": 1.0},
        {"attempt": 10_000},
        {"attempt": "2"},
        {"forced": -1},
        {"forced": 2},
        {"sealed": 1},
        {"sealed": None},
        {"commit": "b" * 41},
        {"day": "2026-02-30"},
        {"day": "2026-2-3"},
        {"run_url": "javascript:alert(1)"},
        {"run_url": "https://github.example/a](b"},
        {"run_url": "https://u:p@github.example/a"},
        {"run_url": "https://h/" + "a" * 500},
        {"outputs": {"x": "a\nb"}},
        {"outputs": {"X": "1"}},
        {"outputs": {"x": 1}},
        {"outputs": []},
        {"outputs": {f"n{number}": "" for number in range(31)}},
        {"shown": "x" * 9_001},
        {"extra": 1},
    ],
)
def test_a_field_that_does_not_have_its_form_makes_all_of_it_absent(changes: dict[str, Any]) -> None:
    value = plain()
    value["records"][0].update(changes)
    found = reveal(forged(value), KEY)
    assert isinstance(found, Unread)
    assert found.lost
    if "extra" not in changes:
        with pytest.raises(ValueError, match="not a record"):
            replace(RECORD, **changes)


@pytest.mark.parametrize(
    "text",
    [
        forged(b"\xff\xfe"),
        forged(b"[" * 5000),
        forged(b'{"format":"evalaction-hidden/1","records":[],"records":[]}'),
        forged(b'{"format":"evalaction-hidden/1","records":[NaN]}'),
        forged({"format": "evalaction-hidden/2", "records": []}),
        forged({"format": "evalaction-hidden/1", "records": {}}),
        forged({"format": "evalaction-hidden/1", "records": [], "more": 1}),
        forged({"format": "evalaction-hidden/1", "records": [plain()["records"][0]] * 2}),
        forged({"format": "evalaction-hidden/1", "records": [{}]}),
        forged({"format": "evalaction-hidden/1", "records": [None]}),
        forged([]),
        forged(plain(), key=key_of("another comment")),
        forged({"format": "evalaction-hidden/1", "records": [{**plain()["records"][0], "shown": "x" * 8_000}] * 3}),
        forged(plain()) + "\n" + forged(plain()),
        forged(plain()).replace(" -->", "="),
        forged(plain())[:-40],
        forged(plain()).replace("data ", "data 0"),
        "> " + forged(plain()),
        "<!-- evalaction:data",
        "<!-- evalaction:data x -->",
        "",
        "only words",
    ],
)
def test_anything_odd_is_absent_and_said(text: str) -> None:
    found = reveal(f"{marker(KEY)}\n{text}\n", KEY)
    assert isinstance(found, Unread)
    assert found.lost
    assert found.sentence.startswith(("The answers in our earlier comment cannot be used", "Our earlier comment holds no"))


@given(place=st.integers(0, 10_000), char=st.characters(codec="ascii"))
def test_no_changed_character_yields_another_answer(place: int, char: str) -> None:
    text = body(Memory((RECORD,)))
    place %= len(text)
    changed = text[:place] + char + text[place + 1 :]
    found = reveal(changed, KEY)
    assert isinstance(found, Unread) or found == Memory((RECORD,))


def test_the_newest_answer_of_a_question_replaces_the_older_and_other_questions_stay() -> None:
    other = replace(RECORD, question_digest="c" * 64)
    newer = replace(RECORD, attempt=3)
    memory = Memory((RECORD,)).with_record(other).with_record(newer)
    assert memory.records == (newer, other)
    assert memory.of("eval/card.yaml", "a" * 64) == newer
    assert memory.of("moved.yaml", "a" * 64) == newer  # a card that is moved or copied asks nothing new
    assert memory.of("eval/card.yaml", "b" * 64) is None


def test_a_memory_is_bounded() -> None:
    memory = Memory()
    for number in range(MAX_RECORDS + 20):
        memory = memory.with_record(replace(RECORD, question_digest=f"{number:064x}"))
    assert len(memory.records) == MAX_RECORDS
    hidden = hide(memory, KEY)
    assert len(hidden.line) <= LIMIT
    found = reveal(hidden.line, KEY)
    assert isinstance(found, Memory)
    assert found.records[0].question_digest == memory.records[0].question_digest
    assert len(found.records) == MAX_RECORDS - hidden.forgotten
    assert len(found.records) >= 20


def test_sections_go_before_answers_and_older_ones_first() -> None:
    shown = {"words": "x" * 7_000}
    memory = Memory(tuple(replace(RECORD, card=f"{number}.yaml", shown=shown) for number in range(3)))
    hidden = hide(memory, KEY)
    assert hidden.forgotten == 0
    found = reveal(hidden.line, KEY)
    assert isinstance(found, Memory)
    assert [record.shown is not None for record in found.records] == [True, False, False]


def test_the_smallest_room_holds_nothing_but_a_line() -> None:
    hidden = hide(Memory((RECORD,)), KEY, limit=10)
    assert hidden == Hidden(hide(Memory(), KEY).line, forgotten=1)


def test_a_secret_that_got_into_a_record_would_be_found() -> None:
    """The last scan for secrets sees through base64; compressed data would blind it."""
    secret = "sk-secret-0123456789abcdef"
    line = hide(Memory((replace(RECORD, shown={"words": f"key {secret}"}),)), KEY).line
    assert Redactor({"KEY": secret}).leaks(line.encode()) == ["KEY"]


@settings(max_examples=60, deadline=None)
@given(report=any_report())
def test_a_section_shown_again_says_the_same(report: Any) -> None:
    before = document(report)
    value = keep(before)
    if value is None:
        return
    assert len(encode(value)) <= 9_000
    again = restore(json.loads(encode(value).decode("utf-8", "surrogatepass")))
    assert again is not None
    assert (again.titles, again.mark, again.name, again.heading) == (before.titles, before.mark, before.name, before.heading)
    assert (again.last_words, len(again.footer)) == (before.last_words, len(before.footer))
    originals = {section.name: section for section in before.sections}
    for section in again.sections:
        kept = [block for block in originals[section.name].blocks if not isinstance(block, Fold)]
        assert [type(block) for block in kept] == [type(block) for block in section.blocks]
        if section.name in {"columns", "draws", "halves"}:
            assert list(section.blocks) == kept


@pytest.mark.parametrize(
    "make", [reports.behind, reports.hostile, reports.not_shown, reports.transport, reports.tool_call_contract]
)
def test_every_kind_of_report_can_be_shown_again(make: Any) -> None:
    again = restore(keep(document(make())))
    assert again is not None
    assert "columns" in {section.name for section in again.sections}


def test_a_report_too_large_keeps_its_heading() -> None:
    before = document(reports.enormous())
    small = restore(keep(before, limit=1_500))
    assert small is not None
    assert small.heading == before.heading
    assert keep(before, limit=10) is None


def test_odd_parts_are_not_shown() -> None:
    good = keep(document(reports.behind()))
    assert isinstance(good, dict)
    changes: list[tuple[list[Any], Any]] = [
        (["mark"], "gold"),
        (["mark"], ["pass"]),
        (["heading"], "text"),
        (["heading", 0], {"q": "a", "d": "p"}),
        (["heading", 0], {"d": "x<script>"}),
        (["heading", 0], {"url": "https://evil.invalid"}),
        (["name"], 5),
        (["sections", 0, 0], "script"),
        (["sections", 0, 1, 0], {"html": "<b>"}),
        (["footer"], {}),
        (["titles"], [1]),
        (["extra"], 1),
    ]
    for path, new in changes:
        value: Any = copy.deepcopy(good)
        place = value
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = new
        assert restore(value) is None, path
    assert restore(None) is None
    assert restore([]) is None
    assert restore("x") is None
