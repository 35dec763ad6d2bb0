"""`lock` changes the hash scalars of a card and nothing else, in every layout a card may have."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import cards
from support.repos import Repo

from evalaction.errors import SourceError, UsageError
from evalaction.method.cards.parse import HASH_FIELDS, HASH_PATHS, read_card
from evalaction.method.reading.source import Document
from evalaction.method.reading.source import Path as SourcePath
from evalaction.registration.lock import Change, lock, with_hashes

NEW = {"sha256": "a" * 64, "ids_sha256": "0" * 63 + "1"}
REST = """\
endpoints:
  main: {api: openai, url_env: EVAL_URL, key_env: EVAL_KEY, model: some-model, params: {temperature: 0.20, max_tokens: 400}}
arms:
  treatment: {endpoint: main}   # alone
draws: {count: 5, timeout_ms: 20000}
limits: {min_stable_pass: 0.80}   # ü
"""
HEAD = "protocol: evalaction/1\nname: support-triage\n"


def card_text(exam: str) -> bytes:
    return (HEAD + exam + REST).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "tasks.jsonl").write_bytes(cards.exam_text())
    return tmp_path


def write(folder: Path, data: bytes) -> Path:
    (folder / "card.yaml").write_bytes(data)
    return folder / "card.yaml"


LAYOUTS = {
    "flow": (
        "exam: {tasks: eval/tasks.jsonl, data: synthetic}      # `lock` adds the hashes\n",
        'exam: {tasks: eval/tasks.jsonl, data: synthetic, sha256: "A", ids_sha256: "B"}      # `lock` adds the hashes\n',
    ),
    "flow with a comma at the end": (
        "exam: { tasks: eval/tasks.jsonl, data: synthetic, }\n",
        'exam: { tasks: eval/tasks.jsonl, data: synthetic, sha256: "A", ids_sha256: "B", }\n',
    ),
    "flow over lines": (
        "exam: {\n  tasks: eval/tasks.jsonl,   # mine\n  data: synthetic  # made up\n  }\n",
        'exam: {\n  tasks: eval/tasks.jsonl,   # mine\n  data: synthetic,   sha256: "A",   ids_sha256: "B"  # made up\n  }\n',
    ),
    "flow in quotes": (
        "exam: {'tasks': 'eval/tasks.jsonl', 'data': \"synthetic\"}\n",
        "exam: {'tasks': 'eval/tasks.jsonl', 'data': \"synthetic\", 'sha256': \"A\", 'ids_sha256': \"B\"}\n",
    ),
    "block": (
        "exam:\n  tasks: eval/tasks.jsonl # mine\n  data: synthetic  # made up \n\n  # the end\n",
        "exam:\n  tasks: eval/tasks.jsonl # mine\n  data: synthetic  # made up \n"
        '  sha256: "A"\n  ids_sha256: "B"\n\n  # the end\n',
    ),
    "deep block with one hash": (
        f"exam:\n      sha256: {'1' * 64}\n      tasks: eval/tasks.jsonl\n      data: synthetic\n",
        'exam:\n      sha256: "A"\n      tasks: eval/tasks.jsonl\n      data: synthetic\n      ids_sha256: "B"\n',
    ),
    "windows lines": (
        "exam:\r\n  tasks: eval/tasks.jsonl\r\n  data: synthetic\r\n",
        'exam:\r\n  tasks: eval/tasks.jsonl\r\n  data: synthetic\r\n  sha256: "A"\r\n  ids_sha256: "B"\r\n',
    ),
    "empty values": (
        "exam:\n  sha256:   # todo\n  ids_sha256: ~\n  tasks: eval/tasks.jsonl\n  data: synthetic\n",
        'exam:\n  sha256: "A"   # todo\n  ids_sha256: "B"\n  tasks: eval/tasks.jsonl\n  data: synthetic\n',
    ),
    "empty values in flow": (
        "exam: {sha256, ids_sha256: , tasks: eval/tasks.jsonl, data: synthetic}\n",
        'exam: {sha256: "A", ids_sha256: "B" , tasks: eval/tasks.jsonl, data: synthetic}\n',
    ),
    "quotes are kept": (
        f"exam: {{sha256: '{'c' * 64}', ids_sha256: \"\", tasks: eval/tasks.jsonl, data: synthetic}}\n",
        "exam: {sha256: 'A', ids_sha256: \"B\", tasks: eval/tasks.jsonl, data: synthetic}\n",
    ),
    "a value on the line below": (
        "exam:\n  tasks:\n    eval/tasks.jsonl\n  data: >-\n    synthetic\n\n",
        'exam:\n  tasks:\n    eval/tasks.jsonl\n  data: >-\n    synthetic\n\n  sha256: "A"\n  ids_sha256: "B"\n',
    ),
    "windows lines and a folded value": (
        "exam:\r\n  tasks: eval/tasks.jsonl\r\n  data: >-\r\n    synthetic\r\n",
        'exam:\r\n  tasks: eval/tasks.jsonl\r\n  data: >-\r\n    synthetic\r\n  sha256: "A"\r\n  ids_sha256: "B"\r\n',
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    before, after = LAYOUTS[layout]
    expected = re.sub(
        "([\"'])([AB])\\1", lambda found: found[1] + NEW["sha256" if found[2] == "A" else "ids_sha256"] + found[1], after
    )
    locked = with_hashes(card_text(before), NEW, file="card.yaml")
    assert locked == card_text(expected)
    assert with_hashes(locked, NEW, file="card.yaml") == locked


def test_the_exam_may_come_last_and_without_a_newline() -> None:
    data = (REST + HEAD + "exam:\n  tasks: eval/tasks.jsonl\n  data: synthetic").encode()
    locked = with_hashes(data, NEW, file="card.yaml")
    assert locked == data + f'\n  sha256: "{NEW["sha256"]}"\n  ids_sha256: "{NEW["ids_sha256"]}"'.encode()


@pytest.mark.parametrize("indent", [None, 2, "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_json_cards(indent: int | str | None, newline: str) -> None:
    text = json.dumps(cards.card(), indent=indent, ensure_ascii=False).replace("\n", newline)
    locked = with_hashes(text.encode(), NEW, file="card.json")
    expected = json.dumps(cards.card({f"exam.{name}": value for name, value in NEW.items()}), indent=indent)
    assert locked.decode() == expected.replace("\n", newline)


def test_json_without_spaces_and_with_numbers_for_hashes() -> None:
    value = cards.card({"exam.sha256": 1234567890, "exam.ids_sha256": None})
    locked = with_hashes(json.dumps(value, separators=(",", ":")).encode(), NEW, file="card.json")
    assert locked.decode() == json.dumps(cards.card({f"exam.{k}": v for k, v in NEW.items()}), separators=(",", ":"))


@pytest.mark.parametrize(
    "written",
    ["|\n    0\n", ">-\n    0\n", '"0\n    0"\n', "[0]\n", "{a: 0}\n", "0\n    0\n"],
)
def test_a_hash_that_is_not_on_one_line_is_refused(written: str) -> None:
    data = card_text(f"exam:\n  tasks: eval/tasks.jsonl\n  data: synthetic\n  sha256: {written}")
    with pytest.raises(UsageError, match=r"exam\.sha256 is not a value on one line"):
        with_hashes(data, NEW, file="card.yaml")


def test_a_layout_that_cannot_be_kept_is_refused_with_the_lines_to_write() -> None:
    data = (HEAD + "exam:\n  tasks: eval/tasks.jsonl\n  ? sha256\n  ? data\n  : synthetic\n" + REST).encode()
    with pytest.raises(UsageError, match="by hand.*" + NEW["sha256"]):
        with_hashes(data, NEW, file="card.yaml")


# Layouts for the property: what may stand between and behind the fields of a card.
comments = st.sampled_from(["", "   # a comment", " #", "  # sha256: 'no'", " # {tasks: x}"])
gaps = st.lists(st.sampled_from(["", "   ", "# a line", "    # sha256: {"]), max_size=2)
hash_texts = st.sampled_from(["", "~", "'" + "d" * 64 + "'", '"x"', "0" * 64, "1" * 20 + "e" + "1" * 43, "E" * 64, "yes", "1:2"])
tasks = st.sampled_from(["eval/tasks.jsonl", "'eval/ta sks.jsonl'", '"eval/t\\u00e4sks.jsonl"', "ü.jsonl"])


@st.composite
def exam_fields(draw: st.DrawFn) -> list[tuple[str, str]]:
    fields = [("tasks", draw(tasks)), ("data", draw(st.sampled_from(["synthetic", "'public'", '"private"'])))]
    for name in draw(st.sets(st.sampled_from(HASH_FIELDS[:2]))):
        fields.append((name, draw(hash_texts)))
    return draw(st.permutations(fields))


@st.composite
def yaml_cards(draw: st.DrawFn) -> str:
    fields = draw(exam_fields())
    if draw(st.booleans()):
        indent = " " * draw(st.integers(1, 5))
        lines = [f"exam:{draw(comments)}", *draw(gaps)]
        for name, value in fields:
            colon = draw(st.sampled_from([":", " :"]))
            lines += [f"{indent}{name}{colon}{' ' if value else ''}{value}{draw(comments)}", *draw(gaps)]
        exam = "\n".join(lines) + "\n"
    else:
        spaces = draw(st.sampled_from(["", " ", "\n    "]))
        comma = draw(st.sampled_from([",", ", ", " , ", ",\n  "]))
        body = comma.join(f"{name}: {value}" for name, value in fields)
        body = body.replace(f": {comma}", f":{comma}") if comma.startswith(" ") else body
        exam = f"exam: {{{spaces}{body}{draw(st.sampled_from(['', ',', ' ,']))}{spaces}}}{draw(comments)}\n"
    head = draw(st.sampled_from(["", "---\n", "# sha256: top\n\n"])) + HEAD
    text = head + exam + REST if draw(st.booleans()) else head + REST + exam
    text = text if draw(st.booleans()) else text.rstrip("\n")
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def json_cards(draw: st.DrawFn) -> str:
    value = cards.card()
    plain = {"tasks": "eval/tasks.jsonl", "data": "synthetic"}
    hashes = st.sampled_from(["d" * 64, "", None, 12345, 10**63, 'a "quoted" \\ text'])
    plain |= draw(st.dictionaries(st.sampled_from(HASH_FIELDS[:2]), hashes))
    value["exam"] = dict(draw(st.permutations(list(plain.items()))))
    value = dict(draw(st.permutations(list(value.items()))))
    indent = draw(st.sampled_from([None, 0, 1, 4, "\t"]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]))
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text = draw(st.sampled_from(["", "\n", "  \n"])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def cut(document: Document, empty: set[SourcePath]) -> str:
    """The text without the hash scalars; without their space too, where there was no scalar before."""
    kept, at = "", 0
    for path in sorted(HASH_PATHS & set(document.spots), key=lambda path: document.spots[path].start):
        spot = document.spots[path]
        kept += document.text[at : spot.start - (path in empty)]
        at = spot.end
    return kept + document.text[at:]


def shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))


def other_values(document: Document) -> Any:
    value: Any = document.value
    return value | {"exam": {name: held for name, held in value["exam"].items() if name not in HASH_FIELDS}}


@settings(max_examples=100, deadline=None)
@given(st.one_of(yaml_cards(), json_cards()))
def test_only_hash_scalars_change(text: str) -> None:
    before = read_card(text.encode(), file="card")
    locked = with_hashes(text.encode(), NEW, file="card")
    after = read_card(locked, file="card")
    assert other_values(before) == other_values(after)
    assert {name: after.raw(("exam", name)) for name in NEW} == NEW
    assert all(after.spots["exam", name].quoted for name in NEW)
    # Without the scalars, the new text is the old one with at most one run of characters inserted, which holds new names only.
    empty = {path for path in HASH_PATHS if path in before.spots and before.spots[path].start == before.spots[path].end}
    old, new = cut(before, set()), cut(after, empty)
    start = shared(old, new)
    end = shared(old[start:][::-1], new[start:][::-1])
    assert start + end == len(old)
    added = set(re.findall(r"\w+", new[start : len(new) - end]))
    missing = {name for name in NEW if ("exam", name) not in before.spots}
    assert added == missing or (new == old and not missing)
    assert with_hashes(locked, NEW, file="card") == locked


def test_the_hash_of_a_file_is_what_sha256sum_prints(folder: Path) -> None:
    card = write(folder, card_text(LAYOUTS["flow"][0]))
    card.chmod(0o640)
    result = lock(card)
    assert result.written
    assert [change.field for change in result.changes] == ["exam.sha256", "exam.ids_sha256"]
    assert result.changes[0] == Change("exam.sha256", None, hashlib.sha256(cards.exam_text()).hexdigest())
    assert stat.S_IMODE(card.stat().st_mode) == 0o640
    lines = sorted(
        f"{json.loads(line)['id']}\t{hashlib.sha256(line).hexdigest()}\t-".encode() for line in cards.exam_text().splitlines()
    )
    assert result.changes[1].new == hashlib.sha256(b"\n".join(lines)).hexdigest()
    assert sorted(place.name for place in folder.iterdir()) == ["card.yaml", "eval"]


def test_a_locked_card_is_not_written_again(folder: Path) -> None:
    card = write(folder, card_text(LAYOUTS["flow"][0]))
    lock(card)
    before = card.stat()
    result = lock(card)
    assert (result.changes, result.written) == ((), False)
    assert (card.stat().st_ino, card.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_changed_exam_changes_both(folder: Path) -> None:
    card = write(folder, card_text(LAYOUTS["block"][0]))
    first = {change.field: change.new for change in lock(card).changes}
    (folder / "eval" / "tasks.jsonl").write_bytes(cards.exam_text(31))
    second = lock(card).changes
    assert {change.field: change.old for change in second} == first
    assert all(change.old != change.new for change in second)


def test_an_unquoted_hash_of_digits_is_quoted(folder: Path) -> None:
    card = write(folder, card_text(LAYOUTS["flow"][0]))
    lock(card)
    quoted = card.read_bytes()
    card.write_bytes(quoted.replace(b'"', b""))
    result = lock(card)
    assert (result.changes, result.written) == ((), True)
    assert card.read_bytes() == quoted


def test_a_folder_exam(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    items = {f"eval/t{number:04d}.json": json.dumps({"prompt": "Hi", "expected": "x"}).encode() for number in range(3)}
    card = card_text("exam: {tasks: eval, data: synthetic}\n")
    repo.commit(items | {"card.yaml": card, ".gitignore": b"*.swp\n"})
    repo.write({"eval/.t0.json.swp": b"\0"})
    changes = {change.field: change.new for change in lock(tmp_path / "card.yaml").changes}
    hexes = sorted(hashlib.sha256(data).hexdigest() for data in items.values())
    assert changes["exam.sha256"] == hashlib.sha256("\n".join(hexes).encode()).hexdigest()
    assert "exam.checker_sha256" not in changes
    repo.write({"eval/words.txt": b"a file that is no item"})
    assert [change.field for change in lock(tmp_path / "card.yaml").changes] == ["exam.checker_sha256"]


def test_mistakes_in_card_or_exam_write_nothing(folder: Path) -> None:
    data = card_text(LAYOUTS["block"][0])
    card = write(folder, data.replace(b"count: 5", b"coutn: 5"))
    with pytest.raises(SourceError, match=r"card\.yaml:\d+:\d+.*did you mean `count`"):
        lock(card)
    card = write(folder, data)
    (folder / "eval" / "tasks.jsonl").write_bytes(b"\xef\xbb\xbf" + cards.exam_text())
    with pytest.raises(SourceError, match="byte order mark"):
        lock(card)
    (folder / "eval" / "tasks.jsonl").unlink()
    with pytest.raises(SourceError, match="does not exist"):
        lock(card)
    assert card.read_bytes() == data


def test_a_symlinked_card_is_not_written_through(folder: Path) -> None:
    write(folder, card_text(LAYOUTS["block"][0])).rename(folder / "real.yaml")
    (folder / "card.yaml").symlink_to("real.yaml")
    with pytest.raises(SourceError, match="symlink"):
        lock(folder / "card.yaml")


def test_no_card_at_the_path(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        lock(tmp_path / "card.yaml")
    with pytest.raises(UsageError, match="no folder"):
        lock(tmp_path / "nowhere" / "card.yaml")


def test_a_disk_that_is_full_leaves_the_old_card(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = card_text(LAYOUTS["block"][0])
    card = write(folder, data)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"No space left on device.*nothing was changed"):
        lock(card)
    assert card.read_bytes() == data
    assert sorted(place.name for place in folder.iterdir()) == ["card.yaml", "eval"]


def test_a_folder_that_may_not_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = write(folder, card_text(LAYOUTS["block"][0]))

    def refused(**place: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refused)
    with pytest.raises(UsageError, match=r"cannot be written \(Permission denied\); nothing was changed"):
        lock(card)
