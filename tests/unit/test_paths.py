from __future__ import annotations

import pytest

from evalaction.method.reading.paths import refusal


@pytest.mark.parametrize("path", ["a", "eval/tasks.jsonl", ".github/x", "a.git/x", ".gitignore", "..a/b", "ü/ß.md", "a b/c"])
def test_good_paths(path: str) -> None:
    assert refusal(path) is None


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "is empty"),
        ("a" * 501, "more than 500 characters"),
        ("/a", "must be relative"),
        ("~root/a", "must be relative"),
        ("a/../b", "`.` or `..`"),
        ("..", "`.` or `..`"),
        ("a/.", "`.` or `..`"),
        ("a/", "an empty part"),
        ("a//b", "an empty part"),
        ("a\\b", "holds `\\`"),
        ("c:/a", "holds `:`"),
        ("main:a", "holds `:`"),
        ("a\nb", "U+000A"),
        ("a\u202eb", "U+202E"),
        (".git", "lead into `.git`"),
        ("a/.GiT/config", "lead into `.GiT`"),
        ("a/.git./config", "lead into `.git.`"),
        ("GIT~1/config", "lead into `GIT~1`"),
    ],
)
def test_bad_paths(path: str, words: str) -> None:
    assert words in (refusal(path) or "")
