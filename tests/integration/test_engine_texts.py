"""The texts of a run in its page: each beside its own draw, whatever else lies in `texts.jsonl`; no secret in any dress."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape
from support import pages
from support.drawing import CountedClock, Sent, Stage, job_of, lost, manifest_of, reached

from evalaction.engine.conduct import Sitting, conduct
from evalaction.engine.derive import derive, drop_derived, find_leaks, junit_of, page_of
from evalaction.engine.manifest import read_manifest
from evalaction.errors import EvalactionError
from evalaction.method.card import Pace
from evalaction.method.records import Completion
from evalaction.redaction import Redactor
from evalaction.report.encode import xml
from evalaction.report.html.data import encoded

ITEMS = 30


def drawn(folder: Path, reply: Callable[[Sent], Completion], **options: Any) -> Path:
    clock = CountedClock()
    job = job_of(Stage(clock, reply), items=ITEMS, **options)
    clock.run(conduct(Sitting(folder=folder, manifest=manifest_of(job), job=job), clock=clock, progress=lambda counts: None))
    return folder


def said(sent: Sent) -> Completion:
    if sent.item == 7 and sent.draw == 1:
        return lost(error="gateway: overloaded")
    return reached("ok" if sent.item % 5 else f"no {sent.item} {sent.draw} <b>")


Texts = dict[tuple[str, str, int], str]
"""By arm, item and draw."""


def shown(folder: Path) -> Texts:
    """As the page holds them."""
    data = pages.data_of("".join(page_of(folder)))
    found = {}
    for place, text in data["whole"].items():
        item, draw = divmod(int(place), data["draws"])
        arm, item = divmod(item, len(data["ids"]))
        found[data["arms"][arm], data["ids"][item], draw] = text
    return found


def held(folder: Path) -> Texts:
    """As `texts.jsonl` holds them."""
    lines = map(json.loads, (folder / "texts.jsonl").read_text("utf-8").splitlines())
    return {(line["arm"], line["item"], line["draw"]): line["text"] for line in lines}


def test_each_text_is_beside_its_own_draw(tmp_path: Path) -> None:
    run = drawn(tmp_path, said, pace=Pace(concurrency=7))
    found = shown(run)
    lost_places = found.keys() - held(run).keys()
    assert [found.pop(place) for place in lost_places] == ["gateway: overloaded"] * 2
    assert found == held(run) and any(text.startswith("no ") for text in found.values())


def test_the_order_of_lines_changes_nothing(tmp_path: Path) -> None:
    run = drawn(tmp_path, said)
    before = list(page_of(run))
    path = run / "texts.jsonl"
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    assert list(page_of(run)) == before


@pytest.mark.parametrize(
    "line",
    [
        b"", b"nonsense\n", b'{"index":0,\n', b'{"index":99999999999,"text":"x"}\n', b'{"index":' + b"9" * 5000 + b"}\n",
        b'{"index":3,"item":"other","arm":"treatment","draw":0,"text":"FORGED"}\n', b'{"index":4,"text":["FORGED"]}\n',
        b'{"index":5,"item":' + b"[" * 100_000 + b"\n", b"\xff\xfe\x00\n", b'{"index":6,"item":"item-006","text":"FORGED',
    ],
)  # fmt: skip
def test_odd_lines_are_no_texts(tmp_path: Path, line: bytes) -> None:
    run = drawn(tmp_path, said)
    before = shown(run)
    with (run / "texts.jsonl").open("ab") as file:
        file.write(line)
    after = shown(run)
    assert "FORGED" not in str(after) and after.items() <= before.items() and len(before) - len(after) <= 1


def test_of_two_texts_the_later_one_belongs_to_the_row(tmp_path: Path) -> None:
    run = drawn(tmp_path, said)
    path = run / "texts.jsonl"
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(first.replace(b'"text":"', b'"text":"lost with its process ') + path.read_bytes())
    assert shown(run).items() >= held(run).items()
    assert "lost with its process" not in str(shown(run))


def test_no_texts_and_a_link_in_their_place(tmp_path: Path) -> None:
    run = drawn(tmp_path / "run", said, keep_text="none")
    assert shown(run) == {} and not (run / "texts.jsonl").exists()
    other = drawn(tmp_path / "other", said)
    (run / "texts.jsonl").symlink_to(other / "texts.jsonl")
    assert shown(run) == {}


def test_a_manifest_that_plans_more_than_there_is_room_for_is_refused_first(tmp_path: Path) -> None:
    run = drawn(tmp_path, said)
    path = run / "manifest.json"
    planned = read_manifest(run).planned
    path.write_text(path.read_text("utf-8").replace(f'"planned": {planned}', '"planned": 1000000000000000'), "utf-8")
    with pytest.raises(EvalactionError) as caught:
        derive(run)
    assert caught.value.code == "manifest_differs"


def test_printed_and_written_are_the_same(tmp_path: Path) -> None:
    run = drawn(tmp_path, said)
    derive(run)
    assert "".join(page_of(run)).encode() == (run / "report.html").read_bytes()
    assert "".join(junit_of(run)).encode() == (run / "junit.xml").read_bytes()


DRESSES: dict[str, Callable[[str], str]] = {
    "data": encoded,
    "element": lambda text: str(escape(text)),
    "xml": xml,
    "python's own": lambda text: html.escape(text, quote=True),
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("secret", ["sk-q7q7q7q7q7", "<a&b'\"c>d`e\u2028f", "p@ss:w/ord=+%41", "пароль-секрет"])
def test_a_secret_is_found_in_every_dress_of_a_page(dress: str, secret: str) -> None:
    text = DRESSES[dress](f"before {secret} after")
    redactor = Redactor({"EVAL_KEY": secret})
    assert redactor.leaks(text.encode()) == ["EVAL_KEY"]
    assert redactor.leaks(redactor.redact(text).encode()) == []


def test_the_derived_files_are_searched_and_taken_away(tmp_path: Path) -> None:
    secret = "sk-<q7>&" + "x9" * 12
    run = drawn(tmp_path, lambda sent: reached(f"the key is {secret}"))
    derive(run)
    leaks = {file for file, _ in find_leaks(run, Redactor({"EVAL_KEY": secret}))}
    assert {"texts.jsonl", "report.html"} <= leaks
    drop_derived(run)
    assert {path.name for path in run.iterdir()} == {"manifest.json", "rows.jsonl", "texts.jsonl"}
