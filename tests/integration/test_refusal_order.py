"""A mistake in what the commit holds (2) comes before what has moved since (4), for every mistake found before a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.command import Project, exam, gated

MISTAKES: dict[str, tuple[dict[str, Any], list[dict[str, Any]], str]] = {
    "schema": ({}, [cards.item(1, schema={"type": "objekt"})], "not valid JSON Schema"),
    "pattern": ({}, [cards.item(1, expected=..., check={"kind": "regex", "pattern": "("})], "does not compile"),
    "template": (
        {"arms.treatment": {"endpoint": "main", "template": "prompt.md"}},
        [cards.item(1)],
        "the arm has a `template`, which needs `vars`",
    ),
    "replies": (
        {"endpoints.main": {"api": "scripted", "replies": "replies.jsonl"}},
        [cards.item(1)],
        "has no reply for 1 items",
    ),
}


@pytest.mark.parametrize(("changes", "items", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_comes_before_what_has_moved(
    tmp_path: Path, changes: dict[str, Any], items: list[dict[str, Any]], words: str
) -> None:
    lines = [{name: value for name, value in item.items() if value is not ...} for item in items]
    files = exam(1) | {"tasks.jsonl": cards.jsonl(lines), "replies.jsonl": b'{"id": "other", "replies": ["1"]}\n'}
    project = Project(tmp_path / "p", gated(1, changes), files, own_process=False)
    moved = project.root / "tasks.jsonl"
    moved.write_bytes(moved.read_bytes() + b"\n")
    for done in (project.run(), project("verify")):
        assert done.code == 2 and words in done.err, done.said
    assert "outcome usage" in project.comment()
    project.repo.git("checkout", "--quiet", "tasks.jsonl")
    assert project("verify").code == 2


def test_what_has_moved_is_named_where_there_is_no_mistake(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", gated(1), exam(1), own_process=False)
    (project.root / "prompt.md").write_bytes(b"edited")
    for done in (project.run(), project("verify")):
        assert done.code == 4 and "prompt.md has edits" in done.said, done.said
