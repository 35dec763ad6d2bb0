"""The committed examples: their scripts write what is committed, their cards are cards, their exams are large enough."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import pytest

from evalaction import schemas
from evalaction.endpoints.scripted import parse_replies
from evalaction.method.cards.parse import parse_card
from evalaction.method.counting.halves import half_of

EXAMPLES = Path(__file__).parents[2] / "examples"
CARDS = sorted(EXAMPLES.glob("*/card.yaml"))
SCRIPTS = sorted(EXAMPLES.glob("*/make.py"))


def ids_of(lines: Path) -> list[str]:
    return [json.loads(line)["id"] for line in lines.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_a_script_writes_the_committed_replies(script: Path, tmp_path: Path) -> None:
    copy = tmp_path / script.parent.name
    copy.mkdir()
    shutil.copy(script, copy)
    shutil.copy(script.parent / "tasks.jsonl", copy)
    runpy.run_path(str(copy / script.name), run_name="__main__")
    written = {path.name: path.read_bytes() for path in copy.glob("*.jsonl")}
    assert len(written) > 1
    assert written == {path.name: path.read_bytes() for path in script.parent.glob("*.jsonl")}


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.name)
def test_a_card_names_files_that_are_there_and_halves_that_are_large_enough(path: Path) -> None:
    card = parse_card(path.read_bytes(), file=str(path), schema=schemas.load("card"))
    named = [card.exam.tasks, *(end.replies for end in card.endpoints.values()), *(arm.system for arm in card.arms.values())]
    assert [name for name in named if name and not (path.parent / name).exists()] == []
    tasks = path.parent / card.exam.tasks
    ids = [one.name for one in tasks.iterdir()] if tasks.is_dir() else ids_of(tasks)
    assert len(ids) == len(set(ids))
    if card.sign and card.sign.claim != "none":
        ones = sum(half_of(item, card.sign.seed) for item in ids)
        assert min(ones, len(ids) - ones) >= card.sign.min_items_per_half


def test_every_item_has_replies_and_every_reply_an_item() -> None:
    pairs = [(path, replies) for path in CARDS for replies in path.parent.glob("*.jsonl") if replies.name != "tasks.jsonl"]
    assert pairs
    for path, replies in pairs:
        answered = parse_replies(replies.read_bytes(), file=replies.name)
        assert list(answered) == ids_of(path.parent / "tasks.jsonl"), replies
